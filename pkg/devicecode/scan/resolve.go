package scan

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// resolver gives the file offset that a pointer means, from the pointer's own
// offset in the file and its stored value.
type resolver func(at int64, stored uint64) (int64, error)

func (s *scanner) resolver(records *elf.Section) (resolver, error) {
	if s.Linked {
		return s.linkedResolver()
	}
	return s.objectResolver(records)
}

// linkedResolver resolves pointers of an executable or a shared library: by
// the relocation that the loader applies, where there is one, else as stored.
// Packed relocations (DT_RELR) leave the value stored.
func (s *scanner) linkedResolver() (resolver, error) {
	relocations := make(map[int64]relocation) // by file offset
	table, err := s.loaderRelocations()
	if err != nil {
		return nil, err
	}
	for r := range table {
		if off, ok := s.file.At(r.at); ok && s.isPointer(off) {
			relocations[off] = r
		}
	}
	return func(at int64, stored uint64) (int64, error) {
		if r, ok := relocations[at]; ok {
			if !r.relative(s.file.Machine) {
				return 0, fmt.Errorf("relocation type %d for %s is not known", r.typ, s.file.Machine)
			}
			stored = r.addend
		}
		off, ok := s.file.At(stored)
		if !ok {
			return 0, fmt.Errorf("a record points at address %#x, which is in no segment of the file", stored)
		}
		return off, nil
	}, nil
}

// isPointer reports whether the pointer of a record lies at an offset.
func (s *scanner) isPointer(off int64) bool {
	return off >= recordPointer && off <= int64(len(s.bytes))-recordPointer &&
		binary.LittleEndian.Uint32(s.bytes[off-recordPointer:]) == recordMagic
}

// objectResolver resolves pointers of an object by the relocations for the
// records' section: nvcc's are against the symbol of the container's section.
func (s *scanner) objectResolver(records *elf.Section) (resolver, error) {
	relocations := make(map[uint64]relocation)
	for _, section := range s.file.Sections {
		if section.Type != elf.SHT_RELA || int64(section.Info) >= int64(len(s.file.Sections)) || s.file.Sections[section.Info] != records {
			continue
		}
		table, err := s.relocations(s.file.Data(section))
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", section.Name, err)
		}
		for r := range table {
			relocations[r.at] = r
		}
	}
	symbols, err := s.file.Symbols()
	if err != nil {
		return nil, err
	}
	return func(at int64, _ uint64) (int64, error) {
		at -= int64(records.Offset)
		r, ok := relocations[uint64(at)]
		if !ok || !r.absolute(s.file.Machine) || r.symbol == 0 || r.symbol > uint64(len(symbols)) {
			return 0, fmt.Errorf("no relocation at offset %#x that is understood", at)
		}
		symbol := symbols[r.symbol-1] // Symbols leaves out the null symbol
		if int(symbol.Section) >= len(s.file.Sections) {
			return 0, fmt.Errorf("symbol %q is in no section", symbol.Name)
		}
		section := s.file.Sections[symbol.Section]
		if in := symbol.Value + r.addend; in < section.Size && hasPlainBytes(section) {
			return int64(section.Offset + in), nil
		}
		return 0, fmt.Errorf("symbol %q plus %#x is outside its section", symbol.Name, r.addend)
	}, nil
}
