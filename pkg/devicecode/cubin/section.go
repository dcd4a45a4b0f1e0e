package cubin

import (
	"encoding/binary"
	"fmt"
)

type section struct {
	name   []byte
	typ    uint32
	offset uint64
	size   uint64
	link   uint32
	data   []byte // nil for a section without bytes in the file
}

// readSections reads the section table. Every section must lie within b.
func readSections(b []byte, h header) ([]section, error) {
	if h.sectSize != sectionHeaderSize {
		return nil, fmt.Errorf("section headers of %d bytes, want %d", h.sectSize, sectionHeaderSize)
	}
	first, ok := slice(b, h.shoff, sectionHeaderSize)
	if !ok {
		return nil, fmt.Errorf("section headers at offset %#x are past the end of the cubin at %#x", h.shoff, len(b))
	}
	count, names := sectionCount(first, h)
	if count > uint64(len(b))/sectionHeaderSize {
		return nil, fmt.Errorf("%d section headers do not fit into %d bytes", count, len(b))
	}
	table, ok := slice(b, h.shoff, count*sectionHeaderSize)
	if !ok {
		return nil, fmt.Errorf("%d section headers at offset %#x run past the end of the cubin at %#x", count, h.shoff, len(b))
	}
	sections := make([]section, count)
	for i := range sections {
		s, err := readSection(b, table[i*sectionHeaderSize:])
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", i, err)
		}
		sections[i] = s
	}
	return sections, nameSections(sections, table, names)
}

// sectionCount gives the number of sections and the index of the one with the
// names. Where they do not fit the ELF header, section 0 holds them (ELF
// specification, "Section Header Table").
func sectionCount(first []byte, h header) (count, names uint64) {
	count, names = uint64(h.shnum), uint64(h.names)
	if count == 0 {
		count = binary.LittleEndian.Uint64(first[32:])
	}
	if names == extended {
		names = uint64(binary.LittleEndian.Uint32(first[40:]))
	}
	return count, names
}

func readSection(b, h []byte) (section, error) {
	le := binary.LittleEndian
	s := section{
		typ:    le.Uint32(h[4:]),
		offset: le.Uint64(h[24:]),
		size:   le.Uint64(h[32:]),
		link:   le.Uint32(h[40:]),
	}
	if s.typ == 0 || s.typ == sectionNoBits || s.typ == sectionShared {
		return s, nil
	}
	data, ok := slice(b, s.offset, s.size)
	if !ok {
		return s, fmt.Errorf("%d bytes at offset %#x run past the end of the cubin at %#x", s.size, s.offset, len(b))
	}
	s.data = data
	return s, nil
}

func nameSections(sections []section, table []byte, names uint64) error {
	if names >= uint64(len(sections)) {
		return fmt.Errorf("section %d with the names is not among the %d sections", names, len(sections))
	}
	for i := range sections {
		at := binary.LittleEndian.Uint32(table[i*sectionHeaderSize:])
		name, ok := cString(sections[names].data, at)
		if !ok {
			return fmt.Errorf("section %d: no name at offset %#x of the names", i, at)
		}
		sections[i].name = name
	}
	return nil
}
