package scan

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"iter"
)

// relocation is one entry of a RELA section of a 64-bit file.
type relocation struct {
	at, symbol, addend uint64
	typ                uint32
}

const relocationSize = 24

// loaderRelocations gives what DT_RELA names: the relocations of data that the
// loader applies.
func (s *scanner) loaderRelocations() (iter.Seq[relocation], error) {
	d, err := s.file.Dynamic()
	if err != nil {
		return nil, fmt.Errorf("dynamic section: %w", err)
	}
	if d == nil || d.Value(elf.DT_RELASZ) == 0 {
		return func(func(relocation) bool) {}, nil
	}
	address, size := d.Value(elf.DT_RELA), d.Value(elf.DT_RELASZ)
	off, ok := s.file.At(address)
	if !ok || size > uint64(int64(len(s.bytes))-off) {
		return nil, fmt.Errorf("%d bytes of relocations at address %#x are not in the file", size, address)
	}
	return s.relocations(s.bytes[off : off+int64(size)])
}

// relocations gives the entries of a RELA table.
func (s *scanner) relocations(table []byte) (iter.Seq[relocation], error) {
	if s.file.Class != elf.ELFCLASS64 || s.file.ByteOrder != binary.LittleEndian {
		return nil, fmt.Errorf("relocations of a %s %s file are not read", s.file.Class, s.file.ByteOrder)
	}
	if len(table)%relocationSize != 0 {
		return nil, fmt.Errorf("%d bytes of relocations, want a multiple of %d", len(table), relocationSize)
	}
	le := binary.LittleEndian
	return func(yield func(relocation) bool) {
		for b := table; len(b) > 0; b = b[relocationSize:] {
			info := le.Uint64(b[8:])
			if !yield(relocation{at: le.Uint64(b), symbol: info >> 32, typ: uint32(info), addend: le.Uint64(b[16:])}) {
				return
			}
		}
	}, nil
}

// relative reports whether the loader stores the load address plus the addend.
func (r relocation) relative(m elf.Machine) bool {
	switch m {
	case elf.EM_X86_64:
		return r.typ == uint32(elf.R_X86_64_RELATIVE)
	case elf.EM_AARCH64:
		return r.typ == uint32(elf.R_AARCH64_RELATIVE)
	}
	return false
}

// absolute reports whether the linker stores the symbol's address plus the
// addend.
func (r relocation) absolute(m elf.Machine) bool {
	switch m {
	case elf.EM_X86_64:
		return r.typ == uint32(elf.R_X86_64_64)
	case elf.EM_AARCH64:
		return r.typ == uint32(elf.R_AARCH64_ABS64)
	}
	return false
}
