package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

var errNotRegular = errors.New("not a regular file")

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
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// HashFile gives the SHA-256 of a regular file's content, in hexadecimal, and
// its size in bytes.
func HashFile(path string) (sum string, size int64, err error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return Hash(f)
}

// Hash gives the SHA-256 of all that r gives, in hexadecimal, and how many
// bytes that was.
func Hash(r io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	// Without the wrapper io.CopyBuffer lets the reader choose a smaller buffer.
	size, err = io.CopyBuffer(h, struct{ io.Reader }{r}, make([]byte, 256<<10))
	if err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

func hashBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
