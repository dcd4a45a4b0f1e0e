package scan

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/hostelf"
)

// ELF finds the containers of a host file.
func ELF(f *hostelf.File) Result {
	s := scanner{file: f, at: make(map[int64]int), Result: Result{Linked: f.Type != elf.ET_REL}}
	if len(f.Sections) == 0 {
		s.problem("", 0, "no section headers: device code cannot be located in a file without them")
		return s.Result
	}
	for _, section := range f.Sections {
		switch {
		case isDeviceSection(section):
			s.walk(section)
		case section.Name == ".llvm.offloading":
			s.problem(section.Name, int64(section.Offset), "images of Clang's offload driver are not read: inspect the linked file")
		case section.Name == ".hip_fatbin":
			s.problem(section.Name, int64(section.Offset), "AMD device code is not read")
		}
	}
	s.records()
	s.elsewhere()
	slices.SortFunc(s.Places, func(a, b Place) int { return cmp.Compare(a.Offset, b.Offset) })
	slices.SortStableFunc(s.Problems, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return s.Result
}

type scanner struct {
	file *hostelf.File
	at   map[int64]int // index in Places, by offset
	read int64         // bytes of all containers together
	Result
}

func (s *scanner) problem(section string, off int64, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{section, off, fmt.Sprintf(format, args...)})
}

// readable reports whether a section has plain bytes in the file.
func (s *scanner) readable(section *elf.Section) bool {
	off := int64(section.Offset)
	switch {
	case section.Size == 0:
		return false
	case section.Type == elf.SHT_NOBITS:
		s.problem(section.Name, off, "the section has no bytes in this file, which holds debug information only")
		return false
	case section.Flags&elf.SHF_COMPRESSED != 0:
		s.problem(section.Name, off, "the section is compressed as a whole, which is not read")
		return false
	}
	return true
}

// walk reads the containers of a section one after another.
func (s *scanner) walk(section *elf.Section) {
	if !s.readable(section) {
		return
	}
	start, end := int64(section.Offset), int64(section.Offset+section.Size)
	// The linker pads between its inputs, up to the section's alignment.
	maxPadding := int64(min(max(section.Addralign, fatbin.Align), 4096))
	for off := start; off < end; {
		next, err := s.skipPadding(off, end)
		if err != nil {
			s.problem(section.Name, off, "damaged: %v", err)
			return
		}
		if next-off >= maxPadding {
			s.problem(section.Name, off, "damaged: %d zero bytes where a container should begin", next-off)
		}
		if next == end {
			return
		}
		off = next
		size := s.container(section, off, end, 0)
		if size == 0 {
			return // nothing says where the next one begins
		}
		off += size
		off += (start - off) & (fatbin.Align - 1)
	}
}

// container reads the container at off and gives its size, 0 when its header
// cannot be read.
func (s *scanner) container(section *elf.Section, off, end int64, record uint32) int64 {
	if s.read > s.file.Size {
		s.problem(section.Name, off, "damaged: containers overlap, together they are larger than the file")
		return 0
	}
	c, err := fatbin.ReadContainer(s.file.Reader, off, end)
	if err != nil {
		at, text := fatbin.Where(err, off)
		s.problem(section.Name, at, "damaged: %s", text)
	}
	s.read += c.Size
	if c.Size > 0 {
		s.at[off] = len(s.Places)
		s.Places = append(s.Places, Place{Container: c, Section: section.Name, Record: record})
	}
	return c.Size
}

// skipPadding gives the offset of the first 8 bytes from off that are not all
// zero, or end.
func (s *scanner) skipPadding(off, end int64) (int64, error) {
	var b [512]byte
	for off < end {
		n := min(int64(len(b)), end-off)
		if _, err := s.file.Reader.ReadAt(b[:n], off); err != nil {
			return off, err
		}
		for i := range n {
			if b[i] != 0 {
				return off + i&^(fatbin.Align-1), nil
			}
		}
		off += n
	}
	return end, nil
}
