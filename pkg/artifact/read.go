package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cudaproof/cudaproof/pkg/artifact/ar"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/cubin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/fatbin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/ptx"
)

// Open reads the file at path. An error means that it could not be opened or
// read; what is wrong with its content is in the problems of the result.
func Open(path string, o devicecode.Options) (File, error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	file, err := Read(f, info.Size(), path, o)
	if err != nil {
		return File{}, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return file, nil
}

// Read reads a file of size bytes, from several goroutines at once. The path is
// noted in the result only. While the content is looked at the whole is hashed.
func Read(r io.ReaderAt, size int64, path string, o devicecode.Options) (File, error) {
	sum := make(chan error, 1)
	var digest string
	go func() {
		var err error
		digest, err = hashAll(r, size)
		sum <- err
	}()
	f := File{Path: path, Size: size, Format: Unknown}
	f.readContent(r, size, o)
	if err := <-sum; err != nil {
		return File{}, err
	}
	f.SHA256 = digest
	return f, nil
}

func hashAll(r io.ReaderAt, size int64) (string, error) {
	sum, n, err := Hash(io.NewSectionReader(r, 0, size))
	if err == nil && n != size {
		err = fmt.Errorf("ended after %d of %d bytes: was it changed while it was read?", n, size)
	}
	return sum, err
}

// headSize is how much of a file decides what it is; a PTX text may begin with
// comments.
const headSize = 64 << 10

func readHead(r io.ReaderAt, size int64) ([]byte, error) {
	head := make([]byte, min(size, headSize))
	n, err := r.ReadAt(head, 0)
	if n < len(head) {
		return nil, err
	}
	return head, nil
}

func (f *File) readContent(r io.ReaderAt, size int64, o devicecode.Options) {
	head, err := readHead(r, size)
	if err != nil {
		f.Problem = err.Error()
		return
	}
	if bytes.HasPrefix(head, []byte(ar.Magic)) || bytes.HasPrefix(head, []byte(ar.ThinMagic)) {
		f.Format = StaticLibrary
		f.readArchive(r, size, o)
		return
	}
	object, format, err := readObject(r, size, head, o)
	f.Format = format
	if err != nil {
		f.Problem = err.Error()
		return
	}
	f.Objects = []Object{object}
}

// readObject reads an ELF file or raw device code, told by its first bytes.
func readObject(r io.ReaderAt, size int64, head []byte, o devicecode.Options) (Object, Format, error) {
	switch {
	case cubin.Is(head):
		return Object{Code: devicecode.ReadCubin(r, size, o)}, CubinFile, nil
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return readELF(r, size, o)
	case fatbin.Is(head):
		return Object{Code: devicecode.ReadFatbin(r, size, o)}, Fatbin, nil
	case ptx.Is(head):
		return Object{Code: devicecode.ReadPTX(r, size, o)}, PTXFile, nil
	case size == 0:
		return Object{}, Unknown, errors.New("the file is empty")
	}
	return Object{}, Unknown, fmt.Errorf("neither ELF, static library, fatbin, cubin nor PTX: begins with %q; other formats are not read", head[:min(len(head), 16)])
}
