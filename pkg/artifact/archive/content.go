package archive

import (
	"bytes"
	"io"
	"os"

	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
)

// inMemory is how much of a file is kept in memory, in bytes; a larger one goes
// to a temporary file.
const inMemory = 8 << 20

// content gives all that head and r hold.
func (w *Walker) content(head []byte, r io.Reader) (b []byte, release func(), err error) {
	buffer := bytes.NewBuffer(w.buffer[:0])
	buffer.Write(head)
	_, err = io.CopyN(buffer, r, inMemory)
	w.buffer = buffer.Bytes()
	if err == io.EOF {
		return w.buffer, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return spill(w.buffer, r)
}

// spill writes a large file to a temporary one that has no name any more when
// this returns, and maps it.
func spill(head []byte, r io.Reader) (b []byte, release func(), err error) {
	f, err := os.CreateTemp("", "cudaproof-member-")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return nil, nil, err
	}
	if _, err := f.Write(head); err != nil {
		return nil, nil, err
	}
	if _, err := io.Copy(f, r); err != nil {
		return nil, nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, nil, err
	}
	return filemap.Map(f)
}

// Unpacked gives the whole of what a compressed file holds.
func (w *Walker) Unpacked(b []byte) (content []byte, release func(), err error) {
	out, done, err := decompress(FormatOf(b[:min(len(b), HeadSize)]), bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	defer done()
	return w.content(nil, spent{out, w.Budget})
}

// spent counts what is read against the budget.
type spent struct {
	r      io.Reader
	budget *Budget
}

func (s spent) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if s.budget.Bytes -= int64(n); s.budget.Bytes < 0 {
		return 0, errTooLarge
	}
	return n, err
}
