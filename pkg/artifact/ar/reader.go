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
	namesName   = "//"      // the table of long names

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
	l := library{r: r, size: size, thin: string(magic) == ThinMagic, headers: make(map[int64]bool)}
	if !l.thin && string(magic) != Magic {
		return nil, fmt.Errorf("no static library: begins with %q", magic)
	}
	for off := int64(len(Magic)); off < size; {
		next, err := l.readMember(off)
		if err != nil {
			return l.members, err
		}
		off = next
	}
	if l.index != nil {
		return l.members, checkIndex(r, *l.index, l.headers)
	}
	return l.members, nil
}

// library is a static library as far as it was read.
type library struct {
	r       io.ReaderAt
	size    int64
	thin    bool
	members []Member
	names   []byte         // the table of long names
	index   *Member        // the symbol index, nil where there is none
	headers map[int64]bool // offsets of all member headers
}

// readMember reads the member whose header is at off, and gives the offset of
// the next header. In a thin library only the tables have content.
func (l *library) readMember(off int64) (next int64, err error) {
	m, err := readHeader(l.r, off, l.size)
	if err != nil {
		return 0, err
	}
	l.headers[off] = true
	next = m.Offset
	table := m.Name == indexName || m.Name == index64Name || m.Name == namesName
	if table || !l.thin {
		if m.Size > l.size-m.Offset {
			return 0, fmt.Errorf("member %q at offset %#x claims %d bytes, %d are there", m.Name, off, m.Size, l.size-m.Offset)
		}
		next += m.Size + m.Size&1
	}
	switch {
	case m.Name == namesName:
		l.names, err = readNames(l.r, m)
	case table:
		l.index = &m
	default:
		err = l.addFile(m)
	}
	return next, err
}

func (l *library) addFile(m Member) error {
	name, err := longName(m.Name, l.names)
	if err != nil {
		return fmt.Errorf("member at offset %#x: %w", m.Offset-headerSize, err)
	}
	m.Name = name
	if l.thin {
		m.Offset = 0
	}
	l.members = append(l.members, m)
	return nil
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
