package cubin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

type symbol struct {
	name  string
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
	code := codeSizes(sections)
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
		f.count(s, sections, code)
	}
	return nil
}

// codeSizes gives the size of each .text section, by the name behind ".text.".
func codeSizes(sections []section) map[string]int64 {
	sizes := make(map[string]int64)
	for _, s := range sections {
		if name, ok := strings.CutPrefix(s.name, ".text."); ok && s.data != nil {
			sizes[name] = int64(len(s.data))
		}
	}
	return sizes
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
func (f *File) count(s symbol, sections []section, code map[string]int64) {
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
		size, ok := code[s.name]
		if !ok {
			size = int64(min(s.size, 1<<62))
		}
		f.Kernels = append(f.Kernels, Kernel{Name: s.name, CodeSize: size})
	case symbolObject, symbolCUDAObject:
		if s.index >= reserved || holdsVariables(sections[s.index].name) {
			f.Variables++
		}
	}
}

// holdsVariables tells the sections of __device__ and __constant__ variables
// from those of shared memory, kernel parameters and reserved objects.
func holdsVariables(section string) bool {
	if bank, ok := strings.CutPrefix(section, ".nv.constant"); ok {
		return bank != "" && !strings.Contains(bank, ".")
	}
	return strings.HasPrefix(section, ".nv.global")
}
