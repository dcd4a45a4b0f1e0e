package fatbin

import (
	"errors"
	"fmt"
)

// FormatError is a place where a container is not as it must be.
type FormatError struct {
	Off int64 // in the bytes given
	Msg string
}

func (e *FormatError) Error() string { return fmt.Sprintf("%s at offset %#x", e.Msg, e.Off) }

// Where gives the offset of a [*FormatError] and what it says of that place; for
// another error, the offset given and its text.
func Where(err error, otherwise int64) (off int64, text string) {
	if bad, ok := errors.AsType[*FormatError](err); ok {
		return bad.Off, bad.Msg
	}
	return otherwise, err.Error()
}

func formatErrorf(off int64, format string, args ...any) *FormatError {
	return &FormatError{off, fmt.Sprintf(format, args...)}
}
