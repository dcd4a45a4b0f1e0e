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
	ours, origins := map[string]bool{}, originsOf(r)
	for _, a := range r.Artifacts {
		for _, i := range allImages(a) {
			for _, k := range i.Kernels {
				ours[k.Mangled] = true
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

// originsOf gives the origin of each image that is known, by its hash.
func originsOf(r *record.Record) map[string]Origin {
	origins := map[string]Origin{}
	for _, l := range r.Libraries {
		for _, hash := range l.Traced {
			origins[hash] = InLibrary
		}
	}
	for _, a := range r.Artifacts {
		for _, i := range allImages(a) {
			if i.Kind == devicecode.Cubin && i.SHA256 != "" {
				origins[i.SHA256] = Shipped
			}
		}
	}
	return origins
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
	s.onItsDevices(run, about)
	if name, seen, want := otherVariable(run); name != "" {
		about("CP222", mode, Finding{
			Fact:   fmt.Sprintf("A process that used CUDA saw %s %s, the mode sets it %s.", name, seen, want),
			Cause:  "The program, or a wrapper around it, changed the variable.",
			Action: "Let nothing change the mode's variables between `mage verify` and the program.",
		})
	}
	launches := Launches(s.record, run)
	if !s.launchesOurs(run) {
		about("CP226", mode, Finding{
			Fact:   "The run passed, and " + noneOf(launches) + " was launched in any of its processes.",
			Cause:  "The program took a way without the GPU, or its launches failed and it did not look.",
			Action: "Let the entry point launch kernels of the artifact, and check every launch; say no_gpu of one that is to use none.",
		})
	}
	s.executed(run, launches, about)
	s.contradicted(run, about)
	if mode == manifest.NativeMode {
		madeAtRunTime(mode, launches, about)
		s.loadedFromNowhere(run, about)
	}
}

func noneOf(launches []Launch) string {
	if len(launches) == 0 {
		return "no kernel"
	}
	return "no kernel of an artifact"
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
	for mangled := range s.linkedAtLoad(run) { // CP107 and CP208 say so
		delete(compiled, mangled)
	}
	switch {
	case mode == manifest.PTXMode && len(shipped) > 0:
		about("CP225", mode, Finding{
			Kernel: only(shipped),
			Fact:   fmt.Sprintf("In the PTX run %s ran from the machine code in the files, byte for byte.", list(shipped)),
			Cause:  "The program loads bare cubins, which CUDA_FORCE_PTX_JIT does not touch, so their PTX was not tested.",
			Action: "Load these kernels from a fatbin with PTX, or leave the mode out with this reason.",
		})
	case mode == manifest.NativeMode && len(compiled) > 0:
		s.unequal(run, compiled, about)
	case mode == manifest.AsShippedMode && len(compiled) > 0 && (s.bytesKept() || jitLoaded(run)):
		about("CP205", mode, Finding{
			Kernel: only(compiled),
			Fact:   fmt.Sprintf("As shipped, %s ran from an image that equals none in the inspected files: it was compiled at start.", list(compiled)),
			Cause:  fmt.Sprintf("The inspected files have %s; where a kernel has no machine code for capability %s, every first start compiles, silently.", orNothing(s.targets()), s.capability()),
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
	if slices.Equal(s.capabilities(), []arch.Capability{{Major: 9}}) {
		return true
	}
	return slices.ContainsFunc(s.record.Runs, func(run record.Run) bool {
		return slices.Equal(run.Devices, s.uuids()) && run.Mode == string(manifest.NativeMode) &&
			slices.ContainsFunc(Launches(s.record, run), func(l Launch) bool { return l.from(Shipped) || l.from(InLibrary) })
	})
}

func jitLoaded(run record.Run) bool {
	return slices.ContainsFunc(run.Processes, func(p record.Process) bool { return p.JITCompiler })
}

// linkedAtLoad gives the kernels of a run whose image is in no file, and that the
// files hold in relocatable code that no device link took (C10): the driver linked
// them at load.
func (s sight) linkedAtLoad(run record.Run) map[string]string {
	unlinked := map[string]bool{}
	for _, a := range s.record.Artifacts {
		for _, o := range a.Objects {
			for _, mod := range coverage.Modules(a.FormatOf(o), o) {
				if len(mod.Loaded) == 0 || len(mod.Inputs) > 0 {
					for mangled := range coverage.Names(mod.Unlinked()) {
						unlinked[mangled] = true
					}
				}
			}
		}
	}
	kernels := map[string]string{}
	for _, l := range Launches(s.record, run) {
		if unlinked[l.Mangled] && l.from(Nowhere) {
			kernels[l.Mangled] = l.Name
		}
	}
	return kernels
}

// loadedFromNowhere names the images of a native run that no inspected file has,
// and of which no kernel was launched. Where the driver may change the bytes,
// nothing follows from that.
func (s sight) loadedFromNowhere(run record.Run, about func(string, manifest.Mode, Finding)) {
	unused := slices.DeleteFunc(s.unknown(run), func(m record.TracedModule) bool {
		return slices.ContainsFunc(run.Trace.Processes, func(p record.TracedProcess) bool {
			return slices.ContainsFunc(p.Kernels, func(k record.TracedKernel) bool { return slices.Contains(k.Modules, m.SHA256) })
		})
	})
	if len(unused) > 0 {
		about("CP237", manifest.NativeMode, Finding{
			Fact:   fmt.Sprintf("The run loaded %s, and launched no kernel of it.", images(unused)),
			Cause:  "Device code is made at run time (NVRTC, nvJitLink), or comes from a file that was not inspected.",
			Action: "Test this code in entry points of its own, for every device that it is made for.",
		})
	}
}

// unknown gives the images that a run loaded and no inspected file has, nil where
// the driver may change the bytes.
func (s sight) unknown(run record.Run) []record.TracedModule {
	if !s.bytesKept() {
		return nil
	}
	origins := originsOf(s.record)
	var list []record.TracedModule
	for _, p := range run.Trace.Processes {
		for _, m := range p.Modules {
			if origins[m.SHA256] == Nowhere {
				list = append(list, m)
			}
		}
	}
	return list
}

// images names images that are in no file, for a sentence.
func images(list []record.TracedModule) string {
	var words []string
	for _, m := range list[:min(len(list), 4)] {
		word := fmt.Sprintf("an image of %d bytes that equals none in the inspected files", m.Size)
		if m.Loads > 1 {
			word += fmt.Sprintf(" (%d times)", m.Loads)
		}
		words = append(words, word)
	}
	if len(list) > 4 {
		words = append(words, fmt.Sprintf("%d more", len(list)-4))
	}
	return strings.Join(words, ", ")
}

// onItsDevices compares the devices that a run used with those that it was given.
func (s sight) onItsDevices(run record.Run, about func(string, manifest.Mode, Finding)) {
	used := map[string]bool{}
	for _, p := range run.Trace.Processes {
		for _, uuid := range p.Devices {
			used[uuid] = true
			if !slices.Contains(run.Devices, uuid) {
				about("CP233", manifest.Mode(run.Mode), Finding{
					Fact:   fmt.Sprintf("%s used device %s, which is not one of those that the run is about (%s).", p.Program, uuid, strings.Join(run.Devices, ", ")),
					Cause:  "The program changes CUDA_VISIBLE_DEVICES, or runs where other devices are visible.",
					Action: "Let the entry point use the devices that it is given.",
				})
			}
		}
	}
	for _, uuid := range run.Devices {
		if len(run.Devices) > 1 && !used[uuid] {
			about("CP233", manifest.Mode(run.Mode), Finding{
				Fact:   fmt.Sprintf("No process made a context on device %s, so the run says nothing about it.", uuid),
				Cause:  "The program uses fewer devices than the manifest gives it.",
				Action: "Let the entry point use all its devices, or correct entry_points.devices.",
			})
		}
	}
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
