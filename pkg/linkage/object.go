package linkage

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// object is what the loader reads in an ELF file. It goes by the program
// headers alone, as the loader does: section headers may be missing or wrong.
type object struct {
	machine     elf.Machine
	interpreter string // PT_INTERP
	soname      string
	needed      []string
	rpath       []string // nil where there is a DT_RUNPATH
	runpath     []string
	hasRunpath  bool // even an empty one
	noDefault   bool // DF_1_NODEFLIB: neither cache nor default folders
}

// Limits of what is believed; the largest real values are far below them.
const (
	maxDynamic  = 1 << 16 // entries of the dynamic section
	maxNeeded   = 4096    // libraries named by one file
	maxName     = 4096    // bytes of a library's name: PATH_MAX
	maxPathList = 1 << 16 // bytes of a DT_RPATH or DT_RUNPATH
)

// openObject reads the object in a regular file. errOtherABI is returned for
// an ELF file of a class, byte order or machine that is not read here.
func openObject(path string) (object, error) {
	// Opening a FIFO would block.
	info, err := os.Stat(path)
	if err != nil {
		return object{}, err
	}
	if !info.Mode().IsRegular() {
		return object{}, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return object{}, err
	}
	defer f.Close()
	o, err := readObject(f)
	if err != nil {
		return object{}, fmt.Errorf("%s: %w", path, err)
	}
	return o, nil
}

var errOtherABI = errors.New("not a 64-bit ELF file for x86-64 or arm64")

// readObject reads the ELF header, the program headers and the dynamic section.
func readObject(r io.ReaderAt) (object, error) {
	header, err := readHeader(r)
	if err != nil {
		return object{}, err
	}
	progs, err := readProgs(r, header)
	if err != nil {
		return object{}, err
	}
	o := object{machine: elf.Machine(header.Machine)}
	dynamic := false
	for _, p := range progs {
		switch elf.ProgType(p.Type) {
		case elf.PT_INTERP:
			if o.interpreter, err = readString(r, p.Off, p.Filesz, maxName); err != nil {
				return object{}, fmt.Errorf("program interpreter: %w", err)
			}
		case elf.PT_DYNAMIC:
			if dynamic {
				return object{}, errors.New("more than one dynamic section")
			}
			dynamic = true
			if err := o.readDynamic(r, p, progs); err != nil {
				return object{}, err
			}
		}
	}
	return o, nil
}

