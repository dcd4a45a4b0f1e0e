package compare

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode"
)

// Tolerance says which numbers count as equal: |got - want| is at most Atol +
// Rtol times |want|, as numpy.isclose has it. Infinities equal themselves.
type Tolerance struct {
	Rtol, Atol float64
	EqualNaN   bool // a NaN equals a NaN
}

func (t Tolerance) equal(got, want float64) bool {
	switch {
	case got == want:
		return true
	case math.IsNaN(got) || math.IsNaN(want):
		return t.EqualNaN && math.IsNaN(got) && math.IsNaN(want)
	case math.IsInf(got, 0) || math.IsInf(want, 0):
		return false
	}
	return math.Abs(got-want) <= t.Atol+t.Rtol*math.Abs(want)
}

// Difference says where got differs from want, empty where it does not. Both are
// NumPy arrays (.npy), or both are text.
func Difference(got, want []byte, t Tolerance) (string, error) {
	if isArray(want) || isArray(got) {
		return arrays(got, want, t)
	}
	return texts(got, want, t), nil
}

// texts compares words: two that are numbers by their value, others literally.
// White space separates words and does not count.
func texts(got, want []byte, t Tolerance) string {
	g, w := words{b: got, line: 1}, words{b: want, line: 1}
	for n := 1; ; n++ {
		x, y := g.next(), w.next()
		switch {
		case x == "" && y == "":
			return ""
		case x == "" || y == "":
			return fmt.Sprintf("word %d: found %s, expected %s", n, shown(x), shown(y))
		case x != y && !t.equalWords(x, y):
			return fmt.Sprintf("word %d, line %d: found %s, expected %s", n, g.line, shown(x), shown(y))
		}
	}
}

func (t Tolerance) equalWords(got, want string) bool {
	x, errX := strconv.ParseFloat(got, 64)
	y, errY := strconv.ParseFloat(want, 64)
	return errX == nil && errY == nil && t.equal(x, y)
}

func shown(word string) string {
	switch {
	case word == "":
		return "the end"
	case len(word) > 40:
		word = word[:40] + "..."
	}
	return strconv.Quote(word)
}

// words splits text, and counts its lines.
type words struct {
	b    []byte
	line int
}

func (w *words) next() string {
	start := bytes.IndexFunc(w.b, func(r rune) bool { return !unicode.IsSpace(r) })
	if start < 0 {
		w.b = nil
		return ""
	}
	w.line += bytes.Count(w.b[:start], []byte("\n"))
	w.b = w.b[start:]
	end := bytes.IndexFunc(w.b, unicode.IsSpace)
	if end < 0 {
		end = len(w.b)
	}
	word := string(w.b[:end])
	w.b = w.b[end:]
	return word
}
