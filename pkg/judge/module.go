package judge

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// module is what the driver loads as one: a container, or the product of a
// device link with the relocatable containers that went into links. Coverage is
// judged per kernel and module, never over the union of a file: the same kernel
// name in two containers is two kernels to the driver (case C28).
type module struct {
	place  string // for people: "k.o .nv_fatbin+0x10"
	loaded []devicecode.Image
	// inputs are the relocatable containers behind device links. Their PTX
	// serves the PTX path as it is (measured on an H200, driver 580.159.04);
	// their cubins run only by the driver's own link at load time.
	inputs []input
	// kernels are the names by mangled name. A kernel that any image has
	// counts for all of them.
	kernels map[string]string
}

// input is a relocatable container.
type input struct {
	place  string
	images []devicecode.Image
}

// wholeModule stands for the kernel name of a module that holds device
// functions or variables but no kernel (C29): its image is needed all the same.
const wholeModule = "(device functions and variables)"

// modules groups the containers of an object. Relocatable containers of a
// linked file belong to its device links; those of an object or archive member
// stand for themselves, since nothing has linked them yet.
func modules(format artifact.Format, o artifact.Object) []module {
	linked := format == artifact.Executable || format == artifact.SharedLibrary
	var inputs []input
	var rest []devicecode.Container
	for _, c := range o.Code.Containers {
		images := contents(c)
		switch {
		case len(images) == 0 || deviceRuntime(c):
		case linked && c.Role == devicecode.Relocatable:
			inputs = append(inputs, input{place(o, c), images})
		default:
			rest = append(rest, c)
		}
	}
	var out []module
	unlinked := map[string]string{}
	for _, in := range inputs {
		maps.Copy(unlinked, names(in.images))
	}
	for _, c := range rest {
		m := module{place: place(o, c), loaded: contents(c), kernels: names(contents(c))}
		if c.Role == devicecode.DeviceLinked {
			m.inputs = inputs
			for mangled := range m.kernels {
				delete(unlinked, mangled)
			}
		}
		if len(m.kernels) == 0 {
			m.kernels[wholeModule] = wholeModule
		}
		out = append(out, m)
	}
	if len(unlinked) > 0 {
		out = append(out, module{place: inputs[0].place, inputs: inputs, kernels: unlinked})
	}
	return out
}

func place(o artifact.Object, c devicecode.Container) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s+0x%x", o.Name, c.Section, c.Offset))
}

// contents gives the images of a container that were read and hold something:
// the kernel-less image that nvcc's link step adds to a program (C24) does not.
func contents(c devicecode.Container) []devicecode.Image {
	return slices.DeleteFunc(slices.Clone(c.Images), func(i devicecode.Image) bool { return i.Problem != "" || i.Empty() })
}

// names gives the kernels of images by mangled name.
func names(images []devicecode.Image) map[string]string {
	list := map[string]string{}
	for _, i := range images {
		for _, k := range i.Kernels {
			list[k.Mangled] = k.Name
		}
	}
	return list
}

// deviceRuntimeKernel matches the kernels of NVIDIA's libcudadevrt by the source
// file and function in their names (seen in that of nvcc 11.8 and 13.0).
var deviceRuntimeKernel = regexp.MustCompile(`^__nv_static_\d+__[0-9a-f]{8}_22_cuda_device_runtime_cu_[0-9a-f]{8}_\d+__Z\d+(memcpy|memset)_`)

// deviceRuntime reports whether a container comes from libcudadevrt, which nvcc
// adds to programs with relocatable device code. It has targets of its own, and
// the project cannot give it others.
func deviceRuntime(c devicecode.Container) bool {
	kernels := 0
	for _, i := range c.Images {
		for _, k := range i.Kernels {
			if !deviceRuntimeKernel.MatchString(k.Mangled) {
				return false
			}
			kernels++
		}
	}
	return kernels > 0
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
	images := slices.Clone(m.loaded)
	for _, in := range m.inputs {
		images = append(images, in.images...)
	}
	return slices.DeleteFunc(images, func(i devicecode.Image) bool { return !isPTX(i) })
}

// unlinked gives the relocatable cubins behind the device links.
func (m module) unlinked() []devicecode.Image {
	var images []devicecode.Image
	for _, in := range m.inputs {
		images = append(images, cubins(in.images)...)
	}
	return images
}

// targets names the module's targets, sorted.
func (m module) targets() []string {
	set := map[string]bool{}
	for _, i := range slices.Concat(m.loaded, m.unlinked(), m.ptx()) {
		set[i.Target.String()] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// withoutPTX gives the inputs that have no PTX which ok accepts. The driver
// compiles and links all of them or none: a kernel may call into any.
func (m module) withoutPTX(ok func(arch.Target) bool) []input {
	return slices.DeleteFunc(slices.Clone(m.inputs), func(in input) bool {
		return slices.ContainsFunc(in.images, func(i devicecode.Image) bool { return isPTX(i) && ok(i.Target) })
	})
}

// compiles reports whether a device can compile one kernel of the module.
func (m module) compiles(mangled string, c arch.Capability) bool {
	fits := func(t arch.Target) bool { return t.On(c) == arch.JIT }
	return len(m.withoutPTX(fits)) == 0 &&
		slices.ContainsFunc(m.ptx(), func(i devicecode.Image) bool { return has(i, mangled) && fits(i.Target) })
}

// cover says how a device gets at one kernel of the module.
func (m module) cover(mangled string, c arch.Capability) (best arch.Fit, loadTimeLink bool) {
	best = arch.None
	if m.compiles(mangled, c) {
		best = arch.JIT
	}
	rank := map[arch.Fit]int{arch.None: 0, arch.NotGuaranteed: 1, arch.JIT: 2, arch.Native: 3}
	for _, i := range cubins(m.loaded) {
		if fit := i.Target.On(c); has(i, mangled) && rank[fit] > rank[best] {
			best = fit
		}
	}
	for _, i := range m.unlinked() {
		if has(i, mangled) && i.Target.On(c) == arch.Native {
			loadTimeLink = true
		}
	}
	return best, loadTimeLink && best != arch.Native
}

func cubins(images []devicecode.Image) []devicecode.Image {
	return slices.DeleteFunc(slices.Clone(images), func(i devicecode.Image) bool { return i.Kind != devicecode.Cubin })
}
