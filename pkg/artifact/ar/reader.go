// Package ar reads static libraries in the format of GNU ar.
package ar

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The first bytes of a static library, and of a thin one, which only names
// files outside itself.
const (
	Magic     = "!<arch>\n"
	ThinMagic = "!<thin>\n"
)

const (
	headerSize = 60
	headerEnd  = "`\n"

	indexName   = "/"       // the symbol index
	index64Name = "/SYM64/" // the symbol index with offsets of 8 bytes

	// maxNames bounds the table of long names, in bytes.
	maxNames = 64 << 20
)

// Member is one file of the library.
type Member struct {
	Name   string
	Offset int64 // of its first byte in the library; 0 in a thin one
	Size   int64
}

// Members lists the files of a library, the symbol index left out. In a thin
// library the files lie outside. An error comes with the members before the
// damage. Every member that the index names must be there: a library that was
// cut off between two members shows by that alone, if the lost ones define any
// symbols.
func Members(r io.ReaderAt, size int64) ([]Member, error) {
	magic := make([]byte, len(Magic))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), magic); err != nil {
		return nil, fmt.Errorf("static library is shorter than its magic of %d bytes", len(Magic))
	}
	thin := string(magic) == ThinMagic
	if !thin && string(magic) != Magic {
		return nil, fmt.Errorf("no static library: begins with %q", magic)
	}
	var members []Member
	var names []byte
	var index *Member
	headers := make(map[int64]bool)
	for off := int64(len(Magic)); off < size; {
		m, err := readHeader(r, off, size)
		if err != nil {
			return members, err
		}
		next := m.Offset
		headers[off] = true
		special := m.Name == indexName || m.Name == index64Name || m.Name == "//"
		if special || !thin {
			if m.Size > size-m.Offset {
				return members, fmt.Errorf("member %q at offset %#x claims %d bytes, %d are there", m.Name, off, m.Size, size-m.Offset)
			}
			next += m.Size + m.Size&1
		}
		off = next
		switch {
		case m.Name == "//":
			if names, err = readNames(r, m); err != nil {
				return members, err
			}
		case special:
			index = &m
		default:
			if m.Name, err = longName(m.Name, names); err != nil {
				return members, fmt.Errorf("member at offset %#x: %w", m.Offset-headerSize, err)
			}
			if thin {
				m.Offset = 0
			}
			members = append(members, m)
		}
	}
	if index != nil {
		return members, checkIndex(r, *index, headers)
	}
	return members, nil
}

func readHeader(r io.ReaderAt, off, size int64) (Member, error) {
	var h [headerSize]byte
	if size-off < headerSize {
		return Member{}, fmt.Errorf("member header at offset %#x is cut off", off)
	}
	if _, err := r.ReadAt(h[:], off); err != nil && err != io.EOF {
		return Member{}, err
	}
	if string(h[58:]) != headerEnd {
		return Member{}, fmt.Errorf("no member header at offset %#x: ends in %q, want %q", off, h[58:], headerEnd)
	}
	n, err := strconv.ParseInt(strings.TrimRight(string(h[48:58]), " "), 10, 64)
	if err != nil || n < 0 {
		return Member{}, fmt.Errorf("member header at offset %#x: size %q is not a number", off, h[48:58])
	}
	return Member{Name: strings.TrimRight(string(h[:16]), " "), Offset: off + headerSize, Size: n}, nil
}

func readNames(r io.ReaderAt, m Member) ([]byte, error) {
	if m.Size > maxNames {
		return nil, fmt.Errorf("table of long names at offset %#x has %d bytes, at most %d are read", m.Offset, m.Size, maxNames)
	}
	names := make([]byte, m.Size)
	if n, err := r.ReadAt(names, m.Offset); n < len(names) {
		return nil, err
	}
	return names, nil
}

// longName resolves "/123" by the table of long names and takes the slash from
// a short name.
func longName(name string, names []byte) (string, error) {
	if strings.HasPrefix(name, "#1/") {
		return "", fmt.Errorf("name %q is in the format of BSD ar, which is not read", name)
	}
	at, ok := strings.CutPrefix(name, "/")
	if !ok {
		return strings.TrimSuffix(name, "/"), nil
	}
	n, err := strconv.ParseUint(at, 10, 32)
	if err != nil || n >= uint64(len(names)) {
		return "", fmt.Errorf("name %q is not in the table of long names, which has %d bytes", name, len(names))
	}
	long, _, ok := bytes.Cut(names[n:], []byte("/\n"))
	if !ok {
		return "", fmt.Errorf("name %q does not end in the table of long names", name)
	}
	return string(long), nil
}
