package fatbin

import (
	"errors"
	"fmt"
)

// FormatError is a place where a container is not as it must be.
type FormatError struct {
	Off int64 // in the reader given
	Msg string
}

func (e *FormatError) Error() string { return fmt.Sprintf("%s at offset %#x", e.Msg, e.Off) }

// ErrorOffset gives the offset of a [*FormatError], and otherwise for another
// error.
func ErrorOffset(err error, otherwise int64) int64 {
	if bad, ok := errors.AsType[*FormatError](err); ok {
		return bad.Off
	}
	return otherwise
}

func formatErrorf(off int64, format string, args ...any) *FormatError {
	return &FormatError{off, fmt.Sprintf(format, args...)}
}
