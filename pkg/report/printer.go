package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// columns is the width that text is wrapped to.
const columns = 100

// Style says how text may be decorated.
type Style struct {
	Color bool // ANSI colours: only for a terminal, and never with NO_COLOR
}

// printer writes wrapped, escaped lines and keeps the first error.
type printer struct {
	w     io.Writer
	style Style
	err   error
}

// line writes one line as it is, made inert.
func (p *printer) line(s string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, inert(strings.TrimRight(s, " ")))
	}
}

// title writes a section's heading.
func (p *printer) title(s string) {
	p.line("")
	p.line(p.paint("1", s))
}

// text writes untrusted text, wrapped and indented by so many spaces. Line
// breaks in it are kept, which compiler messages need.
func (p *printer) text(indent int, first, s string) {
	lead := strings.Repeat(" ", indent) + first
	rest := strings.Repeat(" ", utf8.RuneCountInString(lead))
	for paragraph := range strings.SplitSeq(escape(s, true), "\n") {
		for _, l := range wrap(paragraph, columns-len(rest)) {
			p.line(lead + l)
			lead = rest
		}
	}
}

// paint colours text with an SGR code.
func (p *printer) paint(code, s string) string {
	if !p.style.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// wrap breaks text at spaces into lines of at most width characters; a word
// that is longer stands alone.
func wrap(s string, width int) []string {
	if utf8.RuneCountInString(s) <= width {
		return []string{s}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
