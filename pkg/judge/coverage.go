package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Coverage checks, module by module and kernel by kernel, that the images
// asked for are in the final files.
func Coverage(m *manifest.Manifest, r *record.Record) []Finding {
	var found []Finding
	devices := wantedDevices(m, r)
	if m.Require.PresentDevices && r.Probe.Host == (record.Host{}) {
		found = append(found, Finding{
			ID:   "CP114",
			Fact: "The manifest asks that the devices present be covered; inspection alone does not look for any.",
		})
	}
	for _, a := range r.Artifacts {
		for _, o := range a.Objects {
			found = append(found, leftAside(a.Path, o)...)
			for _, mod := range modules(a.FormatOf(o), o) {
				at := site{artifact: a.Path, module: mod}
				for _, t := range m.Require.Native {
					found = append(found, at.native(t)...)
				}
				for _, t := range m.Require.PTX {
					found = append(found, at.ptx(t)...)
				}
				for _, c := range devices {
					// A target asked for as machine code was judged already, and more
					// strictly.
					if !slices.Contains(m.Require.Native, c.Target(arch.SM)) {
						found = append(found, at.device(c)...)
					}
				}
			}
		}
	}
	return found
}

// leftAside names the containers that are not judged.
func leftAside(path string, o artifact.Object) []Finding {
	var found []Finding
	for _, c := range o.Code.Containers {
		if deviceRuntime(c) {
			found = append(found, Finding{
				ID: "CP115", Artifact: path, Container: place(o, c),
				Fact: "The container is NVIDIA's device runtime (libcudadevrt) by the names of its kernels; its targets are not judged.",
			})
		}
	}
	return found
}

// wantedDevices gives the capabilities that every kernel must be covered on.
func wantedDevices(m *manifest.Manifest, r *record.Record) []arch.Capability {
	want := slices.Clone(m.Require.Devices)
	if m.Require.PresentDevices {
		for _, d := range r.Probe.Devices {
			want = append(want, d.Capability)
		}
	}
	slices.SortFunc(want, func(a, b arch.Capability) int { return a.Target(arch.SM).Number - b.Target(arch.SM).Number })
	return slices.Compact(want)
}

// site is a module of an artifact.
type site struct {
	artifact string
	module   module
}

func (s site) finding(id string, f Finding) Finding {
	f.ID, f.Artifact, f.Container = id, s.artifact, s.module.place
	f.Fact = strings.ToUpper(f.Fact[:1]) + f.Fact[1:]
	return f
}

// native checks that every kernel has machine code of exactly target t.
func (s site) native(t arch.Target) []Finding {
	images := exactly(cubins(s.module.loaded), t)
	missing, _ := split(s.module.kernels, images)
	missing, unlinked := split(missing, exactly(s.module.unlinked(), t))
	found := s.lacking("CP104", missing, images, t, gencode(t))
	if len(unlinked) > 0 {
		found = append(found, s.unlinked(unlinked, t, fmt.Sprintf("%s code for %s", t, list(unlinked))))
	}
	return found
}

// ptx checks that every kernel has PTX of exactly target t.
func (s site) ptx(t arch.Target) []Finding {
	images := exactly(s.module.ptx(), t)
	missing, _ := split(s.module.kernels, images)
	option := fmt.Sprintf("-gencode arch=%s,code=%s", t, t)
	found := s.lacking("CP105", missing, images, t, option)
	for _, in := range s.module.withoutPTX(func(has arch.Target) bool { return has == t }) {
		if !anyOf(names(in.images), missing) { // else it was named just now
			found = append(found, Finding{
				ID: "CP105", Artifact: s.artifact, Container: in.place, Target: t.String(),
				Fact:   fmt.Sprintf("No %s PTX in this relocatable container, so no PTX of the device link can be compiled: it may call into it.", t),
				Cause:  "This object was compiled with other -gencode options than the rest.",
				Action: fmt.Sprintf("Compile all objects of the device link with %s.", option),
			})
		}
	}
	return found
}

// lacking says that kernels have no image of target t: under id where no image
// of the module has any content for it, else as missing from those images.
func (s site) lacking(id string, missing map[string]string, images []devicecode.Image, t arch.Target, option string) []Finding {
	if len(missing) == 0 {
		return nil
	}
	what := "machine code"
	if t.Class == arch.Compute {
		what = "PTX"
	}
	if len(images) > 0 {
		return []Finding{s.finding("CP106", Finding{
			Target: t.String(), Kernel: only(missing),
			Fact:   fmt.Sprintf("The %s %s lacks %s, which other images of the same module have.", t, what, list(missing)),
			Cause:  "A preprocessor condition on the architecture removes the kernel for this target, or objects of two builds were mixed.",
			Action: "Define the kernel for this target too, or rebuild everything with one set of -gencode options.",
		})}
	}
	return []Finding{s.finding(id, Finding{
		Target: t.String(), Kernel: only(missing),
		Fact:   fmt.Sprintf("No %s %s for %s; the module has %s.", t, what, list(missing), orNothing(s.module.targets())),
		Cause:  s.whyMissing(t),
		Action: fmt.Sprintf("Compile and link with %s.", option),
	})}
}

// unlinked says that machine code is there only as input of a device link.
func (s site) unlinked(kernels map[string]string, t arch.Target, what string) Finding {
	return s.finding("CP107", Finding{
		Target: t.String(), Kernel: only(kernels),
		Fact:   fmt.Sprintf("The %s is there only as relocatable code that was never device-linked.", what),
		Cause:  "The device link (nvcc -dlink, or the link step) was run without the -gencode options of the compile step, so the driver would have to link at load time.",
		Action: fmt.Sprintf("Give the device link the same options as the compile step: %s.", gencode(t)),
	})
}

