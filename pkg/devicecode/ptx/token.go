package ptx

import (
	"bytes"
	"fmt"
)

// scanner splits PTX into words (identifiers, directives, numbers), strings and
// single punctuation characters. Comments and white space are dropped.
type scanner struct {
	b     []byte
	pos   int
	marks marks
}

// next gives the next token, nil at the end of the text.
func (s *scanner) next() ([]byte, error) {
	if err := s.skip(); err != nil {
		return nil, err
	}
	if s.pos == len(s.b) {
		return nil, nil
	}
	start := s.pos
	switch c := s.b[s.pos]; {
	case isWord(c):
		for s.pos < len(s.b) && isWord(s.b[s.pos]) {
			s.pos++
		}
	case c == '"':
		if err := s.skipString(); err != nil {
			return nil, err
		}
	default:
		s.pos++
	}
	return s.b[start:s.pos], nil
}

// skip moves over white space and comments.
func (s *scanner) skip() error {
	for s.pos < len(s.b) {
		rest := s.b[s.pos:]
		switch {
		case rest[0] == ' ' || rest[0] >= '\t' && rest[0] <= '\r':
			s.pos++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			s.pos += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return fmt.Errorf("comment that begins at offset %#x does not end", s.pos)
			}
			s.pos += n + 4
		default:
			return nil
		}
	}
	return nil
}

func (s *scanner) skipString() error {
	start := s.pos
	for s.pos++; s.pos < len(s.b); s.pos++ {
		switch s.b[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			return nil
		}
	}
	s.pos = len(s.b)
	return fmt.Errorf("string that begins at offset %#x does not end", start)
}

// skipBlock moves behind the brace that closes the one just read. Most of a
// module is in blocks, so it looks for what matters there and passes over the
// rest.
func (s *scanner) skipBlock() error {
	start := s.pos - 1
	for depth := 1; depth > 0; {
		s.pos = s.marks.next(s.b, s.pos)
		if s.pos == len(s.b) {
			return fmt.Errorf("brace that opens at offset %#x is not closed", start)
		}
		switch s.b[s.pos] {
		case '{':
			depth++
			s.pos++
		case '}':
			depth--
			s.pos++
		case '"':
			if err := s.skipString(); err != nil {
				return err
			}
		default: // a comment, or a slash alone
			at := s.pos
			if err := s.skip(); err != nil {
				return err
			}
			if s.pos == at {
				s.pos++
			}
		}
	}
	return nil
}

// isWord reports whether c is part of a word. A point is: ".entry", "7.8".
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == '$' || c == '%' || c == '.'
}
