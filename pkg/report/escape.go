package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape makes untrusted text (file names, kernel names, program output) safe
// to print: control and formatting characters and invalid UTF-8 become \x or \u
// escapes, except line breaks and tabs where lines are kept.
func escape(s string, keepLines bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case keepLines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inert keeps a line of output from being taken as a workflow command by a CI
// runner: GitHub trims a line and looks for "::" at its start, and for "##["
// anywhere.
func inert(line string) string {
	line = strings.ReplaceAll(line, "##[", `#\x23[`)
	if rest := strings.TrimLeft(line, " \t"); strings.HasPrefix(rest, "::") {
		line = line[:len(line)-len(rest)] + `\x3a` + rest[1:]
	}
	return line
}

// Plain makes untrusted text of several lines safe to print.
func Plain(s string) string {
	lines := strings.Split(escape(s, true), "\n")
	for i, line := range lines {
		lines[i] = inert(line)
	}
	return strings.Join(lines, "\n")
}
