package ptx

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// Module is what a PTX text says of itself.
type Module struct {
	Major, Minor int         // PTX ISA version, of .version
	Target       arch.Target // of .target, always of class compute
	Kernels      []string    // mangled names of the .entry functions that have a body, in the text's order
	Traps        []string    // those kernels whose body runs straight into a trap, after at most a message
	Functions    int         // .func that have a body
	Variables    int         // .global and .const variables that are not .extern
}

// Is reports whether b begins as PTX does: comments, then .version.
func Is(b []byte) bool {
	s := scanner{b: b}
	tok, err := s.next()
	return err == nil && string(tok) == ".version"
}

// Begins reports whether b begins with .version and a number, followed by
// .target: so PTX text among other data is told from a mention of .version.
func Begins(b []byte) bool {
	s := scanner{b: b}
	var words [3]string
	for i := range words {
		tok, err := s.next()
		if err != nil {
			return false
		}
		words[i] = string(tok)
	}
	major, _, ok := strings.Cut(words[1], ".")
	_, err := strconv.ParseUint(major, 10, 8)
	return words[0] == ".version" && ok && err == nil && words[2] == ".target"
}

// Read reads the text of b up to its first NUL. The errors name offsets in b.
func Read(b []byte) (*Module, error) {
	m, _, err := read(b, false)
	return m, err
}

// ReadEmbedded reads a text that begins b, where nothing need tell its end: a
// string constant without a NUL is followed by whatever comes next. The text
// ends where no statement of a module can go on. Size is its length in bytes;
// with an error, that of what was looked at.
func ReadEmbedded(b []byte) (m *Module, size int, err error) { return read(b, true) }

func read(b []byte, embedded bool) (*Module, int, error) {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	m, r := &Module{}, reader{scanner: scanner{b: b}}
	end := 0 // of the last token
	for {
		tok, err := r.next()
		if err != nil && embedded && r.betweenStatements() && !r.directiveOpen {
			break // an open string or comment of whatever comes next
		}
		if err != nil {
			return nil, len(b), err
		}
		if tok == nil || embedded && r.isOver(m, tok, end) {
			break
		}
		if err := r.token(m, tok); err != nil {
			return nil, len(b), err
		}
		end = r.pos
	}
	if err := r.check(m); err != nil {
		return nil, end, err
	}
	return m, end, nil
}

// isOver reports whether tok, just read, cannot go on the module: a statement
// begins with a directive, and what follows one without semicolon or body is on
// its line. A second .version begins the next module.
func (r *reader) isOver(m *Module, tok []byte, end int) bool {
	if !r.betweenStatements() || tok[0] == '{' && r.directiveOpen {
		return false
	}
	if tok[0] == '.' {
		return m.Major != 0 && string(tok) == ".version"
	}
	sameLine := bytes.IndexByte(r.b[end:r.pos-len(tok)], '\n') < 0
	return !r.directiveOpen || !sameLine && tok[0] != ';'
}

func (r *reader) betweenStatements() bool {
	return r.paren == 0 && r.statement == none && !r.external
}

// check refuses a text that ends where no module can.
func (r *reader) check(m *Module) error {
	switch {
	case m.Major == 0:
		return errors.New("PTX without .version")
	case m.Target == (arch.Target{}):
		return errors.New("PTX without .target")
	case !r.betweenStatements():
		return errors.New("PTX ends within a statement")
	}
	return nil
}

// kind is what the statement being read declares.
type kind int

const (
	none kind = iota
	entry
	function
	variable
)

// reader follows the statements at module scope.
type reader struct {
	scanner
	statement kind
	external  bool   // .extern was seen in it
	name      string // of the kernel
	paren     int    // depth of parentheses: parameter lists hold .global too
	// directiveOpen says that a directive was read and neither a semicolon nor a
	// body since.
	directiveOpen bool
}

// token takes one token at module scope.
func (r *reader) token(m *Module, tok []byte) error {
	switch tok[0] {
	case '(':
		r.paren++
		return nil
	case ')':
		if r.paren--; r.paren < 0 {
			return fmt.Errorf("parenthesis at offset %#x was not opened", r.pos-1)
		}
		return nil
	case '{':
		return r.block(m)
	case '}':
		return fmt.Errorf("brace at offset %#x was not opened", r.pos-1)
	case ';':
		if r.paren > 0 {
			return fmt.Errorf("semicolon at offset %#x within parentheses", r.pos-1)
		}
		r.end(m)
		return nil
	}
	if r.paren > 0 || r.statement != none {
		return nil
	}
	return r.directive(m, string(tok))
}

func (r *reader) directive(m *Module, word string) error {
	if word[0] == '.' {
		r.directiveOpen = true
	}
	switch word {
	case ".version":
		return r.version(m)
	case ".target":
		return r.target(m)
	case ".extern":
		r.external = true
	case ".func":
		r.statement = function
	case ".global", ".const":
		r.statement = variable
	case ".entry":
		name, err := r.next()
		if err != nil {
			return err
		}
		if name == nil || !isWord(name[0]) {
			return fmt.Errorf(".entry at offset %#x: want a name, found %q", r.pos, name)
		}
		r.statement, r.name = entry, string(name)
	}
	return nil
}

// block skips a body or an initialiser. A function's body ends its statement.
func (r *reader) block(m *Module) error {
	start := r.pos
	if err := r.skipBlock(); err != nil {
		return err
	}
	switch r.statement {
	case entry:
		m.Kernels = append(m.Kernels, r.name)
		if traps(r.b[start : r.pos-1]) {
			m.Traps = append(m.Traps, r.name)
		}
	case function:
		m.Functions++
	case variable:
		return nil // up to its semicolon
	}
	r.statement, r.external, r.directiveOpen = none, false, false
	return nil
}

// end ends a statement at its semicolon.
func (r *reader) end(m *Module) {
	if r.statement == variable && !r.external {
		m.Variables++
	}
	r.statement, r.external, r.directiveOpen = none, false, false
}

func (r *reader) version(m *Module) error {
	tok, err := r.next()
	if err != nil {
		return err
	}
	major, minor, _ := strings.Cut(string(tok), ".")
	x, errX := strconv.ParseUint(major, 10, 8)
	y, errY := strconv.ParseUint(minor, 10, 8)
	if errX != nil || errY != nil || x == 0 {
		return fmt.Errorf(".version at offset %#x: want a number such as 9.0, found %q", r.pos, tok)
	}
	if m.Major != 0 {
		return fmt.Errorf("second .version at offset %#x: more than one module in a text is not read", r.pos)
	}
	m.Major, m.Minor = int(x), int(y)
	return nil
}

func (r *reader) target(m *Module) error {
	tok, err := r.next()
	if err != nil {
		return err
	}
	t, err := arch.ParseTarget(string(tok))
	if err != nil || t.Class == arch.LTO {
		return fmt.Errorf(".target at offset %#x: want sm_NN or compute_NN, found %q", r.pos, tok)
	}
	if m.Target != (arch.Target{}) {
		return fmt.Errorf("second .target at offset %#x: more than one target in a text is not read", r.pos)
	}
	m.Target = t.As(arch.Compute)
	return nil
}
