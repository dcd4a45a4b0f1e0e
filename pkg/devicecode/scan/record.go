package scan

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
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
	named := false
	for _, section := range s.file.Sections {
		if section.Name == recordSection {
			named = true
			if s.readable(section) {
				s.recordsOf(section)
			}
		}
	}
	if !named && s.Linked {
		s.looseRecords()
	}
}

func (s *scanner) recordsOf(section *elf.Section) {
	data := s.file.Data(section)
	resolve, err := s.resolver(section)
	if err != nil {
		s.problem(section.Name, int64(section.Offset), "registration records: %v", err)
		return
	}
	if len(data)%recordSize != 0 {
		s.problem(section.Name, int64(section.Offset), "registration records: %d bytes, want a multiple of %d", len(data), recordSize)
	}
	if len(data) > maxRecords*recordSize {
		s.problem(section.Name, int64(section.Offset), "registration records: %d bytes, only the first %d records are read", len(data), maxRecords)
		data = data[:maxRecords*recordSize]
	}
	for i := int64(0); i+recordSize <= int64(len(data)); i += recordSize {
		s.record(section.Name, int64(section.Offset)+i, resolve)
	}
}

// looseRecords finds the records of a file without a section of their name by
// their magic, in the segments that are loaded with data of the program: the
// addresses of the records are known to its startup code only.
func (s *scanner) looseRecords() {
	resolve, err := s.linkedResolver()
	if err != nil {
		s.problem("", 0, "registration records: %v", err)
		return
	}
	magic := binary.LittleEndian.AppendUint32(nil, recordMagic)
	for _, p := range s.file.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 {
			continue
		}
		end := int64(p.Off + p.Filesz)
		for off, found := int64(p.Off), 0; found < maxRecords; off += 4 {
			n := bytes.Index(s.bytes[off:end], magic)
			if n < 0 || off+int64(n)+recordSize > end {
				break
			}
			off += int64(n)
			if version := binary.LittleEndian.Uint32(s.bytes[off+4:]); version == 1 || version == 2 {
				s.record(s.sectionAt(off), off, resolve)
				found++
			}
		}
	}
}

// record reads the record at an offset of the file.
func (s *scanner) record(section string, off int64, resolve resolver) {
	le, b := binary.LittleEndian, s.bytes[off:off+recordSize]
	if magic := le.Uint32(b); magic != recordMagic {
		s.problem(section, off, "registration record: magic %#08x, want %#08x", magic, recordMagic)
		return
	}
	version := le.Uint32(b[4:])
	if version != 1 && version != 2 {
		s.problem(section, off, "registration record: version %d is not known", version)
		return
	}
	at, err := resolve(off+recordPointer, le.Uint64(b[recordPointer:]))
	if err != nil {
		s.problem(section, off, "registered image damaged: %v", err)
		return
	}
	s.register(at, version)
}

// register notes the record at the container it points at.
func (s *scanner) register(at int64, version uint32) {
	i, ok := s.at[at]
	if ok && s.Places[i].Lone == NotLone {
		s.Places[i].Record = version
		return
	}
	s.problem(s.sectionAt(at), at, "registered image damaged: a registration record points here, where no container could be read")
}

// hasPlainBytes reports whether a section's size is that of its bytes in the
// file.
func hasPlainBytes(s *elf.Section) bool {
	return s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_COMPRESSED == 0
}
