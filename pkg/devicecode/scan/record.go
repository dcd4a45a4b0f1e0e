package scan

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// A registration record is a struct of fatbinary_section.h (toolkit), which
// names its section too: u32 magic, u32 version, u64 pointer to the container,
// u64 file name or array.
const (
	recordSection = ".nvFatBinSegment"
	recordMagic   = 0x466243B1
	recordSize    = 24
	recordPointer = 8

	// maxRecords bounds the work on one section. A file has one record for
	// each translation unit with device code.
	maxRecords = 1 << 16
)

// records reads the registration records and notes at each place which one
// points at it.
func (s *scanner) records() {
	for _, section := range s.file.Sections {
		if section.Name != recordSection || !s.readable(section) {
			continue
		}
		data, err := s.file.Data(section)
		if err != nil {
			s.problem(section.Name, int64(section.Offset), "registration records: %v", err)
			continue
		}
		resolve, err := s.resolver(section)
		if err != nil {
			s.problem(section.Name, int64(section.Offset), "registration records: %v", err)
			continue
		}
		if len(data)%recordSize != 0 {
			s.problem(section.Name, int64(section.Offset), "registration records: %d bytes, want a multiple of %d", len(data), recordSize)
		}
		if len(data) > maxRecords*recordSize {
			s.problem(section.Name, int64(section.Offset), "registration records: %d bytes, only the first %d records are read", len(data), maxRecords)
			data = data[:maxRecords*recordSize]
		}
		for i := 0; i+recordSize <= len(data); i += recordSize {
			s.record(section, i, data[i:i+recordSize], resolve)
		}
	}
}

func (s *scanner) record(section *elf.Section, i int, b []byte, resolve resolver) {
	le := binary.LittleEndian
	off := int64(section.Offset) + int64(i)
	if magic := le.Uint32(b); magic != recordMagic {
		s.problem(section.Name, off, "registration record: magic %#08x, want %#08x", magic, recordMagic)
		return
	}
	version := le.Uint32(b[4:])
	if version != 1 && version != 2 {
		s.problem(section.Name, off, "registration record: version %d is not known", version)
		return
	}
	target, at, err := resolve(uint64(i+recordPointer), le.Uint64(b[recordPointer:]))
	if err != nil {
		s.problem(section.Name, off, "registered image damaged: %v", err)
		return
	}
	s.register(target, at, version)
}

// register notes the record at the container it points at. One outside the
// usual sections is read where the pointer says.
func (s *scanner) register(section *elf.Section, off int64, version uint32) {
	if i, ok := s.at[off]; ok {
		s.Places[i].Record = version
		return
	}
	if isDeviceSection(section) {
		s.problem(section.Name, off, "registered image damaged: a registration record points here, where no container could be read")
		return
	}
	s.container(section, off, int64(section.Offset+section.Size), version)
}

// resolver gives the section and the file offset that a pointer means, from
// its offset in the records' section and its stored value.
type resolver func(at, stored uint64) (*elf.Section, int64, error)

func (s *scanner) resolver(records *elf.Section) (resolver, error) {
	if s.Linked {
		return s.linkedResolver(records)
	}
	return s.objectResolver(records)
}

// linkedResolver resolves pointers of an executable or a shared library: by
// the relocation that the loader applies, where there is one, else as stored.
func (s *scanner) linkedResolver(records *elf.Section) (resolver, error) {
	relocations := make(map[uint64]relocation)
	for _, section := range s.file.Sections {
		if section.Type != elf.SHT_RELA || section.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		err := s.relocations(section, func(r relocation) {
			if r.at >= records.Addr && r.at-records.Addr < records.Size {
				relocations[r.at] = r
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return func(at, stored uint64) (*elf.Section, int64, error) {
		if r, ok := relocations[records.Addr+at]; ok {
			if !r.relative(s.file.Machine) {
				return nil, 0, fmt.Errorf("relocation type %d for %s is not known", r.typ, s.file.Machine)
			}
			stored = r.addend
		}
		return s.sectionOf(stored)
	}, nil
}

// hasPlainBytes reports whether a section's size is that of its bytes in the
// file.
func hasPlainBytes(s *elf.Section) bool {
	return s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_COMPRESSED == 0
}

// sectionOf gives the section and file offset of a virtual address.
func (s *scanner) sectionOf(addr uint64) (*elf.Section, int64, error) {
	for _, section := range s.file.Sections {
		if section.Flags&elf.SHF_ALLOC == 0 || !hasPlainBytes(section) || section.Addr == 0 {
			continue
		}
		if addr >= section.Addr && addr-section.Addr < section.Size {
			return section, int64(section.Offset + addr - section.Addr), nil
		}
	}
	return nil, 0, fmt.Errorf("a record points at address %#x, which is in no section", addr)
}

// objectResolver resolves pointers of an object by the relocations for the
// records' section: nvcc's are against the symbol of the container's section.
func (s *scanner) objectResolver(records *elf.Section) (resolver, error) {
	relocations := make(map[uint64]relocation)
	for _, section := range s.file.Sections {
		if section.Type != elf.SHT_RELA || int64(section.Info) >= int64(len(s.file.Sections)) || s.file.Sections[section.Info] != records {
			continue
		}
		if err := s.relocations(section, func(r relocation) { relocations[r.at] = r }); err != nil {
			return nil, err
		}
	}
	symbols, err := s.file.Symbols()
	if err != nil {
		return nil, err
	}
	return func(at, _ uint64) (*elf.Section, int64, error) {
		r, ok := relocations[at]
		if !ok || !r.absolute(s.file.Machine) || r.symbol == 0 || r.symbol > uint64(len(symbols)) {
			return nil, 0, fmt.Errorf("no relocation at offset %#x that is understood", at)
		}
		symbol := symbols[r.symbol-1] // Symbols leaves out the null symbol
		if int(symbol.Section) >= len(s.file.Sections) {
			return nil, 0, fmt.Errorf("symbol %q is in no section", symbol.Name)
		}
		section := s.file.Sections[symbol.Section]
		if in := symbol.Value + r.addend; in < section.Size && hasPlainBytes(section) {
			return section, int64(section.Offset + in), nil
		}
		return nil, 0, fmt.Errorf("symbol %q plus %#x is outside its section", symbol.Name, r.addend)
	}, nil
}
