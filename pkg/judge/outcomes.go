package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// outcomes compares the modes.
func (s sight) outcomes(runs map[manifest.Mode]record.Run, about func(string, manifest.Mode, Finding)) {
	native, hasNative := runs[manifest.NativeMode]
	ptx, hasPTX := runs[manifest.PTXMode]
	shipped, hasShipped := runs[manifest.AsShippedMode]
	switch {
	case hasNative && hasPTX && !passed(s.entry, native) && !passed(s.entry, ptx):
		about("CP203", manifest.NativeMode+", "+manifest.PTXMode, Finding{
			Fact:   fmt.Sprintf("Both fail. Native: %s. PTX: %s.", ending(native), ending(ptx)),
			Cause:  join("native: "+s.why(native), "PTX: "+s.why(ptx)),
			Action: s.action(native, ptx),
		})
	case hasNative && !passed(s.entry, native):
		fact := fmt.Sprintf("Native: %s.", ending(native))
		id := "CP204"
		if hasPTX {
			id, fact = "CP201", fact+" The PTX run passes."
		}
		about(id, manifest.NativeMode, Finding{Fact: fact, Cause: sentence(s.why(native)), Action: s.action(native)})
	case hasPTX && !passed(s.entry, ptx) && s.blocked(ptx):
		about("CP219", manifest.PTXMode, Finding{
			Fact: fmt.Sprintf("PTX: %s. Every inspected kernel has PTX for capability %s; of the libraries loaded, %s has machine code and no PTX.",
				ending(ptx), s.capability(), some(s.withoutPTX(ptx))),
			Cause:  "CUDA_FORCE_PTX_JIT holds for all libraries of a process.",
			Action: "Test the artifact's PTX with an entry point that does not call these libraries, or leave the mode out with this reason.",
		})
	case hasPTX && !passed(s.entry, ptx):
		fact := fmt.Sprintf("PTX: %s.", ending(ptx))
		id := "CP204"
		if hasNative {
			id, fact = "CP202", fact+" The native run passes."
		}
		about(id, manifest.PTXMode, Finding{Fact: fact, Cause: sentence(s.why(ptx)), Action: s.action(ptx)})
	}
	if hasShipped && !passed(s.entry, shipped) {
		about("CP204", manifest.AsShippedMode, Finding{
			Fact:   fmt.Sprintf("As shipped: %s.", ending(shipped)),
			Cause:  sentence(s.why(shipped)),
			Action: s.action(shipped),
		})
	}
	s.disagreements(runs, about)
}

// blocked reports whether a failed PTX run can have failed in a library alone.
func (s sight) blocked(run record.Run) bool {
	e, refused := firstError(run, refusals)
	return refused && e.Code == 209 && s.everywhere(manifest.PTXMode) && len(s.withoutPTX(run)) > 0
}

// why gives the likely cause of a failed run, without a full stop.
func (s sight) why(run record.Run) string {
	if run.NotStarted != "" {
		return "the entry point's program could not be started"
	}
	if e, ok := firstError(run, refusals); ok {
		return s.whyRefused(e)
	}
	if run.Exit.TimedOut {
		return "the program hangs, or the timeout is too short"
	}
	if run.Exit.Signal != "" {
		return "the program crashed"
	}
	if run.Mode == string(manifest.NativeMode) || run.Mode == string(manifest.PTXMode) {
		return "no driver error was seen; the program's results or its own checks differ in this mode"
	}
	return "no driver error was seen; look at the program's output"
}

