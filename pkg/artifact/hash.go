package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
)

// HashFile gives the SHA-256 of a regular file's content, in hexadecimal, and
// its size in bytes. Of the folder of an image layout it is that of the index.
func HashFile(path string) (sum string, size int64, err error) {
	if IsLayout(path) {
		path = filepath.Join(path, spec.ImageIndexFile)
	}
	f, err := filemap.OpenRegular(path, os.O_RDONLY)
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
