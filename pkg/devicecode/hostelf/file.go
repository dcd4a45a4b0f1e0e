// Package hostelf opens ELF files of the host through debug/elf, which may
// panic on hostile input: here that is an error.
package hostelf

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// File is an ELF file for a host.
type File struct {
	*elf.File
	Bytes []byte // of the whole file
}

// New reads the headers of an ELF file. Every program header and section must
// lie within b, so a file that was cut off is an error.
func New(b []byte) (f *File, err error) {
	defer recovered(&err)
	e, err := elf.NewFile(bytes.NewReader(b))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("headers run past the end of the file at offset %#x", len(b))
	}
	if err != nil {
		return nil, err
	}
	for i, p := range e.Progs {
		if _, ok := slice(b, p.Off, p.Filesz); !ok {
			return nil, fmt.Errorf("program header %d: %d bytes at offset %#x run past the end of the file at %#x", i, p.Filesz, p.Off, len(b))
		}
	}
	for _, s := range e.Sections {
		if _, ok := slice(b, s.Offset, s.FileSize); !ok && s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL {
			return nil, fmt.Errorf("section %q: %d bytes at offset %#x run past the end of the file at %#x", s.Name, s.FileSize, s.Offset, len(b))
		}
	}
	return &File{File: e, Bytes: b}, nil
}

// Symbols is [elf.File.Symbols] with panics as errors.
func (f *File) Symbols() (symbols []elf.Symbol, err error) {
	defer recovered(&err)
	return f.File.Symbols()
}

// Data gives the bytes of a section where they lie in the file: none of one
// without bytes, the compressed ones of one that is compressed.
func (f *File) Data(s *elf.Section) []byte {
	if s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL {
		return nil
	}
	return f.Bytes[s.Offset : s.Offset+s.FileSize]
}

// At gives the file offset of what is loaded at a virtual address.
func (f *File) At(address uint64) (offset int64, ok bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return int64(p.Off + address - p.Vaddr), true
		}
	}
	return 0, false
}

// slice gives n bytes of b at off, if they are there.
func slice(b []byte, off, n uint64) ([]byte, bool) {
	size := uint64(len(b))
	if off > size || n > size-off {
		return nil, false
	}
	return b[off : off+n], true
}

func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("reading ELF panicked: %v", r)
	}
}
