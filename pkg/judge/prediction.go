package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// jit says what a run lets the driver's compiler do.
type jit struct {
	disabled bool // CUDA_DISABLE_PTX_JIT=1
	forced   bool // CUDA_FORCE_PTX_JIT=1
}

// jitOf gives what a mode sets.
func jitOf(mode manifest.Mode) jit {
	return jit{disabled: mode == manifest.NativeMode, forced: mode == manifest.PTXMode}
}

// prediction is what the rules say of kernels on a device: the image that they run
// from, or the errors that loading them may give.
type prediction struct {
	image  string // "sm_90", "compute_90"; empty where they do not run
	errors []int  // CUresult
	// open says that the rules promise nothing: neither outcome contradicts them.
	open bool
}

// predict says what becomes of kernels that share a set. A lone cubin or PTX file is
// handed to the driver by the program itself: it is not chosen, so PTX above the
// device is refused by the compiler, and machine code is not forced to JIT. All of
// it was measured on an H200 (driver 580.159.04), and is compared with every
// recorded run by the tests.
func predict(s coverage.Set, lone bool, j jit, c arch.Capability, d arch.Driver) prediction {
	native, ptx := s.Native(c, d), s.JIT(c, d)
	hasPTX := slices.ContainsFunc(s.Images, func(i coverage.Image) bool { return i.Kind == devicecode.PTX || i.Kind == devicecode.RelocatablePTX })
	bare := lone && !hasPTX // machine code that CUDA_FORCE_PTX_JIT does not touch
	useNative := !j.forced || bare
	switch {
	case useNative && native.Serves():
		return prediction{image: native.Image}
	case useNative && open(native.Fit) || !j.disabled && open(ptx.Fit):
		return prediction{open: true}
	case j.disabled && hasPTX && (lone || ptx.Fit == arch.JIT || ptx.TooOld):
		return prediction{errors: []int{223}}
	case j.disabled && hasPTX: // in a container, and of no use to the device: not measured
		return prediction{errors: []int{209, 223}}
	case !hasPTX:
		return prediction{errors: []int{209}}
	case ptx.Fit == arch.JIT:
		return prediction{image: ptx.Image}
	case ptx.TooOld:
		return prediction{errors: []int{222}}
	case lone:
		return prediction{errors: []int{218}}
	}
	return prediction{errors: []int{209, 218}} // in a container: not measured
}

func open(f arch.Fit) bool { return f == arch.NotGuaranteed || f == arch.Unknown }

// loneImage reports whether a module is one image without a container around it.
func loneImage(m coverage.Module) bool {
	return len(m.Inputs) == 0 && len(m.Loaded) == 1 && m.Loaded[0].Flags == ""
}

// contradicted compares what the rules say of launched kernels with the image that
// they were in. Where the two differ the rules are wrong, or the driver is another
// than the probe found; neither may pass in silence.
func (s sight) contradicted(run record.Run, about func(string, manifest.Mode, Finding)) {
	mode := manifest.Mode(run.Mode)
	if mode == manifest.PTXMode {
		return // CP225 tells of machine code in a PTX run
	}
	driver := arch.Driver{CUDA: s.record.Probe.Driver.CUDA}
	ran := map[string]map[string]bool{} // kernels by the image that they ran from
	for _, l := range Launches(s.record, run) {
		if len(l.Modules) != 1 {
			continue
		}
		if ran[l.Modules[0]] == nil {
			ran[l.Modules[0]] = map[string]bool{}
		}
		ran[l.Modules[0]][l.Mangled] = true
	}
	for _, a := range s.record.Artifacts {
		for _, o := range a.Objects {
			for _, mod := range coverage.Modules(a.FormatOf(o), o) {
				launched := slices.DeleteFunc(coverage.Cubins(mod.Loaded), func(i devicecode.Image) bool { return ran[i.SHA256] == nil })
				if len(launched) == 0 {
					continue
				}
				for _, g := range mod.Groups() {
					for _, c := range s.capabilities() {
						said := predict(g.Set, loneImage(mod), jitOf(mode), c, driver)
						for _, i := range launched {
							kernels := map[string]string{}
							for _, k := range g.Kernels {
								if ran[i.SHA256][k.Mangled] && coverage.Has(i, k.Mangled) {
									kernels[k.Mangled] = k.Name
								}
							}
							if len(kernels) > 0 && !said.open && !said.names(i.Target) {
								about("CP238", mode, Finding{
									Artifact: a.Path, Container: mod.Place, Kernel: only(kernels), Target: i.Target.String(),
									Fact:   fmt.Sprintf("In this mode %s ran from the %s image; by the rules capability %s %s.", list(kernels), i.Target, c, said),
									Cause:  "The rules of this cudaproof do not hold for this device and driver, or the program sets the JIT variables itself.",
									Action: "Trust no prediction of docs/compatibility.md for this device; report the evidence.",
								})
							}
						}
					}
				}
			}
		}
	}
}

// names reports whether the image is one of those predicted.
func (p prediction) names(t arch.Target) bool {
	return slices.Contains(strings.Split(p.image, " or "), t.String())
}

// String says what a device does.
func (p prediction) String() string {
	if p.image != "" {
		return "takes " + p.image
	}
	var errors []string
	for _, e := range p.errors {
		errors = append(errors, fmt.Sprint(e))
	}
	return "refuses it with error " + strings.Join(errors, " or ")
}
