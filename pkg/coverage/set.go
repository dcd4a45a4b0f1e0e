package coverage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// Image is what decides whether a device takes an image.
type Image struct {
	Kind        devicecode.Kind `json:"kind"`
	Target      arch.Target     `json:"target"`
	PTXVersion  string          `json:"ptx_version,omitempty"`
	Toolkit     string          `json:"toolkit,omitempty"` // that wrote a cubin
	Compression string          `json:"compression,omitempty"`
	// Input says that it is in a relocatable container behind a device link: machine
	// code there runs only by a link at load time.
	Input bool `json:"input,omitempty"`
}

// Set is what a device has to choose from for the kernels that are in the same
// images of one module. It does not depend on any device.
type Set struct {
	Images []Image `json:"images"`
	// Inputs are the PTX targets of the module's relocatable containers, each list
	// once: the driver compiles and links all of them or none.
	Inputs [][]arch.Target `json:"inputs,omitempty"`
}

// Group is the kernels of a module that share a set.
type Group struct {
	Set
	Kernels []Kernel // in the order of the images
}

// bare counts the stand-in of a module without a kernel.
func (g Group) bare() int {
	if len(g.Kernels) == 1 && g.Kernels[0].Mangled == WholeModule {
		return 1
	}
	return 0
}

// Kernel is a kernel by its two names.
type Kernel struct{ Mangled, Name string }

// Groups parts the kernels of a module by the images that they are in.
func (m Module) Groups() []Group {
	type part struct {
		images []int
		size   int
	}
	images := m.Loaded
	for _, in := range m.Inputs {
		images = append(slices.Clip(images), in.Images...)
	}
	// All kernels begin in part 0, which is in no image; each image moves its
	// kernels into a part of their own.
	parts := []part{{}}
	number := make(map[string]int, len(m.Kernels)) // of a kernel in the lists below
	var kernels []Kernel
	var in []int // the part of a kernel
	for i, image := range images {
		moved := map[int]int{}
		move := func(mangled, name string) {
			if _, ours := m.Kernels[mangled]; !ours {
				return
			}
			n, known := number[mangled]
			if !known {
				n = len(kernels)
				number[mangled] = n
				kernels, in = append(kernels, Kernel{mangled, name}), append(in, 0)
				parts[0].size++
			}
			from := in[n]
			to, made := moved[from]
			if !made {
				to = len(parts)
				moved[from] = to
				parts = append(parts, part{images: append(slices.Clip(parts[from].images), i)})
			}
			parts[from].size--
			parts[to].size++
			in[n] = to
		}
		for _, k := range image.Kernels {
			move(k.Mangled, k.Name)
		}
		if !image.Empty() {
			move(WholeModule, WholeModule)
		}
	}
	inputs := m.inputTargets()
	groups := make([]Group, len(parts))
	for n, p := range parts {
		groups[n].Inputs = inputs
		groups[n].Kernels = make([]Kernel, 0, p.size)
		for _, i := range p.images {
			groups[n].Images = append(groups[n].Images, described(images[i], i >= len(m.Loaded)))
		}
	}
	for n, k := range kernels {
		g := &groups[in[n]]
		g.Kernels = append(g.Kernels, k)
	}
	return slices.DeleteFunc(groups, func(g Group) bool { return len(g.Kernels) == 0 })
}

func described(i devicecode.Image, input bool) Image {
	return Image{i.Kind, i.Target, i.PTXVersion, i.Toolkit, i.Compression, input}
}

// inputTargets gives the PTX targets of the inputs, each list once.
func (m Module) inputTargets() [][]arch.Target {
	var lists [][]arch.Target
	for _, in := range m.Inputs {
		var list []arch.Target
		for _, i := range in.Images {
			if IsPTX(i) && !slices.Contains(list, i.Target) {
				list = append(list, i.Target)
			}
		}
		slices.SortFunc(list, arch.Compare)
		if !slices.ContainsFunc(lists, func(l []arch.Target) bool { return slices.Equal(l, list) }) {
			lists = append(lists, list)
		}
	}
	return lists
}

// key tells sets apart.
func (s Set) key() string {
	var b strings.Builder
	for _, i := range s.Images {
		fmt.Fprintf(&b, "%s %s %s %s %s %t\n", i.Kind, i.Target, i.PTXVersion, i.Toolkit, i.Compression, i.Input)
	}
	for _, list := range s.Inputs {
		fmt.Fprintln(&b, list)
	}
	return b.String()
}
