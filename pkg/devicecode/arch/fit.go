package arch

import "slices"

// Fit says what a device can do with an image of some target.
type Fit string

// The answers of the rules. NotGuaranteed means that NVIDIA's documents promise nothing:
// only a run on that device can tell, so it is never a pass by rule.
const (
	Native        Fit = "native"
	JIT           Fit = "jit"
	NotGuaranteed Fit = "not guaranteed"
	Unknown       Fit = "unknown" // beyond the tables of this edition
	None          Fit = "none"
)

// integrated are the capabilities of integrated (Tegra) devices, for which no
// binary compatibility is promised, neither with desktop parts of the same
// major capability nor among themselves (CUDA Programming Guide 13.x, binary
// compatibility). On 8.7 an sm_80 cubin was measured failing with error 209
// (jax pull request 40492). 10.1 and 11.0 are Thor; 12.1 (GB10) is not one of
// them.
var integrated = []Capability{{5, 3}, {6, 2}, {7, 2}, {8, 7}, {10, 1}, {11, 0}}

// families lists, per family target, the capabilities it runs on (CUDA
// Programming Guide 13.0, 10.7 from 13.4, family-specific features).
var families = map[int][]Capability{
	100: {{10, 0}, {10, 3}, {10, 7}},
	101: {{10, 1}},
	103: {{10, 3}, {10, 7}},
	107: {{10, 7}},
	110: {{11, 0}},
	120: {{12, 0}, {12, 1}},
	121: {{12, 1}},
}

// On says what a device of capability c can do with an image of target t:
// run it (sm), compile it (compute), or nothing (lto, which the driver never
// loads). It does not look at the driver's version.
func (t Target) On(c Capability) Fit {
	switch t.Class {
	case SM:
		return t.nativeOn(c)
	case Compute:
		return t.compilesFor(c)
	}
	return None
}

func (t Target) nativeOn(c Capability) Fit {
	own := t.Capability()
	switch {
	case t.renamedTo(c):
		return NotGuaranteed
	case t.Suffix != Plain:
		return t.narrowOn(c, Native)
	case own == c:
		return Native
	case own.Major != c.Major || own.Minor > c.Minor:
		return None
	case !t.Listed() || !c.Listed():
		return Unknown
	case t.Number == 88 || c == (Capability{8, 8}):
		return NotGuaranteed // a target without a listed product: exact match only
	case slices.Contains(integrated, own) || slices.Contains(integrated, c):
		return NotGuaranteed
	}
	return Native
}

func (t Target) compilesFor(c Capability) Fit {
	own := t.Capability()
	switch {
	case t.Suffix != Plain && t.renamedTo(c):
		return NotGuaranteed
	case t.Suffix != Plain:
		return t.narrowOn(c, JIT)
	case own.Major < c.Major || own.Major == c.Major && own.Minor <= c.Minor:
		return JIT
	}
	return None
}

// narrowOn gives fit on the devices that a target with a suffix is for.
func (t Target) narrowOn(c Capability, fit Fit) Fit {
	switch own := t.Capability(); {
	case t.Suffix == Specific && own == c, t.Suffix == Family && slices.Contains(families[t.Number], c):
		return fit
	case t.Suffix == Family && own.Major == c.Major && own.Minor <= c.Minor && !(t.Listed() && c.Listed()):
		return Unknown
	}
	return None
}

// renamedTo reports whether c is Thor and t names it as CUDA 12.8 and 12.9
// did: sm_101 became sm_110 in CUDA 13.0, and what an older image does there
// under a driver of 13.0 is not documented.
func (t Target) renamedTo(c Capability) bool {
	return t.Number == 101 && c == Capability{11, 0}
}
