package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Coverage checks, module by module and kernel by kernel, that the images
// asked for are in the final files. Files that are third party are exempt kernel
// by kernel.
func Coverage(m *manifest.Manifest, r *record.Record) []Finding {
	var found []Finding
	devices := wantedDevices(m, r)
	waivers := newWaivers(m)
	if m.Require.PresentDevices && r.Probe.Host == (record.Host{}) {
		found = append(found, Finding{
			ID:   "CP114",
			Fact: "The manifest asks that the devices present be covered; inspection alone does not look for any.",
		})
	}
	for _, a := range r.Artifacts {
		if _, excused := m.ThirdPartyOf(a.Path); excused {
			continue
		}
		for _, o := range a.Objects {
			found = append(found, leftAside(a.Path, o)...)
			for _, mod := range coverage.Modules(a.FormatOf(o), o) {
				at := site{artifact: a.Path, module: mod, groups: mod.Groups(), waivers: waivers.of(a.Pattern)}
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
						found = append(found, at.device(c, m.Require.MinDriver)...)
					}
				}
			}
		}
	}
	return append(found, waivers.findings(r, devices)...)
}

// Matrix says what the required devices take for the kernels of the artifacts and
// of the libraries that are used with them, with the oldest driver that the manifest
// names. It is nil where no device is required or no file was read.
func Matrix(m *manifest.Manifest, r *record.Record) *coverage.Matrix {
	devices := wantedDevices(m, r)
	if len(devices) == 0 || len(r.Artifacts) == 0 {
		return nil
	}
	matrix := coverage.NewMatrix(devices, m.Require.MinDriver)
	for _, a := range r.Artifacts {
		matrix.AddFile(a.File)
	}
	for _, l := range r.Libraries {
		matrix.AddFolded(l.Path, l.Sets)
	}
	matrix.Sort()
	return matrix
}

// leftAside names the containers that are not judged.
func leftAside(path string, o artifact.Object) []Finding {
	var found []Finding
	for _, c := range o.Code.Containers {
		if coverage.DeviceRuntime(c) {
			found = append(found, Finding{
				ID: "CP115", Artifact: path, Container: coverage.PlaceOf(o, c),
				Fact: "The container is NVIDIA's device runtime (libcudadevrt) by the names of its kernels; its targets are not judged.",
			})
		}
	}
	return found
}

// wantedDevices gives the capabilities that every kernel must be covered on.
func wantedDevices(m *manifest.Manifest, r *record.Record) []arch.Capability {
	return m.Require.Capabilities(r.Probe.Capabilities())
}

// site is a module of an artifact.
type site struct {
	artifact string
	module   coverage.Module
	groups   []coverage.Group
	waivers  []*waiver
}

func (s site) finding(id string, f Finding) Finding {
	f.ID, f.Artifact, f.Container = id, s.artifact, s.module.Place
	f.Fact = strings.ToUpper(f.Fact[:1]) + f.Fact[1:]
	return f
}

// native checks that every kernel has machine code of exactly target t.
func (s site) native(t arch.Target) []Finding {
	images := exactly(coverage.Cubins(s.module.Loaded), t)
	missing, _ := split(s.module.Kernels, images)
	missing, unlinked := split(missing, exactly(s.module.Unlinked(), t))
	if t.Suffix == arch.Plain {
		missing = s.withoutExcused(missing, t.Capability())
	}
	found := s.lacking("CP104", missing, images, t, Recipe(t))
	if len(unlinked) > 0 {
		found = append(found, s.unlinked(unlinked, t, fmt.Sprintf("%s code for %s", t, list(unlinked))))
	}
	return found
}

