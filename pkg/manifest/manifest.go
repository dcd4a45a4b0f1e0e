// Package manifest reads cudaproof.yaml, checks it, and gives validated
// values. It is the only package that knows the YAML library.
package manifest

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// Manifest is a checked manifest of version 1. Paths are as written, relative
// to Dir and slash-separated; [Manifest.Abs] resolves them.
type Manifest struct {
	Path   string // of the manifest file, absolute
	Dir    string // its folder, absolute
	SHA256 string // of the manifest file
	Size   int64  // of the manifest file, in bytes

	Project     string
	Toolkit     Toolkit
	Require     Require
	Build       []Build
	Artifacts   []Artifact
	ThirdParty  []ThirdParty
	EntryPoints []EntryPoint
	Evidence    Evidence
}

// Toolkit names the CUDA compiler.
type Toolkit struct {
	NVCC string // path or name; empty: $CUDA_HOME/bin/nvcc, then PATH
}

// Require says what every artifact must hold.
type Require struct {
	PresentDevices bool              // "device": every device present must be covered
	Devices        []arch.Capability // capabilities that every kernel must be covered on
	Native         []arch.Target     // exact targets wanted as SASS
	PTX            []arch.Target     // exact targets wanted as PTX
	MinDriver      arch.Driver       // the oldest driver that everything must run with; zero: any that is new enough
	Host           []string          // machines of the host code, as `uname -m` says them
}

// Capabilities gives those that every kernel must be covered on, sorted, given
// those of the devices present.
func (r Require) Capabilities(present []arch.Capability) []arch.Capability {
	want := slices.Clone(r.Devices)
	if r.PresentDevices {
		want = append(want, present...)
	}
	slices.SortFunc(want, arch.Capability.Compare)
	return slices.Compact(want)
}

// BuildKind is the kind of a build's product.
type BuildKind string

// The kinds of builds. External runs a command that builds by itself.
const (
	Executable BuildKind = "executable"
	Shared     BuildKind = "shared"
	Static     BuildKind = "static"
	External   BuildKind = "external"
)

// Build is one thing to compile.
type Build struct {
	Name    string
	Kind    BuildKind
	Sources []string  // globs already expanded, sorted
	Gencode []Gencode // empty: from Require and the devices present
	Flags   []string
	RDC     bool
	Output  string   // empty for External
	Command []string // External only
}

// Gencode is one -gencode argument of nvcc.
type Gencode struct {
	Arch arch.Target
	Code []arch.Target
}

// Artifact is a pattern of final files.
type Artifact struct {
	Path    string // path or glob
	Kernels KernelRules
}

// KernelRules are demands on the kernels of one artifact.
type KernelRules struct {
	Require []KernelPattern // each must match a kernel that is there
	// MinLaunched is how many of a hundred kernels the native runs must launch.
	MinLaunched int
	Without     []Waiver
}

// Waiver lets kernels be missing for devices.
type Waiver struct {
	KernelPattern
	Devices []arch.Capability
	Reason  string
}

// For reports whether the waiver is for a device.
func (w Waiver) For(c arch.Capability) bool { return slices.Contains(w.Devices, c) }

// KernelPattern names kernels; exactly one field is set.
type KernelPattern struct {
	Name    string // qualified name without return type and parameters, literal
	Glob    string // pattern over that name
	Mangled string // exact mangled name
}

// ThirdParty excuses libraries that are shipped or loaded but not built here.
type ThirdParty struct {
	Match  string // glob over the base name
	Reason string
}

// ThirdPartyOf gives the item of third_party that matches a file by its base name.
func (m *Manifest) ThirdPartyOf(file string) (ThirdParty, bool) {
	for _, t := range m.ThirdParty {
		if ok, err := path.Match(t.Match, path.Base(file)); ok && err == nil {
			return t, true
		}
	}
	return ThirdParty{}, false
}

// EntryPoint is a command that exercises the artifacts.
type EntryPoint struct {
	Name        string
	Command     []string
	Modes       []Mode
	ModesReason string // why a mode is left out
	Devices     DeviceUse
	Timeout     time.Duration
	Expect      Expect
	// NoGPU is the reason why the entry point launches nothing, empty where it
	// does. It is then run as shipped only.
	NoGPU string
	// NoTrace is the reason why the entry point is not traced, empty where it is.
	NoTrace string
	// Kernels must be seen launched in every run: names as in
	// artifacts.kernels.require.name.
	Kernels []string
}

// Expect says what a good run shows.
type Expect struct {
	Exit            int
	Stdout          []Line            // that must be printed
	Files           map[string]Golden // by output file
	SameAcrossModes []Output          // that must not differ between modes
}

// Line is a whole line of output: literal, or any that a regular expression
// (RE2) matches.
type Line struct {
	Text   string
	Regexp bool
}

// What names the expectation, as the record has it.
func (l Line) What() string {
	if l.Regexp {
		return "stdout line matching"
	}
	return "stdout line"
}

// Golden is a file that an output must equal: byte by byte, or within a
// tolerance.
type Golden struct {
	Path string
	Tolerance
}

// Output is a file that an entry point writes in each mode, and that must be the
// same in all: byte by byte, or within a tolerance.
type Output struct {
	Path string
	Tolerance
}

// Tolerance says how numbers may differ: by Atol plus Rtol times the wanted one.
type Tolerance struct {
	Tolerant   bool // else byte by byte
	Rtol, Atol float64
	EqualNaN   bool
}

// Wanted says what is wanted of an output, as the record has it.
func (g Golden) Wanted() string { return "written, and equal to " + g.Path + g.Tolerance.String() }

// String is empty for none.
func (t Tolerance) String() string {
	if !t.Tolerant {
		return ""
	}
	nan := ""
	if t.EqualNaN {
		nan = ", NaN equals NaN"
	}
	return fmt.Sprintf(" within rtol %g, atol %g%s", t.Rtol, t.Atol, nan)
}

// Evidence says where evidence goes.
type Evidence struct {
	Dir string // default ".cudaproof"
}
