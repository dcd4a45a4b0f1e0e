// Package hostelf opens ELF files of the host through debug/elf, which may
// panic on hostile input: here that is an error.
package hostelf

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// File is an ELF file for a host.
type File struct {
	*elf.File
	Reader io.ReaderAt // of the whole file
	Size   int64       // bytes of the whole file
}

// New reads the headers of an ELF file. Every program header and section must
// lie within its size bytes, so a file that was cut off is an error.
func New(r io.ReaderAt, size int64) (f *File, err error) {
	defer recovered(&err)
	e, err := elf.NewFile(io.NewSectionReader(r, 0, size))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("headers run past the end of the file at offset %#x", size)
	}
	if err != nil {
		return nil, err
	}
	for i, p := range e.Progs {
		if !within(p.Off, p.Filesz, size) {
			return nil, fmt.Errorf("program header %d: %d bytes at offset %#x run past the end of the file at %#x", i, p.Filesz, p.Off, size)
		}
	}
	for _, s := range e.Sections {
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL && !within(s.Offset, s.FileSize, size) {
			return nil, fmt.Errorf("section %q: %d bytes at offset %#x run past the end of the file at %#x", s.Name, s.FileSize, s.Offset, size)
		}
	}
	return &File{File: e, Reader: r, Size: size}, nil
}

// Symbols is [elf.File.Symbols] with panics as errors.
func (f *File) Symbols() (symbols []elf.Symbol, err error) {
	defer recovered(&err)
	return f.File.Symbols()
}

// DynString is [elf.File.DynString] with panics as errors.
func (f *File) DynString(tag elf.DynTag) (values []string, err error) {
	defer recovered(&err)
	return f.File.DynString(tag)
}

// DynValue is [elf.File.DynValue] with panics as errors.
func (f *File) DynValue(tag elf.DynTag) (values []uint64, err error) {
	defer recovered(&err)
	return f.File.DynValue(tag)
}

// Data is [elf.Section.Data] with panics as errors.
func (f *File) Data(s *elf.Section) (data []byte, err error) {
	defer recovered(&err)
	return s.Data()
}

func within(off, n uint64, size int64) bool {
	return off <= uint64(size) && n <= uint64(size)-off
}

func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("reading ELF panicked: %v", r)
	}
}
