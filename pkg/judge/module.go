package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// module is what the driver loads as one: a container, or a device link with
// the relocatable containers that went into it. Coverage is judged per kernel
// and module, never over the union of a file: the same kernel name in two
// containers is two kernels to the driver (case C28).
type module struct {
	place  string // for people: "k.o .nv_fatbin+0x10"
	loaded []devicecode.Image
	// inputs are the relocatable images behind a device link. Their PTX serves
	// the PTX path as it is (measured on an H200, driver 580.159.04); their
	// cubins run only by the driver's own link at load time.
	inputs []devicecode.Image
}

// modules groups the containers of an object. Relocatable containers of a
// linked file belong to its device link; those of an object or archive member
// stand for themselves, since nothing has linked them yet.
func modules(format artifact.Format, o artifact.Object) []module {
	var out []module
	var link module
	linked := format == artifact.Executable || format == artifact.SharedLibrary
	hasInputs := linked && slices.ContainsFunc(o.Code.Containers, func(c devicecode.Container) bool {
		return c.Role == devicecode.Relocatable
	})
	for _, c := range o.Code.Containers {
		images := readable(c.Images)
		if deviceRuntime(c) {
			continue
		}
		place := strings.TrimSpace(o.Name + " " + fmt.Sprintf("%s+0x%x", c.Section, c.Offset))
		switch {
		case hasInputs && c.Role == devicecode.Relocatable:
			link.inputs = append(link.inputs, images...)
		case hasInputs && c.Role == devicecode.DeviceLinked:
			link.loaded = append(link.loaded, images...)
			link.place = place
		default:
			out = append(out, module{place: place, loaded: images})
		}
	}
	if hasInputs {
		if link.place == "" {
			link.place = "__nv_relfatbin"
		}
		out = append(out, link)
	}
	return slices.DeleteFunc(out, func(m module) bool { return m.stub() })
}

// deviceRuntime reports whether a container comes from NVIDIA's libcudadevrt,
// which nvcc adds to programs with relocatable device code: the names of its
// kernels carry its own source file, cuda_device_runtime.cu (seen in programs
// of nvcc 13.0.88). It is not the project's to compile for other targets.
func deviceRuntime(c devicecode.Container) bool {
	kernels := 0
	for _, i := range c.Images {
		for _, k := range i.Kernels {
			if !strings.Contains(k.Mangled, "_cuda_device_runtime_cu_") {
				return false
			}
			kernels++
		}
	}
	return kernels > 0
}

func readable(images []devicecode.Image) []devicecode.Image {
	return slices.DeleteFunc(slices.Clone(images), func(i devicecode.Image) bool { return i.Problem != "" })
}

// stub reports whether the module holds nothing to load, such as the
// kernel-less image that nvcc's link step adds to a whole program (C24).
func (m module) stub() bool {
	for _, i := range slices.Concat(m.loaded, m.inputs) {
		if !i.Empty() {
			return false
		}
	}
	return true
}

// wholeModule stands for the kernel name of a module that holds device
// functions or variables but no kernel (C29): its image is needed all the same.
const wholeModule = "(device functions and variables)"

// kernels gives the names of the module's kernels by mangled name. Every
// kernel that any of its images has counts for all of them.
func (m module) kernels() map[string]string {
	names := map[string]string{}
	for _, i := range slices.Concat(m.loaded, m.inputs) {
		for _, k := range i.Kernels {
			names[k.Mangled] = k.Name
		}
	}
	if len(names) == 0 {
		names[wholeModule] = wholeModule
	}
	return names
}

// has reports whether an image holds a kernel. An image of a variables-only
// module holds it by not being empty.
func has(i devicecode.Image, mangled string) bool {
	if mangled == wholeModule {
		return !i.Empty()
	}
	_, found := slices.BinarySearchFunc(i.Kernels, mangled, func(k devicecode.Kernel, s string) int {
		return strings.Compare(k.Mangled, s)
	})
	return found
}

// isPTX reports whether an image is PTX that the driver can compile.
func isPTX(i devicecode.Image) bool {
	return i.Kind == devicecode.PTX || i.Kind == devicecode.RelocatablePTX
}

// ptx gives the module's PTX images; those behind a device link serve too.
func (m module) ptx() []devicecode.Image {
	return slices.DeleteFunc(slices.Concat(m.loaded, m.inputs), func(i devicecode.Image) bool { return !isPTX(i) })
}

// targets names the module's targets, sorted, stubs left out.
func (m module) targets() []string {
	set := map[string]bool{}
	for _, i := range slices.Concat(m.loaded, m.inputs) {
		if !i.Empty() {
			set[i.Target.String()] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// cover says how a device gets at one kernel of the module.
func (m module) cover(mangled string, c arch.Capability) (best arch.Fit, loadTimeLink bool) {
	best = arch.None
	rank := map[arch.Fit]int{arch.None: 0, arch.NotGuaranteed: 1, arch.JIT: 2, arch.Native: 3}
	for _, i := range slices.Concat(cubins(m.loaded), m.ptx()) {
		if fit := i.Target.On(c); has(i, mangled) && rank[fit] > rank[best] {
			best = fit
		}
	}
	for _, i := range cubins(m.inputs) {
		if has(i, mangled) && i.Target.On(c) == arch.Native {
			loadTimeLink = true
		}
	}
	return best, loadTimeLink && best != arch.Native
}

func cubins(images []devicecode.Image) []devicecode.Image {
	return slices.DeleteFunc(slices.Clone(images), func(i devicecode.Image) bool { return i.Kind != devicecode.Cubin })
}
