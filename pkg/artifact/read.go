package artifact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/cudaproof/cudaproof/pkg/artifact/ar"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/cubin"
	"github.com/cudaproof/cudaproof/pkg/devicecode/ptx"
)

// Open reads the file at path. An error means that it could not be opened or
// read; what is wrong with its content is in the problems of the result.
func Open(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := Read(f, info.Size(), path)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// Read reads a file of size bytes, from several goroutines at once. The path is
// noted in the result only. While the content is looked at the whole is hashed.
func Read(r io.ReaderAt, size int64, path string) (File, error) {
	sum := make(chan error, 1)
	var digest string
	go func() {
		var err error
		digest, err = hashAll(r, size)
		sum <- err
	}()
	f := File{Path: path, Size: size, Format: Unknown}
	f.readContent(r, size)
	if err := <-sum; err != nil {
		return File{}, err
	}
	f.SHA256 = digest
	return f, nil
}

func hashAll(r io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(h, io.NewSectionReader(r, 0, size), make([]byte, min(size+1, 1<<20)))
	if err != nil {
		return "", err
	}
	if n != size {
		return "", fmt.Errorf("ended after %d of %d bytes: was it changed while it was read?", n, size)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
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

func (f *File) readContent(r io.ReaderAt, size int64) {
	head, err := readHead(r, size)
	if err != nil {
		f.Problem = err.Error()
		return
	}
	if bytes.HasPrefix(head, []byte(ar.Magic)) || bytes.HasPrefix(head, []byte(ar.ThinMagic)) {
		f.Format = StaticLibrary
		f.readArchive(r, size)
		return
	}
	object, format, err := readObject(r, size, head)
	f.Format = format
	if err != nil {
		f.Problem = err.Error()
		return
	}
	f.Objects = []Object{object}
}

// readObject reads an ELF file or raw device code, told by its first bytes.
func readObject(r io.ReaderAt, size int64, head []byte) (Object, Format, error) {
	switch {
	case cubin.Is(head):
		return Object{Code: devicecode.ReadCubin(r, size)}, CubinFile, nil
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return readELF(r, size)
	case bytes.HasPrefix(head, []byte{0x50, 0xED, 0x55, 0xBA}):
		return Object{Code: devicecode.ReadFatbin(r, size)}, Fatbin, nil
	case ptx.Is(head):
		return Object{Code: devicecode.ReadPTX(r, size)}, PTXFile, nil
	case size == 0:
		return Object{}, Unknown, fmt.Errorf("the file is empty")
	}
	return Object{}, Unknown, fmt.Errorf("neither ELF, static library, fatbin, cubin nor PTX: begins with %q; other formats are not read", head[:min(len(head), 16)])
}
