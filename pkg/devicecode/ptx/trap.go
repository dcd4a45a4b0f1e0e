package ptx

import (
	"bytes"
	"strings"
)

// maxTrapBody bounds the body that is looked at, in bytes: one that only prints a
// message and traps is far below.
const maxTrapBody = 8 << 10

// harmless are the instructions and directives that may come before a trap: they
// compute, or write to what only this thread sees.
var harmless = map[string]bool{
	".reg": true, ".local": true, ".param": true, ".loc": true, ".pragma": true,
	"mov": true, "add": true, "sub": true, "cvta": true, "cvt": true,
}

// traps reports whether the body of an entry, without its braces, runs straight
// into a trap: no label, no predicate, no jump, nothing stored that others see,
// and no call but to printf.
func traps(body []byte) bool {
	if len(body) > maxTrapBody || !bytes.Contains(body, []byte("trap")) {
		return false
	}
	s := scanner{b: body}
	for {
		words, ok := s.statement()
		switch {
		case !ok || len(words) == 0:
			return false
		case words[0] == "trap":
			return len(words) == 1
		case !passes(words):
			return false
		}
	}
}

// statement gives the words up to the next semicolon, braces left out: a scope
// changes nothing.
func (s *scanner) statement() (words []string, ok bool) {
	for {
		tok, err := s.next()
		if err != nil || tok == nil {
			return nil, false
		}
		switch word := string(tok); word {
		case ";":
			return words, true
		case "{", "}":
		case ":":
			return nil, false // a label
		default:
			words = append(words, word)
		}
	}
}

func passes(words []string) bool {
	op, rest, _ := strings.Cut(strings.TrimPrefix(words[0], "."), ".")
	if strings.HasPrefix(words[0], ".") {
		op = "." + op
	}
	space, _, _ := strings.Cut(rest, ".")
	switch op {
	case "ld":
		return space == "param"
	case "st":
		return space == "param" || space == "local"
	case "call":
		return calls(words) == "vprintf"
	}
	return harmless[op]
}

// calls gives the name of the function of a call: the first word that is not in
// the parentheses of the result.
func calls(words []string) string {
	depth := 0
	for _, w := range words[1:] {
		switch {
		case w == "(":
			depth++
		case w == ")":
			depth--
		case depth == 0 && w != ",":
			return w
		}
	}
	return ""
}
