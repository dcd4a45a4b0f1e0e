package scan

import (
	"bytes"
	"encoding/binary"

	"github.com/cudaproof/cudaproof/pkg/devicecode/cubin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/ptx"
)

// Programs may carry device code as data and load it through the driver API.
// The marks begin it.
var marks = [][]byte{
	binary.LittleEndian.AppendUint32(nil, fatbin.Magic),
	[]byte("\x7fELF"),
	[]byte(".version"),
}

// lookSize is how much of a piece must be seen to tell what it is, in bytes.
const lookSize = 256

// search reads the device code that begins at a mark anywhere in a range. A
// mark alone is nothing: all of them occur in ordinary code and data.
func (s *scanner) search(in span) {
	next := make([]int64, len(marks)) // where each mark occurs next
	for n := range marks {
		next[n] = s.find(n, in.start, in.end)
	}
	for {
		at := min(next[0], next[1], next[2])
		if at == in.end {
			return
		}
		end := max(at+1, s.piece(span{at, in.end, s.sectionAt(at)}))
		for n := range marks {
			if next[n] < end {
				next[n] = s.find(n, min(end, in.end), in.end)
			}
		}
	}
}

// find gives the offset of a mark from off, or end.
func (s *scanner) find(mark int, off, end int64) int64 {
	n := bytes.Index(s.bytes[off:end], marks[mark])
	if n < 0 {
		return end
	}
	return off + int64(n)
}

// piece reads what begins at the start of a range and gives its end, or the
// start for a stray mark.
func (s *scanner) piece(in span) int64 {
	b := s.bytes[in.start:in.end]
	look := b[:min(len(b), lookSize)]
	switch {
	case fatbin.Plausible(look):
		return in.start + s.container(in, 0)
	case cubin.Begins(look):
		size, err := cubin.Size(b)
		if err != nil {
			size = len(look) // the image says what is wrong with it
		}
		return s.lone(in, Cubin, int64(size))
	case ptx.Begins(look):
		_, size, _ := ptx.ReadEmbedded(b)
		return s.lone(in, PTX, int64(size))
	}
	return in.start
}

func (s *scanner) lone(in span, what Lone, size int64) int64 {
	s.add(Place{Container: fatbin.Container{Offset: in.start, Size: size}, Lone: what, Section: in.section})
	return in.start + size
}
