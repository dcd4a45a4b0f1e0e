package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Origin is where the image comes from that a launched kernel was in.
type Origin int

// The origins. Equality is that of the SHA-256 of all bytes.
const (
	Nowhere   Origin = iota // it equals no image of an inspected file: compiled, or linked, by the driver or at run time
	Shipped                 // it equals a cubin of an artifact
	InLibrary               // it equals an image of a library that the run loaded
)

// Launch is a kernel that a run launched.
type Launch struct {
	record.TracedKernel
	// Ours says that an artifact has a kernel of this name.
	Ours bool
	// Origins are those of the images that the kernel can have been in: one, unless
	// several loaded files have a kernel of the name. None where no image that was
	// loaded is known to define it.
	Origins []Origin
}

// from reports whether the kernel can only have been in images of one origin.
func (l Launch) from(o Origin) bool {
	return len(l.Origins) > 0 && !slices.ContainsFunc(l.Origins, func(got Origin) bool { return got != o })
}

// Launches gives the kernels that the processes of a run launched.
func Launches(r *record.Record, run record.Run) []Launch {
	ours, origins := map[string]bool{}, map[string]Origin{}
	for _, l := range r.Libraries {
		for _, hash := range l.Traced {
			origins[hash] = InLibrary
		}
	}
	for _, a := range r.Artifacts {
		for _, i := range allImages(a) {
			for _, k := range i.Kernels {
				ours[k.Mangled] = true
			}
			if i.Kind == devicecode.Cubin && i.SHA256 != "" {
				origins[i.SHA256] = Shipped
			}
		}
	}
	var list []Launch
	for _, p := range run.Trace.Processes {
		for _, k := range p.Kernels {
			l := Launch{TracedKernel: k, Ours: ours[k.Mangled]}
			for _, hash := range k.Modules {
				l.Origins = append(l.Origins, origins[hash])
			}
			list = append(list, l)
		}
	}
	return list
}

func allImages(a record.Artifact) []devicecode.Image {
	var all []devicecode.Image
	for _, o := range a.Objects {
		for _, c := range o.Code.Containers {
			all = append(all, c.Images...)
		}
	}
	return all
}

// traced compares what a run executed with what its mode claims. It is for runs
// that passed.
func (s sight) traced(run record.Run, about func(string, manifest.Mode, Finding)) {
	mode := manifest.Mode(run.Mode)
	s.required(run, about)
	if run.Trace.Problem != "" || len(run.Trace.Processes) == 0 {
		about("CP221", mode, Finding{
			Fact: "There is no trace of what the run executed, or not of all: " + clause(orText(run.Trace.Problem, "the record holds none")) + ". The judgement rests on what was loaded and on the driver's errors.",
		})
		return
	}
	for _, p := range run.Trace.Processes {
		if len(p.Notices) > 0 {
			about("CP221", mode, Finding{
				Fact: fmt.Sprintf("The trace of %s is not complete: %s.", p.Program, clause(strings.Join(p.Notices, "; "))),
			})
		}
	}
	if name, seen, want := otherVariable(run); name != "" {
		about("CP222", mode, Finding{
			Fact:   fmt.Sprintf("A process that used CUDA saw %s %s, the mode sets it %s.", name, seen, want),
			Cause:  "The program, or a wrapper around it, changed the variable.",
			Action: "Let nothing change the mode's variables between `mage verify` and the program.",
		})
	}
	launches := Launches(s.record, run)
	if len(launches) == 0 {
		about("CP226", mode, Finding{
			Fact:   "The run passed, and no kernel was launched in any of its processes.",
			Cause:  "The program took a way without the GPU, or its launches failed and it did not look.",
			Action: "Let the entry point launch kernels of the artifact, and check every launch.",
		})
	}
	s.executed(run, launches, about)
	if mode == manifest.NativeMode {
		madeAtRunTime(mode, launches, about)
	}
}

