package archive

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Walker reads the regular files of archives. Want and Visit are called for one
// file after another, from the goroutine that calls Walk.
type Walker struct {
	Budget *Budget
	// Want tells from the name and the first bytes, at most [HeadSize], whether a
	// file is to be visited.
	Want func(name string, head []byte) bool
	// Visit gets the content of a file, good until it returns.
	Visit func(name string, content []byte)

	Problems []Problem
	// Others counts the regular files that were not wanted, Links the symbolic
	// and hard links: a link is not followed, its target is a file of its own.
	Others, Links int

	seen   map[string]bool
	buffer []byte
}

// HeadSize is how much of a file Want gets to see, in bytes.
const HeadSize = 64 << 10

// Problem is what is wrong with an archive or a file in it.
type Problem struct {
	Member string // empty for the archive as a whole
	Text   string
}

// Budget bounds what is unpacked by all walks that share it.
type Budget struct {
	Bytes int64 // decompressed
	Files int64 // members of any kind
}

// NewBudget gives the budget for an archive of a size in bytes: a hundred times
// that and 4 GiB, and a million files. Compressed device code is below ten.
func NewBudget(size int64) *Budget { return &Budget{Bytes: 4<<30 + 100*size, Files: 1 << 20} }

var (
	errTooLarge = errors.New("unpacks to more than is read of an archive of this size: a bomb?")
	errTooMany  = errors.New("more files than are read of one archive")
)

func (w *Walker) problem(member string, err error) {
	w.Problems = append(w.Problems, Problem{member, err.Error()})
}

// over reports whether an error says that the budget is used up, which ends a
// walk.
func over(err error) bool { return errors.Is(err, errTooLarge) || errors.Is(err, errTooMany) }

// member checks the name of a member and counts it.
func (w *Walker) member(raw string) (name string, err error) {
	if w.Budget.Files--; w.Budget.Files < 0 {
		return raw, errTooMany
	}
	name = path.Clean("/" + raw)[1:]
	switch {
	case strings.Contains(raw, "\x00"):
		w.problem(name, errors.New("its name holds a zero byte"))
	case path.IsAbs(raw):
		w.problem(name, fmt.Errorf("its name %q is absolute", raw))
	case leaves(raw):
		w.problem(name, fmt.Errorf("its name %q leads out of the archive", raw))
	}
	return name, nil
}

func leaves(name string) bool {
	clean := path.Clean(name)
	return clean == ".." || strings.HasPrefix(clean, "../")
}

// duplicate notes the name of a file. An unpacker keeps the last of two.
func (w *Walker) duplicate(name string) {
	if w.seen == nil {
		w.seen = make(map[string]bool)
	}
	if w.seen[name] {
		w.problem(name, errors.New("two files of this name are in the archive"))
	}
	w.seen[name] = true
}

// file visits a regular file whose content lies plain in memory.
func (w *Walker) file(name string, content []byte) {
	w.duplicate(name)
	if !w.Want(name, content[:min(len(content), HeadSize)]) {
		w.Others++
		return
	}
	w.Visit(name, content)
}

// stream visits a regular file that is read from r. An error is that of the
// budget or of r.
func (w *Walker) stream(name string, r io.Reader) error {
	w.duplicate(name)
	head := make([]byte, HeadSize)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if !w.Want(name, head[:n]) {
		w.Others++
		return nil
	}
	content, release, err := w.content(head[:n], r)
	if err != nil {
		return err
	}
	defer release()
	w.Visit(name, content)
	return nil
}
