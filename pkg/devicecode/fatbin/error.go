package fatbin

import "fmt"

// FormatError is a place where a container is not as it must be.
type FormatError struct {
	Off int64 // in the reader given
	Msg string
}

func (e *FormatError) Error() string { return fmt.Sprintf("%s at offset %#x", e.Msg, e.Off) }

func formatErrorf(off int64, format string, args ...any) *FormatError {
	return &FormatError{off, fmt.Sprintf(format, args...)}
}
