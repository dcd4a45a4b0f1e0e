package scan

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/hostelf"
)

// ELF finds the device code of a host file.
func ELF(f *hostelf.File) Result {
	s := scanner{file: f, bytes: f.Bytes, sections: sectionsOf(f), at: make(map[int64]int), Result: Result{Linked: f.Type != elf.ET_REL}}
	var known []span // what is read as its section says
	var offload []*elf.Section
	for _, section := range f.Sections {
		switch {
		case isDeviceSection(section):
			known = append(known, s.walk(section))
		case section.Name == ".hip_fatbin":
			s.problem(section.Name, int64(section.Offset), "HIP: device code for AMD GPUs, which is not read")
		case section.Name == offloadSection:
			offload = append(offload, section)
		}
	}
	for _, gap := range gaps(known, int64(len(s.bytes))) {
		s.search(gap)
	}
	for _, section := range offload {
		s.offloading(section)
	}
	s.records()
	return s.sorted()
}

// Bytes finds device code in bytes of which nothing is known.
func Bytes(b []byte) Result {
	s := scanner{bytes: b, at: make(map[int64]int)}
	s.search(span{start: 0, end: int64(len(b))})
	return s.sorted()
}

type scanner struct {
	file     *hostelf.File
	bytes    []byte // of the whole file
	sections []span
	at       map[int64]int // index in Places, by offset
	read     int64         // bytes of all containers together
	Result
}

func (s *scanner) sorted() Result {
	slices.SortFunc(s.Places, func(a, b Place) int { return cmp.Compare(a.Offset, b.Offset) })
	slices.SortStableFunc(s.Problems, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return s.Result
}

func (s *scanner) problem(section string, off int64, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{section, off, fmt.Sprintf(format, args...)})
}

func (s *scanner) add(p Place) {
	s.at[p.Offset] = len(s.Places)
	s.Places = append(s.Places, p)
}

// readable reports whether a section has plain bytes in the file.
func (s *scanner) readable(section *elf.Section) bool {
	off := int64(section.Offset)
	switch {
	case section.Size == 0:
		return false
	case section.Type == elf.SHT_NOBITS || section.Type == elf.SHT_NULL:
		s.problem(section.Name, off, "the section has no bytes in this file, which holds debug information only")
		return false
	case section.Flags&elf.SHF_COMPRESSED != 0:
		s.problem(section.Name, off, "the section is compressed as a whole, which is not read")
		return false
	}
	return true
}

// walk reads the containers of a section one after another and gives the
// section's range.
func (s *scanner) walk(section *elf.Section) span {
	if !s.readable(section) {
		return span{}
	}
	all := span{int64(section.Offset), int64(section.Offset + section.Size), section.Name}
	// The linker pads between its inputs, up to the section's alignment.
	maxPadding := int64(min(max(section.Addralign, fatbin.Align), 4096))
	for off := all.start; off < all.end; {
		next := s.skipPadding(off, all.end)
		if next-off >= maxPadding {
			s.problem(section.Name, off, "damaged: %d zero bytes where a container should begin", next-off)
		}
		if next == all.end {
			break
		}
		size := s.container(span{next, all.end, section.Name}, 0)
		if size == 0 {
			break // nothing says where the next one begins
		}
		off = next + size
		off += (all.start - off) & (fatbin.Align - 1)
	}
	return all
}

// container reads the container at the start of a range and gives its size, 0
// when its header cannot be read.
func (s *scanner) container(in span, record uint32) int64 {
	if s.read > int64(len(s.bytes)) {
		s.problem(in.section, in.start, "damaged: containers overlap, together they are larger than the file")
		return 0
	}
	c, err := fatbin.ReadContainer(s.bytes, in.start, in.end)
	if err != nil {
		at, text := fatbin.Where(err, in.start)
		s.problem(in.section, at, "damaged: %s", text)
	}
	s.read += c.Size
	if c.Size > 0 {
		s.add(Place{Container: c, Section: in.section, Record: record})
	}
	return c.Size
}

// skipPadding gives the offset of the first 8 bytes from off that are not all
// zero, or end.
func (s *scanner) skipPadding(off, end int64) int64 {
	for n, c := range s.bytes[off:end] {
		if c != 0 {
			return off + int64(n)&^(fatbin.Align-1)
		}
	}
	return end
}
