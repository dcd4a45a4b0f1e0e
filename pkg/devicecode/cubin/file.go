package cubin

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// File is what a cubin says of itself.
type File struct {
	ABI         int    // 7 or 8
	Number      int    // of the target, 90 for sm_90 and sm_90a
	Virtual     int    // number of the virtual architecture, 0 where the cubin does not tell
	Toolkit     string // toolkit that wrote it, "13.0"; empty where the cubin does not tell
	Relocatable bool   // ELF type REL
	// Suffix is the suffix of the target, where SuffixKnown. A cubin of ABI 8
	// tells only in the command line of ptxas that it keeps in a note.
	Suffix      arch.Suffix
	SuffixKnown bool

	Kernels   []Kernel // in the order of the symbol table
	Functions int      // device functions that are not kernels
	Variables int      // __device__ and __constant__ variables, texture and surface references
}

// Kernel is an entry function.
type Kernel struct {
	Name     string // mangled
	CodeSize int64  // bytes of its machine code
	// Traps says that the code runs straight into a trap, after at most a message.
	// It is false where that cannot be told: below sm_70, or with instructions
	// before the trap that our own kernels do not have there.
	Traps bool
}

// Is reports whether b begins as a cubin does: a 64-bit ELF file for CUDA.
func Is(b []byte) bool {
	return len(b) >= headerSize && string(b[:4]) == "\x7fELF" && binary.LittleEndian.Uint16(b[18:]) == Machine
}

// Begins reports whether b begins as a cubin does, its class, data encoding and
// ELF version included: so a cubin among other data is told from code that
// compares with the magic.
func Begins(b []byte) bool {
	return Is(b) && (b[4] == 1 || b[4] == 2) && (b[5] == 1 || b[5] == 2) && b[6] == 1
}

// Read reads a cubin. The errors name offsets in b.
func Read(b []byte) (*File, error) {
	h, err := readHeader(b)
	if err != nil {
		return nil, err
	}
	f := &File{ABI: h.abi, Relocatable: h.typ == typeRel}
	f.readFlags(h)
	sections, err := readSections(b, h)
	if err != nil {
		return nil, err
	}
	if err := f.readSymbols(sections); err != nil {
		return nil, err
	}
	return f, f.readNotes(sections)
}

// Size gives the length of the cubin that begins b, in bytes: to the end of the
// last thing that its headers name. Where they run past the end of b that is an
// error.
func Size(b []byte) (int, error) {
	h, err := readHeader(b)
	if err != nil {
		return 0, err
	}
	sections, err := readSections(b, h)
	if err != nil {
		return 0, err
	}
	end := h.shoff + uint64(len(sections))*sectionHeaderSize
	if h.phnum > 0 {
		end = max(end, h.phoff+uint64(h.phnum)*programHeaderSize)
	}
	for _, s := range sections {
		if s.data != nil {
			end = max(end, s.offset+s.size)
		}
	}
	return int(end), nil
}

type header struct {
	abi              int
	typ              uint16
	version, flags   uint32
	phoff, shoff     uint64
	phnum, shnum     uint16
	names            uint16 // section that holds the names
	phsize, sectSize uint16
}

func readHeader(b []byte) (header, error) {
	if len(b) < headerSize {
		return header{}, fmt.Errorf("cubin of %d bytes is shorter than an ELF header", len(b))
	}
	le := binary.LittleEndian
	if !bytes.HasPrefix(b, []byte("\x7fELF")) {
		return header{}, fmt.Errorf("no cubin: begins with % x, want an ELF file", b[:4])
	}
	if b[4] != 2 || b[5] != 1 {
		return header{}, fmt.Errorf("ELF class %d and data encoding %d are not read, only 64-bit little-endian cubins", b[4], b[5])
	}
	h := header{
		typ:      le.Uint16(b[16:]),
		version:  le.Uint32(b[20:]),
		phoff:    le.Uint64(b[32:]),
		shoff:    le.Uint64(b[40:]),
		flags:    le.Uint32(b[48:]),
		phsize:   le.Uint16(b[54:]),
		phnum:    le.Uint16(b[56:]),
		sectSize: le.Uint16(b[58:]),
		shnum:    le.Uint16(b[60:]),
		names:    le.Uint16(b[62:]),
	}
	if machine := le.Uint16(b[18:]); machine != Machine {
		return header{}, fmt.Errorf("no cubin: ELF machine %d, want %d", machine, Machine)
	}
	switch {
	case b[7] == osABI7 && b[8] == 7:
		h.abi = 7
	case b[7] == osABI8 && b[8] == 8:
		h.abi = 8
	default:
		return header{}, fmt.Errorf("cubin ABI is not known: OS ABI %#02x with version %d; 0x33 with 7 and 0x41 with 8 are", b[7], b[8])
	}
	if h.typ != typeRel && h.typ != typeExec {
		return header{}, fmt.Errorf("cubin of ELF type %d, want REL (1) or EXEC (2)", h.typ)
	}
	return h, checkProgramHeaders(b, h)
}

// checkProgramHeaders makes sure that the table is there: nvcc puts it last,
// so a cubin that was cut off shows here.
func checkProgramHeaders(b []byte, h header) error {
	if h.phnum == 0 {
		return nil
	}
	if h.phsize != programHeaderSize {
		return fmt.Errorf("program headers of %d bytes, want %d", h.phsize, programHeaderSize)
	}
	if _, ok := slice(b, h.phoff, uint64(h.phnum)*programHeaderSize); !ok {
		return fmt.Errorf("%d program headers at offset %#x run past the end of the cubin at %#x", h.phnum, h.phoff, len(b))
	}
	return nil
}

// readFlags decodes e_flags and e_version, by ABI.
func (f *File) readFlags(h header) {
	if f.ABI == 8 {
		f.Number = int(h.flags >> 8 & 0xff)
		f.SuffixKnown = f.Number < firstSuffixed
		return
	}
	f.Number = int(h.flags & 0xff)
	f.Virtual = int(h.flags >> 16 & 0xff)
	f.Toolkit = version(h.version)
	if h.flags&flag7Specific != 0 && f.Number >= firstSuffixed {
		f.Suffix, f.SuffixKnown = arch.Specific, true
		return
	}
	// ABI 7 has no flag that we know of for family targets, which came with
	// CUDA 12.9 (PTX ISA, release notes of 8.8).
	f.SuffixKnown = f.Number < firstFamily || h.version < 129
}

const (
	firstSuffixed = 90  // sm_90a is the first target with a suffix (PTX ISA 8.0)
	firstFamily   = 100 // sm_100f is the first family target (PTX ISA 8.8)
)

// version gives 118 as "11.8".
func version(v uint32) string { return fmt.Sprintf("%d.%d", v/10, v%10) }

// slice gives n bytes of b at off, if they are there.
func slice(b []byte, off, n uint64) ([]byte, bool) {
	size := uint64(len(b))
	if off > size || n > size-off {
		return nil, false
	}
	return b[off : off+n], true
}

// cString gives the string at off, if it ends within b.
func cString(b []byte, off uint32) ([]byte, bool) {
	if uint64(off) >= uint64(len(b)) {
		return nil, false
	}
	n := bytes.IndexByte(b[off:], 0)
	if n < 0 {
		return nil, false
	}
	return b[off : int(off)+n], true
}