// whyRefused joins the driver's error with what inspection saw.
func (s sight) whyRefused(e record.DriverError) string {
	targets := s.targets()
	capability := s.capability()
	switch e.Code {
	case 209:
		return fmt.Sprintf("the driver found no image that capability %s can use in this mode; the inspected files have %s", capability, orNothing(targets))
	case 223:
		if s.everywhere(manifest.NativeMode) {
			return fmt.Sprintf("every inspected kernel has machine code for capability %s, so PTX made at run time (NVRTC) or in a library that was not inspected was refused", capability)
		}
		if high := s.tooHigh(); len(high) > 0 {
			return fmt.Sprintf("there is no machine code for capability %s, and compiling PTX was disabled; it would not help, for the PTX is of %s, above the device", capability, orNothing(high))
		}
		return fmt.Sprintf("only PTX fits capability %s, and compiling it was disabled; the inspected files have %s", capability, orNothing(targets))
	case 222:
		return fmt.Sprintf("the PTX (ISA %s) is newer than the driver, which supports CUDA %s", orNothing(s.ptxVersions()), s.record.Probe.Driver.CUDA)
	case 218:
		if high := s.tooHigh(); len(high) > 0 {
			return fmt.Sprintf("the driver refused to compile the PTX: it is of %s, above capability %s", orNothing(high), capability)
		}
		return fmt.Sprintf("the driver refused to compile the PTX, although its .target fits capability %s: an instruction does not exist there", capability)
	}
	return meaning(e.Code)
}

// action says what to do about the runs.
func (s sight) action(runs ...record.Run) string {
	var steps []string
	add := func(step string) {
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	for _, run := range runs {
		e, refused := firstError(run, refusals)
		switch {
		case run.NotStarted != "":
			add("Build the program first, or correct command in the manifest.")
		case refused && (e.Code == 209 || e.Code == 223) && run.Mode == string(manifest.PTXMode):
			for _, c := range s.capabilities() {
				want := c.Target(arch.Compute)
				add(fmt.Sprintf("Add PTX: -gencode arch=%s,code=%s.", want, want))
			}
		case refused && e.Code == 223 && s.everywhere(manifest.NativeMode):
			add("Compile run-time code to a cubin for the device, or leave the mode out with a reason.")
		case refused && (e.Code == 209 || e.Code == 223):
			for _, c := range s.capabilities() {
				add(fmt.Sprintf("Add machine code: %s, at compile and link.", Recipe(c.Target(arch.SM))))
			}
		case refused && e.Code == 222:
			add("Use an older toolkit for the PTX, or state the newer driver as a requirement.")
		case refused && e.Code == 218:
			if len(s.tooHigh()) > 0 {
				add("Lower the virtual architecture.")
			} else {
				add("Check the PTX with ptxas for every target.")
			}
		default:
			add("Read the run's stdout and stderr in the evidence.")
		}
	}
	return strings.Join(steps, " ")
}

// targets names all targets of the artifacts, stubs left out.
func (s sight) targets() []string {
	var all []string
	for _, a := range s.record.Artifacts {
		for _, o := range a.Objects {
			for _, mod := range coverage.Modules(a.FormatOf(o), o) {
				all = append(all, mod.Targets()...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tooHigh names the PTX targets that a device cannot compile, where it can compile
// no other.
func (s sight) tooHigh() []string {
	var all []string
	for _, a := range s.record.Artifacts {
		for _, o := range a.Objects {
			for _, mod := range coverage.Modules(a.FormatOf(o), o) {
				for _, i := range mod.PTX() {
					for _, c := range s.capabilities() {
						if i.Target.On(c) == arch.JIT {
							return nil
						}
					}
					all = append(all, i.Target.String())
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s sight) ptxVersions() []string {
	var all []string
	for _, a := range s.record.Artifacts {
		for _, o := range a.Objects {
			for _, mod := range coverage.Modules(a.FormatOf(o), o) {
				for _, i := range mod.PTX() {
					all = append(all, i.PTXVersion)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// everywhere reports whether every inspected kernel has what a mode needs on the
// devices: machine code, for the PTX mode PTX that they can compile.
func (s sight) everywhere(mode manifest.Mode) bool {
	kernels := 0
	for _, a := range s.record.Artifacts {
		for _, o := range a.Objects {
			for _, mod := range coverage.Modules(a.FormatOf(o), o) {
				for _, g := range mod.Groups() {
					kernels += len(g.Kernels)
					for _, c := range s.capabilities() {
						choice := g.Native(c, arch.Driver{})
						if mode == manifest.PTXMode {
							choice = g.JIT(c, arch.Driver{})
						}
						if choice.Fit != arch.Native && choice.Fit != arch.JIT {
							return false
						}
					}
				}
			}
		}
	}
	return kernels > 0
}

func join(parts ...string) string { return sentence(strings.Join(parts, "; ")) }

// sentence makes words a sentence.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
