package archive

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
)

// Walk reads an archive or a compressed file; the name is that of the file. It
// may be called again for an archive inside, on a Walker of its own with the
// same budget.
func (w *Walker) Walk(b []byte, name string) {
	var err error
	switch FormatOf(b[:min(len(b), HeadSize)]) {
	case Zip:
		err = w.zip(b)
	case Tar:
		err = w.EachInTar(b, w.unpack)
	case Deb:
		err = w.deb(b)
	default:
		err = w.carried(bytes.NewReader(b), name)
	}
	if err != nil {
		w.problem("", err)
	}
}

// carried reads a compressed file, or a tar that is not: the files of a tar in
// it are given as if it were not compressed.
func (w *Walker) carried(r io.Reader, name string) error {
	in := bufio.NewReaderSize(r, HeadSize)
	head, err := in.Peek(tarBlock)
	if err != nil && err != io.EOF {
		return err
	}
	format := FormatOf(head)
	if format == Tar {
		return w.tar(in, nil, w.unpack)
	}
	out, done, err := decompress(format, in)
	if err != nil {
		return err
	}
	defer done()
	inner := bufio.NewReaderSize(spent{out, w.Budget}, HeadSize)
	head, err = inner.Peek(tarBlock)
	if err != nil && err != io.EOF {
		return err
	}
	if isTar(head) {
		err = w.tar(inner, nil, w.unpack)
	} else {
		err = w.lone(inner, name)
	}
	if err != nil {
		return err
	}
	// What is behind the files has to be there too, and ends in a checksum.
	_, err = io.Copy(io.Discard, inner)
	return err
}

// lone visits the one file that a compressed file is, named without the ending.
func (w *Walker) lone(r io.Reader, name string) error {
	base := path.Base(strings.ReplaceAll(name, "!", "/"))
	file, err := w.member(strings.TrimSuffix(base, path.Ext(base)))
	if err != nil {
		return err
	}
	return w.stream(file, r)
}

// ErrEmpty says that an archive has no members.
var ErrEmpty = errors.New("the archive is empty")
