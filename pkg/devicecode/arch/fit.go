package arch

import "slices"

// Fit says what a device can do with an image of some target.
type Fit string

// The answers. NotGuaranteed means that NVIDIA's documents promise nothing:
// only a run on that device can tell, so it is never a pass by rule.
const (
	Native        Fit = "native"
	JIT           Fit = "jit"
	NotGuaranteed Fit = "not guaranteed"
	None          Fit = "none"
)

// integrated are the capabilities of integrated (Tegra) devices whose machine
// code is not promised to be compatible with that of desktop parts of the same
// major capability (CUDA Programming Guide 13.x, binary compatibility). On 8.7
// an sm_80 cubin was measured failing with error 209 (jax pull request 40492).
var integrated = []Capability{{5, 3}, {6, 2}, {7, 2}, {8, 7}}

// families lists, per family target, the capabilities it runs on (CUDA
// Programming Guide 13.0, 10.7 from 13.4, family-specific features).
var families = map[int][]Capability{
	100: {{10, 0}, {10, 3}, {10, 7}},
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
		if t.compilesFor(c) {
			return JIT
		}
	}
	return None
}

func (t Target) nativeOn(c Capability) Fit {
	own := t.Capability()
	switch {
	case t.Number == 101:
		// Renamed to sm_110 in CUDA 13.0. What such a cubin does on Thor under
		// a driver of 13.0 is not documented.
		if c == (Capability{10, 1}) {
			return Native
		}
		if c == (Capability{11, 0}) {
			return NotGuaranteed
		}
		return None
	case own == c:
		return Native
	case t.Suffix == Specific:
		return None
	case t.Suffix == Family:
		if slices.Contains(families[t.Number], c) {
			return Native
		}
		return None
	case own.Major != c.Major || own.Minor > c.Minor:
		return None
	case t.Number == 88 || c == (Capability{8, 8}):
		return NotGuaranteed // a target without a listed product: exact match only
	case slices.Contains(integrated, own) || slices.Contains(integrated, c):
		return NotGuaranteed
	}
	return Native
}

func (t Target) compilesFor(c Capability) bool {
	own := t.Capability()
	switch t.Suffix {
	case Specific:
		return own == c
	case Family:
		return slices.Contains(families[t.Number], c)
	}
	return own.Major < c.Major || own.Major == c.Major && own.Minor <= c.Minor
}
