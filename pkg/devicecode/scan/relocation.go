package scan

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// relocation is one entry of a RELA section of a 64-bit file.
type relocation struct {
	at, symbol, addend uint64
	typ                uint32
}

const relocationSize = 24

// relocations calls do for each entry of a RELA section.
func (s *scanner) relocations(section *elf.Section, do func(relocation)) error {
	if s.file.Class != elf.ELFCLASS64 || s.file.ByteOrder != binary.LittleEndian {
		return fmt.Errorf("relocations of a %s %s file are not read", s.file.Class, s.file.ByteOrder)
	}
	data, err := s.file.Data(section)
	if err != nil {
		return fmt.Errorf("section %s: %w", section.Name, err)
	}
	if len(data)%relocationSize != 0 {
		return fmt.Errorf("section %s: %d bytes, want a multiple of %d", section.Name, len(data), relocationSize)
	}
	le := binary.LittleEndian
	for ; len(data) > 0; data = data[relocationSize:] {
		info := le.Uint64(data[8:])
		do(relocation{at: le.Uint64(data), symbol: info >> 32, typ: uint32(info), addend: le.Uint64(data[16:])})
	}
	return nil
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
