package scan

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/cubin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/ptx"
)

// Programs may carry device code as data and load it through the driver API.
// The marks begin it.
var (
	markFatbin = binary.LittleEndian.AppendUint32(nil, fatbin.Magic)
	markCubin  = []byte("\x7fELF")
	markPTX    = []byte(".version ")
)

const (
	chunkSize = 1 << 20
	// lookSize is how much of a piece must be seen to tell what it is.
	lookSize = 256
)

// elsewhere looks for device code in the data outside the sections that nvcc
// writes. Containers are read; lone cubins and PTX texts are a problem.
func (s *scanner) elsewhere() {
	for _, section := range s.file.Sections {
		if section.Type != elf.SHT_PROGBITS || section.Flags&elf.SHF_ALLOC == 0 || section.Flags&elf.SHF_EXECINSTR != 0 ||
			section.Flags&elf.SHF_COMPRESSED != 0 || isDeviceSection(section) {
			continue
		}
		if err := s.search(section); err != nil {
			s.problem(section.Name, int64(section.Offset), "the section could not be searched for device code: %v", err)
		}
	}
}

// search reads a section in chunks that overlap by what must be seen of a
// piece.
func (s *scanner) search(section *elf.Section) error {
	start, end := int64(section.Offset), int64(section.Offset+section.Size)
	lone := make(map[string]*found)
	covered := start // everything before has been looked at
	buf := make([]byte, min(chunkSize+lookSize, end-start))
	for off := start; off < end; off += chunkSize {
		b := buf[:min(int64(len(buf)), end-off)]
		if n, err := s.file.Reader.ReadAt(b, off); n < len(b) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		for _, i := range marks(b, chunkSize) {
			at := off + int64(i)
			if at < covered {
				continue
			}
			switch what := piece(b[i:]); what {
			case "":
			case containerPiece:
				covered = max(covered, s.foundContainer(section, at, end))
			default:
				if lone[what] == nil {
					lone[what] = &found{at: at}
				}
				lone[what].count++
			}
		}
	}
	for what, f := range lone {
		s.problem(section.Name, f.at, "%s lies in the program's data (%d in this section), which is not read", what, f.count)
	}
	return nil
}

type found struct {
	at    int64 // of the first
	count int
}

// marks gives the places before limit where a mark begins, in order.
func marks(b []byte, limit int) []int {
	var at []int
	for _, mark := range [][]byte{markFatbin, markCubin, markPTX} {
		for from := 0; ; {
			i := bytes.Index(b[from:], mark)
			if i < 0 || from+i >= limit {
				break
			}
			at = append(at, from+i)
			from += i + 1
		}
	}
	slices.Sort(at)
	return at
}

const containerPiece = "a container"

// piece says what begins at a mark, empty for a stray one.
func piece(b []byte) string {
	b = b[:min(len(b), lookSize)]
	switch {
	case bytes.HasPrefix(b, markFatbin):
		if fatbin.Plausible(b) {
			return containerPiece
		}
	case cubin.Is(b):
		return "a cubin"
	case ptx.Begins(b):
		return "a PTX text"
	}
	return ""
}

// foundContainer reads a container unless it is known already, and gives its
// end.
func (s *scanner) foundContainer(section *elf.Section, at, end int64) int64 {
	if i, ok := s.at[at]; ok {
		return at + s.Places[i].Size
	}
	return at + s.container(section, at, end, 0)
}
