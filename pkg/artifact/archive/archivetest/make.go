// Package archivetest makes archives for tests. What cannot be made is a
// mistake of the test, and panics.
package archivetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
)

// Must gives v, and panics on an error.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Tar makes a tar of members and the contents of the regular files among them.
func Tar(headers []tar.Header, contents ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			panic(err)
		}
		if h.Typeflag == tar.TypeReg {
			Must(io.WriteString(w, contents[0]))
			contents = contents[1:]
		}
	}
	Close(w)
	return b.Bytes()
}

// Gzip compresses b.
func Gzip(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	Must(w.Write(b))
	Close(w)
	return out.Bytes()
}

// Close finishes an archive.
func Close(w io.Closer) {
	if err := w.Close(); err != nil {
		panic(err)
	}
}
