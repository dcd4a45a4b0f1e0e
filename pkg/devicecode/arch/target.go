// Package arch knows GPU targets: their names, and which device runs which.
package arch

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Class is the class of a target: real (machine code), virtual (PTX) or LTO
// (intermediate code for a link-time optimiser).
type Class string

// The classes, by the prefix nvcc gives them.
const (
	SM      Class = "sm"
	Compute Class = "compute"
	LTO     Class = "lto"
)

// Suffix narrows the devices a target runs on.
type Suffix string

// The suffixes of target names (PTX ISA, section "Target architectures").
const (
	Plain    Suffix = ""
	Specific Suffix = "a" // exactly this capability
	Family   Suffix = "f" // the family of this capability
)

// Target is a target such as sm_90a or compute_120f. The zero value is no
// target, printed as "".
type Target struct {
	Class  Class
	Number int // 90 for sm_90, 103 for sm_103f
	Suffix Suffix
}

// ParseTarget reads a target in nvcc's spelling.
func ParseTarget(s string) (Target, error) {
	class, rest, ok := strings.Cut(s, "_")
	t := Target{Class: Class(class)}
	if !ok || (t.Class != SM && t.Class != Compute && t.Class != LTO) {
		return Target{}, fmt.Errorf("target %q: want sm_NN, compute_NN or lto_NN", s)
	}
	if digits := strings.TrimRight(rest, "af"); len(rest)-len(digits) <= 1 {
		t.Suffix, rest = Suffix(rest[len(digits):]), digits
	}
	n, err := strconv.ParseUint(rest, 10, 16)
	if err != nil || n < 10 || n > 999 || rest[0] == '0' {
		return Target{}, fmt.Errorf("target %q: want a number of two or three digits after %q", s, class+"_")
	}
	t.Number = int(n)
	return t, nil
}

// String gives the target in nvcc's spelling.
func (t Target) String() string {
	if t == (Target{}) {
		return ""
	}
	return fmt.Sprintf("%s_%d%s", t.Class, t.Number, t.Suffix)
}

// Capability is the compute capability that the target names.
func (t Target) Capability() Capability {
	return Capability{Major: t.Number / 10, Minor: t.Number % 10}
}

// As gives the target of the same number and suffix in another class.
func (t Target) As(c Class) Target {
	t.Class = c
	return t
}

// MarshalText makes a target a string in JSON.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (t *Target) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*t = Target{}
		return nil
	}
	parsed, err := ParseTarget(string(b))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

// Compare orders targets by number and suffix, real before virtual ones.
func Compare(a, b Target) int {
	return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Suffix, b.Suffix), -cmp.Compare(a.Class, b.Class))
}