// ptx checks that every kernel has PTX of exactly target t.
func (s site) ptx(t arch.Target) []Finding {
	images := exactly(s.module.PTX(), t)
	missing, _ := split(s.module.Kernels, images)
	option := Recipe(t)
	found := s.lacking("CP105", missing, images, t, option)
	for _, in := range s.module.WithoutPTX(func(has arch.Target) bool { return has == t }) {
		if !anyOf(coverage.Names(in.Images), missing) { // else it was named just now
			found = append(found, Finding{
				ID: "CP105", Artifact: s.artifact, Container: in.Place, Target: t.String(),
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
		Fact:   fmt.Sprintf("No %s %s for %s; the module has %s.", t, what, list(missing), orNothing(s.module.Targets())),
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
		Action: fmt.Sprintf("Give the device link the same options as the compile step: %s.", Recipe(t)),
	})
}

// device checks that a device of capability c gets every kernel, natively or
// through JIT, with the oldest driver that the manifest names.
func (s site) device(c arch.Capability, oldest arch.Driver) []Finding {
	// Kernels for which the device does the same, in the order of the groups.
	var order []coverage.Choice
	kernels := map[coverage.Choice]map[string]string{}
	tooOld := map[coverage.Choice]map[string]string{}
	put := func(to map[coverage.Choice]map[string]string, choice coverage.Choice, g coverage.Group) {
		if to[choice] == nil {
			to[choice] = map[string]string{}
		}
		for _, k := range g.Kernels {
			to[choice][k.Mangled] = k.Name
		}
	}
	for _, g := range s.groups {
		choice := g.Choose(c, arch.Driver{})
		if kernels[choice] == nil {
			order = append(order, choice)
		}
		put(kernels, choice, g)
		if oldest != (arch.Driver{}) && choice.Serves() && !g.Choose(c, oldest).Serves() {
			put(tooOld, choice, g)
		}
	}
	var found []Finding
	for _, choice := range order {
		served := kernels[choice]
		if choice.Fit != coverage.LoadTimeLink && !choice.Serves() {
			served = s.withoutExcused(served, c)
		}
		if len(served) > 0 {
			found = append(found, s.chosen(c, choice, served)...)
		}
		if late := tooOld[choice]; len(late) > 0 {
			found = append(found, s.finding("CP118", Finding{
				Device: c.String(), Kernel: only(late),
				Fact:   fmt.Sprintf("On capability %s %s needs a driver of CUDA %s; the manifest's oldest is %s: %s.", c, list(late), orText(choice.CUDA, "unknown"), oldest, choice),
				Cause:  "The toolkit, or nvcc's --compress-mode, wrote images that older drivers do not load.",
				Action: fmt.Sprintf("Build with a toolkit that CUDA %s drivers serve, or raise require.min_driver.", oldest.CUDA),
			}))
		}
	}
	return found
}

// chosen says of kernels what a device does for them, where that is not native.
func (s site) chosen(c arch.Capability, choice coverage.Choice, kernels map[string]string) []Finding {
	has := "the module has " + orNothing(s.module.Targets())
	option := Recipe(c.Target(arch.SM))
	f := Finding{Device: c.String(), Kernel: only(kernels)}
	switch choice.Fit {
	case arch.None:
		f.Fact = fmt.Sprintf("A device of capability %s finds no image for %s; %s.", c, list(kernels), has)
		f.Cause = s.whyMissing(c.Target(arch.SM))
		f.Action = fmt.Sprintf("Compile and link with %s.", option)
		return []Finding{s.finding("CP108", f)}
	case arch.NotGuaranteed:
		f.Fact = fmt.Sprintf("Whether a device of capability %s runs %s is not documented; %s.", c, list(kernels), has)
		f.Cause = "Binary compatibility with integrated (Jetson) devices, and of targets without a listed product, is not promised by NVIDIA."
		f.Action = fmt.Sprintf("Compile with %s, or run the entry points on such a device.", option)
		return []Finding{s.finding("CP109", f)}
	case arch.Unknown:
		f.Fact = fmt.Sprintf("Whether a device of capability %s runs %s is not known here; %s.", c, list(kernels), has)
		f.Cause = fmt.Sprintf("The tables of this cudaproof end with CUDA %s and PTX %s.", arch.Newest().CUDA, arch.Newest().PTX)
		f.Action = "Use a newer cudaproof, or run the entry points on such a device."
		return []Finding{s.finding("CP109", f)}
	case arch.JIT:
		f.Fact = fmt.Sprintf("On capability %s %s is compiled from PTX by the driver at first use: %s; %s.", c, list(kernels), choice, has)
		f.Cause = "There is no machine code that this device can run."
		f.Action = fmt.Sprintf("Where start-up time matters, compile with %s.", option)
		return []Finding{s.finding("CP112", f)}
	case coverage.LoadTimeLink:
		f := s.unlinked(kernels, c.Target(arch.SM), fmt.Sprintf("machine code that capability %s runs for %s", c, list(kernels)))
		f.Device = c.String()
		return []Finding{f}
	}
	return nil
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
		if slices.ContainsFunc(images, func(i devicecode.Image) bool { return coverage.Has(i, mangled) }) {
			with[mangled] = name
		} else {
			without[mangled] = name
		}
	}
	return without, with
}

// whyMissing guesses why a module has no image for a target.
func (s site) whyMissing(t arch.Target) string {
	images := slices.Concat(s.module.Loaded, s.module.Unlinked(), s.module.PTX())
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
