package manifest

import (
	"fmt"
	"strings"
)

// Error is one mistake in a manifest.
type Error struct {
	Path   string // of the manifest, as the caller named it
	Line   int    // from 1; 0 when the file as a whole is meant
	Column int    // from 1, in characters; 0 when only the line is known
	Text   string // what was found and what was expected
}

// Error gives "cudaproof.yaml:12:5: text".
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.Path, e.Text)
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Text)
}

// Errors are all mistakes of a manifest in the order of their positions. It is
// the only type of error that [Load] and [Parse] return.
type Errors []*Error

// Error gives one mistake per line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}