// device checks that a device of capability c gets every kernel, natively or
// through JIT.
func (s site) device(c arch.Capability) []Finding {
	none, unsure, jit, late := map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	for mangled, name := range s.module.kernels {
		fit, loadTimeLink := s.module.cover(mangled, c)
		switch {
		case loadTimeLink:
			late[mangled] = name
		case fit == arch.None:
			none[mangled] = name
		case fit == arch.NotGuaranteed:
			unsure[mangled] = name
		case fit == arch.JIT:
			jit[mangled] = name
		}
	}
	var found []Finding
	add := func(id string, kernels map[string]string, fact, cause, action string) {
		if len(kernels) > 0 {
			found = append(found, s.finding(id, Finding{Device: c.String(), Kernel: only(kernels), Fact: fact, Cause: cause, Action: action}))
		}
	}
	has := "the module has " + orNothing(s.module.targets())
	add("CP108", none,
		fmt.Sprintf("A device of capability %s finds no image for %s; %s.", c, list(none), has),
		s.whyMissing(c.Target(arch.SM)),
		fmt.Sprintf("Compile and link with %s.", gencode(c.Target(arch.SM))))
	add("CP109", unsure,
		fmt.Sprintf("Whether a device of capability %s runs %s is not documented; %s.", c, list(unsure), has),
		"Binary compatibility with integrated (Jetson) devices, and of targets without a listed product, is not promised by NVIDIA.",
		fmt.Sprintf("Compile with %s, or run the entry points on such a device.", gencode(c.Target(arch.SM))))
	add("CP112", jit,
		fmt.Sprintf("On capability %s %s is compiled from PTX by the driver at first use; %s.", c, list(jit), has),
		"There is no machine code that this device can run.",
		fmt.Sprintf("Where start-up time matters, compile with %s.", gencode(c.Target(arch.SM))))
	if len(late) > 0 {
		f := s.unlinked(late, c.Target(arch.SM), fmt.Sprintf("machine code that capability %s runs for %s", c, list(late)))
		f.Device = c.String()
		found = append(found, f)
	}
	return found
}

// exactly keeps the images of target t.
func exactly(images []devicecode.Image, t arch.Target) []devicecode.Image {
	return slices.DeleteFunc(images, func(i devicecode.Image) bool { return i.Target != t })
}

// anyOf reports whether some of the kernels are among others.
func anyOf(kernels, others map[string]string) bool {
	for mangled := range kernels {
		if _, ok := others[mangled]; ok {
			return true
		}
	}
	return false
}

// split parts kernels into those that none of the images has and the others.
func split(kernels map[string]string, images []devicecode.Image) (without, with map[string]string) {
	without, with = map[string]string{}, map[string]string{}
	for mangled, name := range kernels {
		if slices.ContainsFunc(images, func(i devicecode.Image) bool { return has(i, mangled) }) {
			with[mangled] = name
		} else {
			without[mangled] = name
		}
	}
	return without, with
}

// whyMissing guesses why a module has no image for a target.
func (s site) whyMissing(t arch.Target) string {
	images := slices.Concat(s.module.loaded, s.module.unlinked(), s.module.ptx())
	if fallback, ok := compilerDefault(images); ok {
		return fmt.Sprintf("Compiler default suspected: sm_%d is what nvcc takes when no -arch or -gencode reaches it.", fallback)
	}
	if slices.ContainsFunc(images, func(i devicecode.Image) bool { return i.Kind == devicecode.LTOIR }) {
		return "LTO IR is there, but the driver does not load it: it needs nvJitLink or a device link with -dlto."
	}
	return fmt.Sprintf("The build was not asked for %s, or the options were lost at the link step.", t)
}

// compilerDefault reports whether all images are of the target that nvcc takes
// by default: sm_52 in 11.x and 12.x, sm_75 in 13.x (nvcc manual, option
// -arch).
func compilerDefault(images []devicecode.Image) (int, bool) {
	number := 0
	for _, i := range images {
		if number != 0 && i.Target.Number != number || i.Target.Suffix != arch.Plain {
			return 0, false
		}
		number = i.Target.Number
	}
	return number, number == 52 || number == 75
}

// gencode is the option that adds a target with its PTX.
func gencode(t arch.Target) string {
	virtual := t.As(arch.Compute)
	return fmt.Sprintf("-gencode arch=%s,code=[%s,%s]", virtual, t, virtual)
}

// list names kernels for a sentence: one by name, several by count and sample.
func list(kernels map[string]string) string {
	names := slices.Sorted(maps.Values(kernels))
	switch len(names) {
	case 0:
		return "no kernel"
	case 1:
		return "kernel " + names[0]
	case 2, 3:
		return fmt.Sprintf("%d kernels (%s)", len(names), strings.Join(names, ", "))
	}
	return fmt.Sprintf("%d kernels (%s, ...)", len(names), strings.Join(names[:3], ", "))
}

// only is the name of the kernel where there is just one.
func only(kernels map[string]string) string {
	if len(kernels) != 1 {
		return ""
	}
	for _, name := range kernels {
		return name
	}
	return ""
}

func orNothing(targets []string) string {
	if len(targets) == 0 {
		return "nothing"
	}
	return strings.Join(targets, ", ")
}
