package devicecode

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Name demangles the name of a kernel: its qualified name without return type
// and parameters, as "ns::saxpy<float>", white space as [NormalizeName] leaves
// it. A name that does not demangle is given as it is.
func Name(mangled string) string {
	name, err := demangle.ToString(mangled, demangle.NoParams, demangle.MaxLength(maxNameBits))
	if err != nil {
		return mangled
	}
	return NormalizeName(name)
}

// maxNameBits bounds a demangled name to 1 << maxNameBits bytes: a short
// mangled name can stand for a huge one.
const maxNameBits = 16

// NormalizeName puts the white space of a C++ name into one form: one space
// after a comma and between two words, none elsewhere. Names are compared in
// this form.
func NormalizeName(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	last := byte(0)
	for _, word := range strings.Fields(name) {
		for i := range len(word) {
			c := word[i]
			if last == ',' || i == 0 && isNameByte(last) && isNameByte(c) {
				b.WriteByte(' ')
			}
			b.WriteByte(c)
			last = c
		}
	}
	return b.String()
}

// isNameByte reports whether c is part of a word: a letter, a digit, or a byte
// of a letter beyond ASCII.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == '$' || c >= 0x80
}