// madeAtRunTime names the kernels of a native run that no inspected file has
// (C08). In a PTX run the images of libraries equal none either.
func madeAtRunTime(mode manifest.Mode, launches []Launch, about func(string, manifest.Mode, Finding)) {
	kernels := map[string]string{}
	for _, l := range launches {
		if !l.Ours && l.from(Nowhere) {
			kernels[l.Mangled] = l.Name
		}
	}
	if len(kernels) > 0 {
		about("CP230", mode, Finding{
			Kernel: only(kernels),
			Fact:   fmt.Sprintf("The run launched %s, from images that are in no inspected file.", list(kernels)),
			Cause:  "Device code is made at run time (NVRTC, nvJitLink), so inspection does not see all that runs.",
			Action: "Test this code in entry points of its own, for every device that it is made for.",
		})
	}
}

// required looks for the kernels that the entry point must launch.
func (s sight) required(run record.Run, about func(string, manifest.Mode, Finding)) {
	mode := manifest.Mode(run.Mode)
	launched := map[string]bool{}
	for _, l := range Launches(s.record, run) {
		launched[devicecode.NormalizeName(l.Name)] = true
	}
	for _, want := range s.entry.Kernels {
		switch {
		case launched[devicecode.NormalizeName(want)]:
		case incomplete(run.Trace):
			about("CP229", mode, Finding{
				Kernel: want,
				Fact:   fmt.Sprintf("Whether the run launched kernel %s is not known: its trace is missing or not complete.", want),
				Action: "Run where CUPTI is to be had, and without another tool that uses it.",
			})
		default:
			about("CP228", mode, Finding{
				Kernel: want,
				Fact:   fmt.Sprintf("The run passed and launched no kernel %s.", want),
				Cause:  "The program took another way, or the kernel was renamed.",
				Action: "Let the entry point launch it, or correct entry_points.kernels; `mage inspect -kernels` lists the names.",
			})
		}
	}
}

// incomplete reports whether a trace may lack what happened.
func incomplete(t record.Trace) bool {
	return t.Problem != "" || len(t.Processes) == 0 ||
		slices.ContainsFunc(t.Processes, func(p record.TracedProcess) bool { return len(p.Notices) > 0 })
}

// executed judges the images of our kernels.
func (s sight) executed(run record.Run, launches []Launch, about func(string, manifest.Mode, Finding)) {
	mode := manifest.Mode(run.Mode)
	of := func(o Origin) map[string]string {
		kernels := map[string]string{}
		for _, l := range launches {
			if l.Ours && l.from(o) {
				kernels[l.Mangled] = l.Name
			}
		}
		return kernels
	}
	compiled, shipped := of(Nowhere), of(Shipped)
	switch {
	case mode == manifest.PTXMode && len(shipped) > 0:
		about("CP225", mode, Finding{
			Kernel: only(shipped),
			Fact:   fmt.Sprintf("In the PTX run %s ran from the machine code in the files, byte for byte.", list(shipped)),
			Cause:  "The program loads bare cubins, which CUDA_FORCE_PTX_JIT does not touch, so their PTX was not tested.",
			Action: "Load these kernels from a fatbin with PTX, or leave the mode out with this reason.",
		})
	case mode == manifest.NativeMode && len(compiled) > 0 && s.linkedAtLoad(compiled):
		// The device link lost its targets, or was left to the driver: CP107, CP208.
	case mode == manifest.NativeMode && len(compiled) > 0:
		s.unequal(run, compiled, about)
	case mode == manifest.AsShippedMode && len(compiled) > 0 && !s.linkedAtLoad(compiled) && (s.bytesKept() || jitLoaded(run)):
		about("CP205", mode, Finding{
			Kernel: only(compiled),
			Fact:   fmt.Sprintf("As shipped, %s ran from an image that equals none in the inspected files: it was compiled at start.", list(compiled)),
			Cause:  fmt.Sprintf("The inspected files have %s; where a kernel has no machine code for capability %s, every first start compiles, silently.", orNothing(s.targets()), s.device.Capability),
			Action: "Compile and link with -gencode for this device's capability.",
		})
	}
}

