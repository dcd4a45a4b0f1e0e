package archive

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact/ar"
)

// Format is the format of an archive or a compressed file.
type Format string

// The formats that are read.
const (
	Zip   Format = "zip"
	Tar   Format = "tar"
	Gzip  Format = "gzip"
	Xz    Format = "xz"
	Zstd  Format = "zstd"
	Bzip2 Format = "bzip2"
	Deb   Format = "Debian package"
)

// debFirst is the first member of a Debian package (deb(5)).
const debFirst = "debian-binary"

// FormatOf tells the format by the first bytes of a file; empty for no archive.
func FormatOf(head []byte) Format {
	for magic, format := range map[string]Format{
		"PK\x03\x04":        Zip,
		"PK\x05\x06":        Zip, // without files
		"\x1f\x8b\x08":      Gzip,
		"\xfd7zXZ\x00":      Xz,
		"\x28\xb5\x2f\xfd":  Zstd,
		ar.Magic + debFirst: Deb,
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return format
		}
	}
	switch {
	case bzip2Magic.Match(head[:min(len(head), 10)]):
		return Bzip2
	case isTar(head):
		return Tar
	}
	return ""
}

// bzip2Magic is the block size and the first block's magic, or that of the end.
var bzip2Magic = regexp.MustCompile(`^BZh[1-9](1AY&SY|\x17rE8P\x90)`)

const (
	tarBlock    = 512
	tarChecksum = 148 // offset of the 8 bytes of the checksum
)

// isTar reports whether a tar header begins b: its checksum is the sum of its
// bytes, with blanks for the checksum itself (POSIX, pax, "ustar Interchange
// Format").
func isTar(b []byte) bool {
	if len(b) < tarBlock {
		return false
	}
	field := strings.Trim(string(b[tarChecksum:tarChecksum+8]), " \x00")
	want, err := strconv.ParseInt(field, 8, 32)
	sum := int64(8 * ' ')
	for i, c := range b[:tarBlock] {
		if i < tarChecksum || i >= tarChecksum+8 {
			sum += int64(c)
		}
	}
	return err == nil && sum == want
}
