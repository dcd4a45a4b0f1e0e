package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/cubin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/ptx"
)

// Open reads the file at path. An error means that it could not be opened or
// read; what is wrong with its content is in the problems of the result.
func Open(path string, o devicecode.Options) (file File, err error) {
	if IsLayout(path) {
		return openLayout(path, o)
	}
	f, err := filemap.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	err = filemap.Do(f, func(b []byte) error { file, err = Read(b, path, o); return err })
	if err != nil {
		return File{}, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return file, nil
}

// Read reads the bytes of a file. The path is noted in the result only. While
// the content is looked at the whole is hashed. An error is a fault of the
// memory that holds the bytes.
func Read(b []byte, path string, o devicecode.Options) (File, error) {
	sum := make(chan error, 1)
	var digest string
	go func() {
		sum <- devicecode.Unfaulted(func() error { digest = hashBytes(b); return nil })
	}()
	f := File{Path: path, Size: int64(len(b)), Format: Unknown}
	err := devicecode.Unfaulted(func() error { f.readContent(b, o); return nil })
	if err := errors.Join(<-sum, err); err != nil {
		return File{}, err
	}
	f.SHA256 = digest
	return f, nil
}

func (f *File) readContent(b []byte, o devicecode.Options) {
	var err error
	switch {
	case isArchive(b):
		f.readArchive(b, o)
	case isLibrary(b):
		f.Format = StaticLibrary
		f.Objects, err = readLibrary(b, o)
	default:
		var object Object
		object, f.Format, err = readObject(b, o)
		if err == nil {
			f.Objects = []Object{object}
		}
	}
	if err != nil {
		f.Problem = err.Error()
	}
}

// headSize is how much of a file decides what it is; a PTX text may begin with
// comments.
const headSize = 64 << 10

// readObject reads an ELF file or raw device code, told by its first bytes.
func readObject(b []byte, o devicecode.Options) (Object, Format, error) {
	head := b[:min(len(b), headSize)]
	switch {
	case cubin.Is(head):
		return Object{Code: devicecode.ReadCubin(b, o)}, CubinFile, nil
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return readELF(b, o)
	case fatbin.Is(head):
		return Object{Code: devicecode.ReadFatbin(b, o)}, Fatbin, nil
	case ptx.Is(head):
		return Object{Code: devicecode.ReadPTX(b, o)}, PTXFile, nil
	case len(b) == 0:
		return Object{}, Unknown, errors.New("the file is empty")
	}
	return Object{}, Unknown, fmt.Errorf("neither ELF, static library, fatbin, cubin nor PTX: begins with %q; other formats are not read", head[:min(len(head), 16)])
}
