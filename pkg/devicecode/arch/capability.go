package arch

import (
	"fmt"
	"strconv"
	"strings"
)

// Capability is a compute capability, 9.0 or 12.1.
type Capability struct{ Major, Minor int }

// ParseCapability reads "9.0". Only one digit may follow the point.
func ParseCapability(s string) (Capability, error) {
	major, minor, ok := strings.Cut(s, ".")
	x, errX := strconv.ParseUint(major, 10, 8)
	y, errY := strconv.ParseUint(minor, 10, 8)
	if !ok || errX != nil || errY != nil || x == 0 || major[0] == '0' || len(minor) != 1 {
		return Capability{}, fmt.Errorf("compute capability %q: want major.minor, such as 9.0", s)
	}
	return Capability{int(x), int(y)}, nil
}

// String gives the capability as NVIDIA writes it.
func (c Capability) String() string { return fmt.Sprintf("%d.%d", c.Major, c.Minor) }

// Target is the target of that class that names exactly this capability.
func (c Capability) Target(class Class) Target {
	return Target{Class: class, Number: c.Major*10 + c.Minor}
}

// MarshalText makes a capability a string in JSON.
func (c Capability) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Capability) UnmarshalText(b []byte) error {
	parsed, err := ParseCapability(string(b))
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}
