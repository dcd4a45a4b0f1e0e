// Package coverage says, by the rules of package arch, which image a device takes
// for each kernel. It runs nothing: what it says of a device is a prediction.
package coverage

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

// Module is what the driver loads as one: a container, or the product of a
// device link with the relocatable containers that went into links. Coverage is
// judged per kernel and module, never over the union of a file: the same kernel
// name in two containers is two kernels to the driver (case C28).
type Module struct {
	Place  string // for people: "k.o .nv_fatbin+0x10"
	Loaded []devicecode.Image
	// Inputs are the relocatable containers behind device links. Their PTX
	// serves the PTX path as it is (measured on an H200, driver 580.159.04);
	// their cubins run only by the driver's own link at load time.
	Inputs []Input
	// Kernels are the names by mangled name. A kernel that any image has
	// counts for all of them.
	Kernels map[string]string
}

// Input is a relocatable container.
type Input struct {
	Place  string
	Images []devicecode.Image
}

// WholeModule stands for the kernel name of a module that holds device
// functions or variables but no kernel (C29): its image is needed all the same.
const WholeModule = "(device functions and variables)"

// Modules groups the containers of an object. Relocatable containers of a
// linked file belong to its device links; those of an object or archive member
// stand for themselves, since nothing has linked them yet.
func Modules(format artifact.Format, o artifact.Object) []Module {
	linked := format == artifact.Executable || format == artifact.SharedLibrary
	var inputs []Input
	var rest []devicecode.Container
	for _, c := range o.Code.Containers {
		images := contents(c)
		switch {
		case len(images) == 0 || DeviceRuntime(c):
		case linked && c.Role == devicecode.Relocatable:
			inputs = append(inputs, Input{PlaceOf(o, c), images})
		default:
			rest = append(rest, c)
		}
	}
	var out []Module
	unlinked := map[string]string{}
	for _, in := range inputs {
		maps.Copy(unlinked, Names(in.Images))
	}
	for _, c := range rest {
		m := Module{Place: PlaceOf(o, c), Loaded: contents(c), Kernels: Names(contents(c))}
		if c.Role == devicecode.DeviceLinked {
			m.Inputs = inputs
			for mangled := range m.Kernels {
				delete(unlinked, mangled)
			}
		}
		if len(m.Kernels) == 0 {
			m.Kernels[WholeModule] = WholeModule
		}
		out = append(out, m)
	}
	if len(unlinked) > 0 {
		out = append(out, Module{Place: inputs[0].Place, Inputs: inputs, Kernels: unlinked})
	}
	return out
}

// PlaceOf names a container of an object for people.
func PlaceOf(o artifact.Object, c devicecode.Container) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s+0x%x", o.Name, c.Section, c.Offset))
}

// contents gives the images of a container that were read and hold something:
// the kernel-less image that nvcc's link step adds to a program (C24) does not.
func contents(c devicecode.Container) []devicecode.Image {
	return slices.DeleteFunc(slices.Clone(c.Images), func(i devicecode.Image) bool { return i.Problem != "" || i.Empty() })
}

// Names gives the kernels of images by mangled name.
func Names(images []devicecode.Image) map[string]string {
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
var deviceRuntimeKernel = regexp.MustCompile(`^__nv_static_\d+__[0-9a-f]{8}_22_cuda_device_runtime_cu_[0-9a-f]{8}(?:_\d+)?__Z\d+(memcpy|memset)_`)

// DeviceRuntime reports whether a container comes from libcudadevrt, which nvcc
// adds to programs with relocatable device code. It has targets of its own, and
// the project cannot give it others.
func DeviceRuntime(c devicecode.Container) bool {
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

// Has reports whether an image holds a kernel. An image of a variables-only
// module holds it by not being empty.
func Has(i devicecode.Image, mangled string) bool {
	if mangled == WholeModule {
		return !i.Empty()
	}
	_, found := slices.BinarySearchFunc(i.Kernels, mangled, func(k devicecode.Kernel, s string) int {
		return strings.Compare(k.Mangled, s)
	})
	return found
}

// IsPTX reports whether an image is PTX that the driver can compile.
func IsPTX(i devicecode.Image) bool {
	return i.Kind == devicecode.PTX || i.Kind == devicecode.RelocatablePTX
}

// PTX gives the module's PTX images; those behind a device link serve too.
func (m Module) PTX() []devicecode.Image {
	images := slices.Clone(m.Loaded)
	for _, in := range m.Inputs {
		images = append(images, in.Images...)
	}
	return slices.DeleteFunc(images, func(i devicecode.Image) bool { return !IsPTX(i) })
}

// Unlinked gives the relocatable cubins behind the device links.
func (m Module) Unlinked() []devicecode.Image {
	var images []devicecode.Image
	for _, in := range m.Inputs {
		images = append(images, Cubins(in.Images)...)
	}
	return images
}

// Targets names the module's targets, sorted.
func (m Module) Targets() []string {
	set := map[string]bool{}
	for _, i := range slices.Concat(m.Loaded, m.Unlinked(), m.PTX()) {
		set[i.Target.String()] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// WithoutPTX gives the inputs that have no PTX which ok accepts. The driver
// compiles and links all of them or none: a kernel may call into any.
func (m Module) WithoutPTX(ok func(arch.Target) bool) []Input {
	return slices.DeleteFunc(slices.Clone(m.Inputs), func(in Input) bool {
		return slices.ContainsFunc(in.Images, func(i devicecode.Image) bool { return IsPTX(i) && ok(i.Target) })
	})
}

// Cubins keeps the images of machine code.
func Cubins(images []devicecode.Image) []devicecode.Image {
	return slices.DeleteFunc(slices.Clone(images), func(i devicecode.Image) bool { return i.Kind != devicecode.Cubin })
}
