package archive

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"regexp"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// encrypted is the bit of the general purpose flags that says so (APPNOTE.TXT,
// section 4.4.4).
const encrypted = 1

func (w *Walker) zip(b []byte) error {
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	r.RegisterDecompressor(zip.Deflate, flate.NewReader)
	r.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstdOptions...))
	if len(r.File) == 0 {
		return ErrEmpty
	}
	_, err = r.Open("metadata.json")
	conda := err == nil
	for _, f := range r.File {
		name, err := w.member(f.Name)
		if err != nil {
			return err
		}
		switch mode := f.Mode(); {
		case mode&fs.ModeSymlink != 0:
			w.Links++
			continue
		case !mode.IsRegular():
			continue
		}
		if err := w.zipped(f, name, b, conda && condaPart.MatchString(name)); over(err) {
			return err
		} else if err != nil {
			w.problem(name, err)
		}
	}
	return nil
}

// condaPart names the tars that a .conda package consists of (conda
// documentation, "Package naming conventions" and "File format").
var condaPart = regexp.MustCompile(`^(pkg|info)-[^/]*\.tar\.zst$`)

// zipped reads one file. What is stored as it is lies plain in b.
func (w *Walker) zipped(f *zip.File, name string, b []byte, carrier bool) error {
	if f.Flags&encrypted != 0 {
		return errors.New("it is encrypted")
	}
	off, err := f.DataOffset()
	if err != nil {
		return err
	}
	if f.Method == zip.Store && f.CompressedSize64 == f.UncompressedSize64 && !carrier {
		if room := max(int64(len(b))-off, 0); f.UncompressedSize64 > uint64(room) {
			return fmt.Errorf("it claims %d bytes, %d are there", f.UncompressedSize64, room)
		}
		content := b[off : off+int64(f.UncompressedSize64)]
		if sum := crc32.ChecksumIEEE(content); sum != f.CRC32 {
			return fmt.Errorf("its checksum is %#08x, want %#08x", sum, f.CRC32)
		}
		w.file(name, content)
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	in := io.Reader(spent{r, w.Budget})
	if carrier {
		return w.carried(in, name)
	}
	return w.stream(name, in)
}
