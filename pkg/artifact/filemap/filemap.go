// Package filemap gives the content of files as bytes in memory.
package filemap

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

// ErrNotRegular says that a path leads to something that is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file with the flags of [os.OpenFile]; another
// kind of file is an [*fs.PathError]. A named pipe in its place does not block:
// opening one would wait for the other end.
func OpenRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Map gives the content of a file, mapped into memory where the file system can
// do that. The bytes are good until release is called. Reading them faults where
// the file was cut off meanwhile: see [devicecode.Unfaulted].
func Map(f *os.File) (b []byte, release func(), err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := int(info.Size())
	if size == 0 {
		return nil, func() {}, nil
	}
	b, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err == nil {
		return b, func() { _ = syscall.Munmap(b) }, nil
	}
	b = make([]byte, size)
	_, err = io.ReadFull(f, b)
	return b, func() {}, err
}

// Do calls do with the content of a file. The bytes are good until it returns.
func Do(f *os.File, do func([]byte) error) error {
	b, release, err := Map(f)
	if err != nil {
		return err
	}
	defer release()
	return devicecode.Unfaulted(func() error { return do(b) })
}
