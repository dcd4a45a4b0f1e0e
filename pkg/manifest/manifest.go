// Package manifest reads cudaproof.yaml, checks it, and gives validated
// values. It is the only package that knows the YAML library.
package manifest

import (
	"fmt"
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
	Host           []string          // machines of the host code, as `uname -m` says them
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
}

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

// EntryPoint is a command that exercises the artifacts.
type EntryPoint struct {
	Name        string
	Command     []string
	Modes       []Mode
	ModesReason string // why a mode is left out
	Timeout     time.Duration
	Expect      Expect
	// NoTrace is the reason why the entry point is not traced, empty where it is.
	NoTrace string
	// Kernels must be seen launched in every run: names as in
	// artifacts.kernels.require.name.
	Kernels []string
}

// Expect says what a good run shows.
type Expect struct {
	Exit            int
	Stdout          []string          // lines that must be printed, literal
	Files           map[string]Golden // by output file
	SameAcrossModes []string          // output files that must not differ between modes
}

// Golden is a file that an output must equal: byte by byte, or within a
// tolerance.
type Golden struct {
	Path string
	// Tolerant says that numbers may differ: by Atol plus Rtol times the wanted one.
	Tolerant   bool
	Rtol, Atol float64
	EqualNaN   bool
}

// Wanted says what is wanted of an output, as the record has it.
func (g Golden) Wanted() string {
	if !g.Tolerant {
		return "written, and equal to " + g.Path
	}
	nan := ""
	if g.EqualNaN {
		nan = ", NaN equals NaN"
	}
	return fmt.Sprintf("written, and equal to %s within rtol %g, atol %g%s", g.Path, g.Rtol, g.Atol, nan)
}

// Evidence says where evidence goes.
type Evidence struct {
	Dir string // default ".cudaproof"
}