// unequal judges kernels of a native run whose image is in no file. Where the
// driver is not known to keep the bytes of the file, the weaker signs count: no
// JIT compiler, and nothing compiled.
func (s sight) unequal(run record.Run, kernels map[string]string, about func(string, manifest.Mode, Finding)) {
	f := Finding{
		Kernel: only(kernels),
		Fact:   fmt.Sprintf("In the native run %s ran from an image that equals none in the inspected files.", list(kernels)),
		Cause:  "The code was made at run time (NVRTC, nvJitLink), or comes from a file that was not inspected.",
		Action: "Inspect the file it comes from, or test code that is made at run time in an entry point of its own.",
	}
	switch {
	case s.bytesKept():
		about("CP223", manifest.NativeMode, f)
	case jitLoaded(run) || run.CacheFiles > 0:
		about("CP232", manifest.NativeMode, f)
	default:
		f.Cause = "On this device the driver may not keep the bytes of the file. That the run was native rests on the variables seen, on the JIT compiler not being loaded, and on the empty cache."
		f.Action = ""
		about("CP224", manifest.NativeMode, f)
	}
}

// bytesKept reports whether the driver loads cubins byte for byte on the device:
// that was measured on an H200, or it shows in a native run of this record.
func (s sight) bytesKept() bool {
	if s.device.Capability == (arch.Capability{Major: 9}) {
		return true
	}
	return slices.ContainsFunc(s.record.Runs, func(run record.Run) bool {
		return run.Device == s.device.UUID && run.Mode == string(manifest.NativeMode) &&
			slices.ContainsFunc(Launches(s.record, run), func(l Launch) bool { return l.from(Shipped) || l.from(InLibrary) })
	})
}

func jitLoaded(run record.Run) bool {
	return slices.ContainsFunc(run.Processes, func(p record.Process) bool { return p.JITCompiler })
}

// linkedAtLoad reports whether all kernels are in relocatable code that no device
// link took: the driver links it at load, to an image that is in no file.
func (s sight) linkedAtLoad(kernels map[string]string) bool {
	unlinked := map[string]bool{}
	for _, a := range s.record.Artifacts {
		for _, o := range a.Objects {
			for _, mod := range modules(a.FormatOf(o), o) {
				if len(mod.loaded) == 0 || len(mod.inputs) > 0 {
					for mangled := range names(mod.unlinked()) {
						unlinked[mangled] = true
					}
				}
			}
		}
	}
	for mangled := range kernels {
		if !unlinked[mangled] {
			return false
		}
	}
	return true
}

// otherVariable gives a variable that a process saw differently than the mode
// sets it.
func otherVariable(run record.Run) (name, seen, want string) {
	wanted := manifest.Mode(run.Mode).Variables()
	for _, p := range run.Trace.Processes {
		for _, name := range manifest.JITVariables {
			saw, set := p.Variables[name]
			value, should := wanted[name]
			if set != should || saw != value {
				return name, orUnset(saw, set), orUnset(value, should)
			}
		}
	}
	return "", "", ""
}

func orUnset(value string, set bool) string {
	if !set {
		return "not set"
	}
	return "as " + value
}

// neverLaunched names the kernels of each artifact that no native run launched.
func neverLaunched(r *record.Record) []Finding {
	launched, traced := map[string]bool{}, false
	for _, run := range r.Runs {
		if run.Mode != string(manifest.NativeMode) || run.Trace.Problem != "" {
			continue
		}
		for _, l := range Launches(r, run) {
			traced = true
			launched[l.Mangled] = launched[l.Mangled] || !l.from(InLibrary)
		}
	}
	if !traced {
		return nil
	}
	var found []Finding
	for _, a := range r.Artifacts {
		all, never := map[string]string{}, map[string]string{}
		for _, i := range allImages(a) {
			for _, k := range i.Kernels {
				all[k.Mangled] = k.Name
			}
		}
		maps.Copy(never, all)
		maps.DeleteFunc(never, func(mangled, _ string) bool { return launched[mangled] })
		if len(never) > 0 {
			found = append(found, Finding{
				ID: "CP227", Artifact: a.Path, Kernel: only(never),
				Fact:   fmt.Sprintf("The native runs launched %d of %d kernels; never %s.", len(all)-len(never), len(all), strings.TrimPrefix(list(never), "kernel ")),
				Action: "Add entry points for kernels whose results matter: of these, only inspection says anything.",
			})
		}
	}
	return found
}