func readHeader(r io.ReaderAt) (elf.Header64, error) {
	var header elf.Header64
	var ident [elf.EI_NIDENT]byte
	n, _ := r.ReadAt(ident[:], 0)
	if n < len(ident) || string(ident[:4]) != elf.ELFMAG {
		return header, errors.New("not an ELF file")
	}
	if elf.Class(ident[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Data(ident[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return header, errOtherABI
	}
	size := int64(binary.Size(header))
	if err := binary.Read(io.NewSectionReader(r, 0, size), binary.LittleEndian, &header); err != nil {
		return header, fmt.Errorf("ELF header: %w", err)
	}
	if _, ok := platforms[elf.Machine(header.Machine)]; !ok {
		return header, errOtherABI
	}
	if t := elf.Type(header.Type); t != elf.ET_EXEC && t != elf.ET_DYN {
		return header, fmt.Errorf("ELF type %v: only programs and shared libraries are loaded", t)
	}
	return header, nil
}

func readProgs(r io.ReaderAt, header elf.Header64) ([]elf.Prog64, error) {
	size := binary.Size(elf.Prog64{})
	if int(header.Phentsize) != size && header.Phnum != 0 {
		return nil, fmt.Errorf("program headers of %d bytes, expected %d", header.Phentsize, size)
	}
	if header.Phoff > 1<<62 {
		return nil, fmt.Errorf("program headers at offset %#x: beyond any file", header.Phoff)
	}
	table := io.NewSectionReader(r, int64(header.Phoff), int64(header.Phnum)*int64(size))
	var progs []elf.Prog64
	for range header.Phnum {
		var p elf.Prog64
		if err := binary.Read(table, binary.LittleEndian, &p); err != nil {
			return nil, fmt.Errorf("program header %d at offset %#x: %w", len(progs), header.Phoff+uint64(len(progs)*size), noEOF(err))
		}
		progs = append(progs, p)
	}
	return progs, nil
}

// readDynamic takes from the dynamic section what the loader looks at.
func (o *object) readDynamic(r io.ReaderAt, at elf.Prog64, progs []elf.Prog64) error {
	d, err := readDynamicSection(r, at)
	if err != nil {
		return err
	}
	o.noDefault = d.flags1&uint64(elf.DF_1_NODEFLIB) != 0
	if len(d.names) == 0 {
		return nil
	}
	start, ok := fileOffset(progs, d.strings)
	if !ok || start > 1<<62 || d.stringsSize > 1<<62 {
		return fmt.Errorf("dynamic string table at address %#x: in no segment of the file, or too large", d.strings)
	}
	return o.setStrings(d.names, func(offset uint64, limit int) (string, error) {
		if offset >= d.stringsSize {
			return "", fmt.Errorf("dynamic string at %#x: beyond the table of %d bytes", offset, d.stringsSize)
		}
		return readString(r, start+offset, d.stringsSize-offset, limit)
	})
}

// dynamicSection holds the entries of a dynamic section that are used here
// (System V gABI, chapter 5, "Dynamic Section").
type dynamicSection struct {
	names       []elf.Dyn64 // DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH: offsets in the string table
	strings     uint64      // DT_STRTAB, an address
	stringsSize uint64      // DT_STRSZ
	flags1      uint64      // DT_FLAGS_1
}

func readDynamicSection(r io.ReaderAt, at elf.Prog64) (s dynamicSection, err error) {
	if at.Off > 1<<62 || at.Filesz > 1<<62 {
		return s, fmt.Errorf("dynamic section at offset %#x: beyond any file", at.Off)
	}
	section := io.NewSectionReader(r, int64(at.Off), int64(at.Filesz))
	for n := range maxDynamic + 1 {
		var d elf.Dyn64
		err := binary.Read(section, binary.LittleEndian, &d)
		if err == io.EOF || err == nil && d.Tag == int64(elf.DT_NULL) {
			break
		}
		if err != nil {
			return s, fmt.Errorf("dynamic section at offset %#x, entry %d: %w", at.Off, n, err)
		}
		if n == maxDynamic || len(s.names) > maxNeeded {
			return s, fmt.Errorf("dynamic section at offset %#x: more than %d entries or %d libraries", at.Off, maxDynamic, maxNeeded)
		}
		switch elf.DynTag(d.Tag) {
		case elf.DT_NEEDED, elf.DT_SONAME, elf.DT_RPATH, elf.DT_RUNPATH:
			s.names = append(s.names, d)
		case elf.DT_STRTAB:
			s.strings = d.Val
		case elf.DT_STRSZ:
			s.stringsSize = d.Val
		case elf.DT_FLAGS_1:
			s.flags1 = d.Val
		}
	}
	return s, nil
}

func (o *object) setStrings(dyns []elf.Dyn64, text func(offset uint64, limit int) (string, error)) error {
	for _, d := range dyns {
		tag := elf.DynTag(d.Tag)
		limit := maxName
		if tag == elf.DT_RPATH || tag == elf.DT_RUNPATH {
			limit = maxPathList
		}
		s, err := text(d.Val, limit)
		if err != nil {
			return fmt.Errorf("%v: %w", tag, err)
		}
		switch tag {
		case elf.DT_NEEDED:
			o.needed = append(o.needed, s)
		case elf.DT_SONAME:
			o.soname = s
		case elf.DT_RPATH:
			o.rpath = splitPathList(s)
		case elf.DT_RUNPATH:
			o.runpath, o.hasRunpath = splitPathList(s), true
		}
	}
	if o.hasRunpath {
		o.rpath = nil
	}
	if slices.Contains(o.needed, "") {
		return errors.New("DT_NEEDED: empty name")
	}
	return nil
}

// splitPathList splits a DT_RPATH or DT_RUNPATH.
func splitPathList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ":")
}

// fileOffset maps a virtual address to an offset in the file.
func fileOffset(progs []elf.Prog64, address uint64) (offset uint64, ok bool) {
	for _, p := range progs {
		if elf.ProgType(p.Type) == elf.PT_LOAD && address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return p.Off + (address - p.Vaddr), true
		}
	}
	return 0, false
}

// readString reads a string that ends with a NUL within size bytes from an
// offset of the file.
func readString(r io.ReaderAt, offset, size uint64, limit int) (string, error) {
	if offset > 1<<62 {
		return "", fmt.Errorf("string at offset %#x: beyond any file", offset)
	}
	var text []byte
	chunk := make([]byte, 256)
	for uint64(len(text)) < size && len(text) < limit {
		n, err := r.ReadAt(chunk[:min(uint64(len(chunk)), size-uint64(len(text)))], int64(offset)+int64(len(text)))
		if end := bytes.IndexByte(chunk[:n], 0); end >= 0 {
			return string(append(text, chunk[:end]...)), nil
		}
		text = append(text, chunk[:n]...)
		if err != nil {
			return "", fmt.Errorf("string at offset %#x: %w", offset, noEOF(err))
		}
	}
	return "", fmt.Errorf("string at offset %#x: no end within %d bytes", offset, min(size, uint64(limit)))
}

// noEOF turns the end of the file into what it is in the middle of a table.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
