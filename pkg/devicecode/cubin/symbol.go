package cubin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

type symbol struct {
	name  []byte
	typ   byte
	other byte
	index uint16 // st_shndx
	size  uint64
}

// readSymbols counts what the symbol table defines. sm_100 and newer have a
// second table, .nv.merc.symtab, which has a section type of its own.
func (f *File) readSymbols(sections []section) error {
	symtab := -1
	for i, s := range sections {
		if s.typ != sectionSymtab {
			continue
		}
		if symtab >= 0 {
			return fmt.Errorf("sections %d and %d are both symbol tables", symtab, i)
		}
		symtab = i
	}
	if symtab < 0 {
		return errors.New("no symbol table: the kernels cannot be told")
	}
	table := sections[symtab]
	if len(table.data)%symbolSize != 0 {
		return fmt.Errorf("symbol table of %d bytes, want a multiple of %d", len(table.data), symbolSize)
	}
	if int64(table.link) >= int64(len(sections)) {
		return fmt.Errorf("symbol table: section %d with the names is not among the %d sections", table.link, len(sections))
	}
	for i := 0; i < len(table.data); i += symbolSize {
		s, err := readSymbol(table.data[i:], sections[table.link].data)
		if err != nil {
			return fmt.Errorf("symbol %d: %w", i/symbolSize, err)
		}
		if s.index < reserved && int(s.index) >= len(sections) {
			return fmt.Errorf("symbol %s: section %d is not among the %d sections", s.name, s.index, len(sections))
		}
		f.count(s, sections, table)
	}
	return nil
}

func readSymbol(b, names []byte) (symbol, error) {
	le := binary.LittleEndian
	s := symbol{typ: b[4] & 0xf, other: b[5], index: le.Uint16(b[6:]), size: le.Uint64(b[16:])}
	at := le.Uint32(b)
	name, ok := cString(names, at)
	if !ok && (at != 0 || s.typ == symbolFunc) {
		return s, fmt.Errorf("no name at offset %#x of the names", at)
	}
	s.name = name
	return s, nil
}

// count adds a symbol to what the file holds, if it is defined there.
func (f *File) count(s symbol, sections []section, symtab section) {
	if s.typ == symbolTexture || s.typ == symbolSurface {
		f.Variables++
		return
	}
	if s.index == undefined {
		return
	}
	switch s.typ {
	case symbolFunc:
		if s.other&otherEntry == 0 {
			f.Functions++
			return
		}
		f.Kernels = append(f.Kernels, f.kernel(s, sections, symtab))
	case symbolObject, symbolCUDAObject:
		if s.index >= reserved || holdsVariables(sections[s.index].name) {
			f.Variables++
		}
	}
}

// kernel gives the code size as that of the kernel's own section, .text.<name>,
// which has padding that the symbol's size leaves out.
func (f *File) kernel(s symbol, sections []section, symtab section) Kernel {
	k := Kernel{Name: string(s.name), CodeSize: int64(min(s.size, 1<<62))}
	if s.index >= reserved {
		return k
	}
	text := sections[s.index]
	if name, ok := bytes.CutPrefix(text.name, []byte(".text.")); ok && bytes.Equal(name, s.name) && text.data != nil {
		k.CodeSize = int64(len(text.data))
		k.Traps = f.Number >= firstTraps && (&straight{symbol: func(of string, offset uint64) string {
			return symbolAt(sections, symtab, of, offset)
		}}).traps(string(text.name), text.data)
	}
	return k
}

// holdsVariables tells the sections of __device__ and __constant__ variables
// from those of shared memory, kernel parameters and reserved objects.
func holdsVariables(section []byte) bool {
	if bank, ok := bytes.CutPrefix(section, []byte(".nv.constant")); ok {
		return len(bank) > 0 && !bytes.ContainsRune(bank, '.')
	}
	return bytes.HasPrefix(section, []byte(".nv.global"))
}
