package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Each is called for every member of a tar. Calling visit, which is for regular
// files, gives its content to the Walker's Visit if it is wanted.
type Each func(h *tar.Header, name string, visit func() error) error

// EachInTar calls each for the members of a tar, which may be compressed. One
// without members gives [ErrEmpty].
func (w *Walker) EachInTar(b []byte, each Each) error {
	format := FormatOf(b[:min(len(b), HeadSize)])
	if format == Tar || bytes.HasPrefix(b, make([]byte, 2*tarBlock)) { // an end marker is a tar too
		return w.tar(bytes.NewReader(b), b, each)
	}
	out, done, err := decompress(format, bytes.NewReader(b))
	if err != nil {
		return err
	}
	defer done()
	in := spent{out, w.Budget}
	if err := w.tar(in, nil, each); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// unpack visits the regular files.
func (w *Walker) unpack(h *tar.Header, name string, visit func() error) error {
	switch {
	case IsRegular(h):
		return visit()
	case h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeSymlink:
		w.Links++
	case !strings.ContainsRune("3456g", rune(h.Typeflag)): // devices, folders, pipes, global headers
		w.problem(name, fmt.Errorf("a tar member of type %q is not known", h.Typeflag))
	}
	return nil
}

// IsRegular reports whether a member is a regular file.
func IsRegular(h *tar.Header) bool {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		return true
	}
	return false
}

// tar reads the members of a tar. Where its bytes lie plain in memory, so do its
// files.
func (w *Walker) tar(r io.Reader, plain []byte, each Each) error {
	in := &counted{r: r}
	t := tar.NewReader(in)
	members, end := 0, int64(0) // end is that of the last member's content
	for {
		h, err := t.Next()
		if err == io.EOF {
			return checkEnd(members, in.n, end)
		}
		if err != nil && err != tar.ErrInsecurePath {
			return fmt.Errorf("tar: member %d: %w", members+1, err)
		}
		name, err := w.member(h.Name)
		if err != nil {
			return err
		}
		members++
		end = in.n
		if IsRegular(h) && !isSparse(h) {
			end += h.Size
		}
		start := in.n
		err = each(h, name, func() error {
			if plain != nil && !isSparse(h) && end <= int64(len(plain)) {
				w.file(name, plain[start:end])
				return nil
			}
			return w.stream(name, t)
		})
		if err != nil {
			return fmt.Errorf("tar: %s: %w", name, err)
		}
	}
}

// checkEnd wants the end marker, blocks of zeroes behind the last member:
// without it a tar that was cut off between two members looks whole.
func checkEnd(members int, read, end int64) error {
	switch {
	case read <= (end+tarBlock-1)/tarBlock*tarBlock:
		return errors.New("tar: it ends without an end marker: was it cut off?")
	case members == 0:
		return ErrEmpty
	}
	return nil
}

// isSparse reports whether a file has holes, which the tar leaves out.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

type counted struct {
	r io.Reader
	n int64 // bytes read
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// FirstName gives the name of the first member of a tar, which may be compressed,
// empty for anything else.
func FirstName(b []byte) string {
	var r io.Reader = bytes.NewReader(b)
	if format := FormatOf(b[:min(len(b), HeadSize)]); format != Tar {
		out, done, err := decompress(format, r)
		if err != nil {
			return ""
		}
		defer done()
		r = io.LimitReader(out, HeadSize)
	}
	h, err := tar.NewReader(r).Next()
	if err != nil {
		return ""
	}
	return h.Name
}

// Layout gives the regular files of a tar that is not compressed, where they
// lie in b, and its links by name. It is for tars that are read as a file
// system.
func (w *Walker) Layout(b []byte) (files map[string][]byte, links map[string]string, err error) {
	files, links = map[string][]byte{}, map[string]string{}
	in := Walker{
		Budget: w.Budget,
		Want:   func(string, []byte) bool { return true },
		Visit:  func(name string, content []byte) { files[name] = content },
	}
	err = in.tar(bytes.NewReader(b), b, func(h *tar.Header, name string, visit func() error) error {
		switch {
		case h.Typeflag == tar.TypeSymlink:
			links[name] = path.Join(path.Dir(name), h.Linkname)
		case h.Typeflag == tar.TypeLink:
			links[name] = path.Clean("/" + h.Linkname)[1:]
		case IsRegular(h) && !isSparse(h):
			return visit()
		}
		return nil
	})
	w.Problems = append(w.Problems, in.Problems...)
	return files, links, err
}
