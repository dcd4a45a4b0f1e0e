package cubin

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

const noteOwner = "NVIDIA Corp\x00"

// readNotes reads the two notes that nvcc 13.0 puts into a cubin of ABI 8. The
// layout was seen in our own files.
func (f *File) readNotes(sections []section) error {
	for _, s := range sections {
		switch string(s.name) {
		case ".note.nv.cuinfo":
			desc, err := note(s.data, noteCUDA)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			f.readInfo(desc)
		case ".note.nv.tkinfo":
			desc, err := note(s.data, noteToolkit)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			f.readCommand(desc)
		}
	}
	return nil
}

// readInfo reads three numbers of 16 bits: a version, the virtual architecture,
// and the toolkit's version. The second differs between cubins for sm_86 from
// compute_80 and from compute_86, and in nothing else do these differ.
func (f *File) readInfo(desc []byte) {
	if f.ABI != 8 || len(desc) < 6 {
		return
	}
	f.Virtual = int(binary.LittleEndian.Uint16(desc[2:]))
	f.Toolkit = version(uint32(binary.LittleEndian.Uint16(desc[4:])))
}

// note gives the description of a section's first note, which must be of the
// wanted type.
func note(b []byte, typ uint32) ([]byte, error) {
	if len(b) < noteHeaderSize+len(noteOwner) {
		return nil, fmt.Errorf("note of %d bytes is cut off", len(b))
	}
	le := binary.LittleEndian
	name, desc, got := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
	if int(name) != len(noteOwner) || string(b[noteHeaderSize:noteHeaderSize+len(noteOwner)]) != noteOwner || got != typ {
		return nil, fmt.Errorf("note of type %d is not known, want type %d of NVIDIA Corp", got, typ)
	}
	d, ok := slice(b, uint64(noteHeaderSize+len(noteOwner)), uint64(desc))
	if !ok {
		return nil, fmt.Errorf("note claims %d bytes, the section has %d", desc, len(b))
	}
	return d, nil
}

// readCommand takes the suffix of the target from the arguments of ptxas or
// nvlink ("-arch sm_120f -m 64 "). The description holds a version, then the
// offsets of five strings, of which the last is the arguments, then the
// strings.
func (f *File) readCommand(desc []byte) {
	const offsets, strs = 4, 24
	if f.SuffixKnown || len(desc) < strs {
		return
	}
	args, ok := cString(desc[strs:], binary.LittleEndian.Uint32(desc[offsets+4*4:]))
	if !ok {
		return
	}
	_, words, _ := strings.Cut(" "+string(args), " -arch ")
	name, _, _ := strings.Cut(strings.TrimLeft(words, " "), " ")
	t, err := arch.ParseTarget(name)
	if err == nil && t.Class == arch.SM && t.Number == f.Number {
		f.Suffix, f.SuffixKnown = t.Suffix, true
	}
}
