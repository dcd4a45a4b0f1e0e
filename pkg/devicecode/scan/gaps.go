package scan

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"

	"github.com/cudaproof/cudaproof/pkg/devicecode/hostelf"
)

// span is a range of the file, end not included.
type span struct {
	start, end int64
	section    string
}

func byStart(a, b span) int { return cmp.Compare(a.start, b.start) }

// gaps gives the ranges up to end that lie outside those given: the other
// sections, loaded or not, what lies between them, and what follows the last.
func gaps(known []span, end int64) []span {
	slices.SortFunc(known, byStart)
	var list []span
	at := int64(0)
	for _, k := range append(known, span{start: end, end: end}) {
		if k.start > at {
			list = append(list, span{start: at, end: k.start})
		}
		at = max(at, k.end)
	}
	return list
}

// sectionsOf gives the ranges of the sections with plain bytes in the file.
func sectionsOf(f *hostelf.File) []span {
	var list []span
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL {
			list = append(list, span{int64(s.Offset), int64(s.Offset + s.FileSize), s.Name})
		}
	}
	slices.SortStableFunc(list, byStart)
	return list
}

// sectionAt names the section that holds an offset of the file, empty where
// none does.
func (s *scanner) sectionAt(off int64) string {
	n := sort.Search(len(s.sections), func(n int) bool { return s.sections[n].start > off })
	if n > 0 && off < s.sections[n-1].end {
		return s.sections[n-1].section
	}
	return ""
}
