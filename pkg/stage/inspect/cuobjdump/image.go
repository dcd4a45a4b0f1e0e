// Package cuobjdump runs NVIDIA's cuobjdump and reads what it lists, so that
// our own reading of a file can be compared with it.
//
// Its output is not documented as a format: what is read here was seen from
// cuobjdump 11.8 and 13.0, and anything else is an error, never skipped.
package cuobjdump

import (
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// Image is one image as cuobjdump lists it.
type Image struct {
	// Kind is Cubin, PTX or LTOIR. Another kind is given as cuobjdump names
	// it and has no target.
	Kind devicecode.Kind
	// Target is the zero value where cuobjdump names none: for a file that is
	// itself a cubin.
	Target     arch.Target
	PTXVersion string   // PTX ISA version, "9.0"; of PTX only, and not in the list of files
	Kernels    []string // mangled names, in cuobjdump's order; of cubins only
}

// Reading is what cuobjdump lists of one file.
type Reading struct {
	// Files is the list of `-lelf -lptx`: cubins and PTX with their targets.
	// 13.0 names a family target (sm_100f) as its plain one there.
	Files []Image
	// Symbols is the list of `-symbols`: every kind, with kernels.
	Symbols []Image
}

// target reads the architecture that cuobjdump gives, which is always spelt
// sm_NN, as a target of the image's kind.
func target(kind devicecode.Kind, name string) (arch.Target, error) {
	t, err := arch.ParseTarget(name)
	if err != nil {
		return arch.Target{}, err
	}
	return t.As(classes[kind]), nil
}

// classes gives the class of target that each kind has.
var classes = map[devicecode.Kind]arch.Class{
	devicecode.Cubin: arch.SM,
	devicecode.PTX:   arch.Compute,
	devicecode.LTOIR: arch.LTO,
}
