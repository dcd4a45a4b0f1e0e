package manifest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

// argument reads text that may be empty, as in an argument vector. A number
// must be quoted: what YAML makes of 1.10 is not what was typed.
func (d *decoder) argument(n *yaml.Node, where string) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		d.wrong(n, where, "text")
	case n.Tag != "!!str":
		d.wrong(n, where, fmt.Sprintf("text: write %q in quotes", n.Value))
	case strings.ContainsRune(n.Value, 0):
		d.wrong(n, where, "text without a zero byte")
	default:
		return n.Value, true
	}
	return "", false
}

// text reads text that is not blank.
func (d *decoder) text(n *yaml.Node, where string) (string, bool) {
	s, ok := d.argument(n, where)
	if ok && strings.TrimSpace(s) == "" {
		d.wrong(n, where, "text that is not blank")
		return "", false
	}
	return s, ok
}

// line reads one line of printable text.
func (d *decoder) line(n *yaml.Node, where string) (string, bool) {
	s, ok := d.text(n, where)
	if ok && strings.ContainsFunc(s, unicode.IsControl) {
		d.wrong(n, where, "one line without control characters")
		return "", false
	}
	return s, ok
}

// Names become parts of file names in the evidence.
var safeName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)

func (d *decoder) name(n *yaml.Node, where string) (string, bool) {
	s, ok := d.text(n, where)
	if ok && !safeName.MatchString(s) {
		d.wrong(n, where, "at most 100 letters, digits, '.', '_' and '-', not beginning with '.' or '-'")
		return "", false
	}
	return s, ok
}

func (d *decoder) truth(n *yaml.Node, where string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		d.wrong(n, where, "true or false")
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// number reads a decimal number from 0 to most.
func (d *decoder) number(n *yaml.Node, where string, most int) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v < 0 || v > most {
		d.wrong(n, where, fmt.Sprintf("a number from 0 to %d", most))
		return 0
	}
	return v
}

func (d *decoder) duration(n *yaml.Node, where string) time.Duration {
	v, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || err != nil || v <= 0 {
		d.wrong(n, where, "a time above zero, such as 90s or 5m")
		return 0
	}
	return v
}

// inside reads the path of a file or folder that is written to: relative and
// below the manifest's folder. It is given cleaned.
func (d *decoder) inside(n *yaml.Node, where string) (string, bool) {
	s, ok := d.text(n, where)
	if !ok {
		return "", false
	}
	if len(s) > maxPattern || !filepath.IsLocal(s) || filepath.Clean(s) == "." {
		d.wrong(n, where, "a relative path below the manifest's folder")
		return "", false
	}
	return d.m.Rel(s), true
}
