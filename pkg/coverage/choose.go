package coverage

import (
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// LoadTimeLink means that the driver links relocatable machine code when the module
// is loaded (measured on an H200, driver 580.159.04): it runs, but no device link
// was asked for it.
const LoadTimeLink arch.Fit = "load-time link"

// Choice is what a device does for the kernels of a set.
type Choice struct {
	Fit arch.Fit `json:"fit"`
	// Image is the target that it takes, "sm_90" or "compute_80". Where several of
	// one number fit, which of them is not documented: "sm_100 or sm_100a".
	Image string `json:"image,omitempty"`
	PTX   string `json:"ptx,omitempty"` // ISA version of the PTX that is compiled
	// CUDA is the oldest CUDA version of a driver that serves, "12.9"; empty where
	// the tables name none.
	CUDA string `json:"cuda,omitempty"`
	// TooOld says that the image would do but the driver is older than CUDA.
	TooOld bool `json:"driver_too_old,omitempty"`
	// Dropped says that the image would do but the driver no longer knows the device.
	Dropped bool `json:"device_dropped,omitempty"`
}

// Serves reports whether the kernels run.
func (c Choice) Serves() bool {
	return c.Fit == arch.Native || c.Fit == arch.JIT || c.Fit == LoadTimeLink
}

// Choose says what a device takes. Machine code that fits beats any PTX, and the
// nearest target not above the device's wins (measured publicly on an Ada card,
// project cuda-fatbin-precedence); machine code that the driver links at load beats
// PTX (measured on an H200, driver 580.159.04).
func (s Set) Choose(c arch.Capability, d arch.Driver) Choice {
	native := s.Native(c, d)
	if native.Serves() || native.TooOld || native.Dropped {
		return native
	}
	if jit := s.JIT(c, d); jit.Fit != arch.None || jit.TooOld || jit.Dropped {
		return jit
	}
	return native
}

// Native says what a device takes where nothing may be compiled.
func (s Set) Native(c arch.Capability, d arch.Driver) Choice {
	fits := func(fit arch.Fit, input bool) []Image {
		return s.nearest(func(i Image) bool { return i.Kind == devicecode.Cubin && i.Input == input && i.Target.On(c) == fit })
	}
	if images := fits(arch.Native, false); len(images) > 0 {
		return s.taken(arch.Native, images, c, d)
	}
	if images := fits(arch.Native, true); len(images) > 0 {
		return s.taken(LoadTimeLink, images, c, d)
	}
	for _, fit := range []arch.Fit{arch.NotGuaranteed, arch.Unknown} {
		for _, input := range []bool{false, true} {
			if images := fits(fit, input); len(images) > 0 {
				return Choice{Fit: fit, Image: names(images)}
			}
		}
	}
	return Choice{Fit: arch.None}
}

// JIT says which PTX a device compiles where nothing else may be used.
func (s Set) JIT(c arch.Capability, d arch.Driver) Choice {
	compiles := func(fit arch.Fit) []Image {
		return s.nearest(func(i Image) bool {
			return (i.Kind == devicecode.PTX || i.Kind == devicecode.RelocatablePTX) && i.Target.On(c) == fit
		})
	}
	images := compiles(arch.JIT)
	if len(images) > 0 && s.linkable(c) {
		return s.taken(arch.JIT, images, c, d)
	}
	for _, fit := range []arch.Fit{arch.NotGuaranteed, arch.Unknown} {
		if images := compiles(fit); len(images) > 0 {
			return Choice{Fit: fit, Image: names(images), PTX: images[0].PTXVersion}
		}
	}
	return Choice{Fit: arch.None}
}

// linkable reports whether all relocatable containers have PTX that a device
// compiles: a kernel may call into any of them.
func (s Set) linkable(c arch.Capability) bool {
	return !slices.ContainsFunc(s.Inputs, func(targets []arch.Target) bool {
		return !slices.ContainsFunc(targets, func(t arch.Target) bool { return t.On(c) == arch.JIT })
	})
}

// nearest gives the images of the highest number among those that fit.
func (s Set) nearest(fits func(Image) bool) []Image {
	var best []Image
	for _, i := range s.Images {
		switch {
		case !fits(i):
		case len(best) == 0 || i.Target.Number > best[0].Target.Number:
			best = append(best[:0], i)
		case i.Target.Number == best[0].Target.Number:
			best = append(best, i)
		}
	}
	return best
}

// taken says what comes of images of which the device takes one.
func (s Set) taken(fit arch.Fit, images []Image, c arch.Capability, d arch.Driver) Choice {
	choice := Choice{Fit: fit, Image: names(images), CUDA: arch.FloorOfDevice(c)}
	for _, i := range images {
		floor, known := floor(i, d)
		if !known {
			return Choice{Fit: arch.Unknown, Image: names(images), PTX: i.PTXVersion}
		}
		choice.CUDA = arch.Newer(choice.CUDA, floor)
		if fit == arch.JIT {
			choice.PTX = arch.Newer(choice.PTX, i.PTXVersion)
		}
	}
	tooNew := choice.PTX != "" && arch.ToolkitOfPTX(choice.PTX) == "" && arch.CompareVersions(choice.PTX, arch.Releases[0].PTX) > 0
	if d != (arch.Driver{}) && (!d.AtLeast(choice.CUDA) || tooNew) {
		choice.Fit, choice.TooOld = arch.None, true
		if fit == arch.JIT && d.AtLeast(arch.FloorOfDevice(c)) && s.older(c, d) {
			// Whether the driver passes over PTX that is too new for it is not documented.
			choice.Fit, choice.TooOld = arch.NotGuaranteed, false
		}
	}
	if d.Drops(c) || (arch.Driver{CUDA: choice.CUDA}).Drops(c) {
		choice.Fit, choice.TooOld, choice.Dropped = arch.None, false, true
	}
	if !c.Listed() {
		choice.CUDA = "" // which driver knows the device is beyond the tables
	}
	return choice
}

// older reports whether a device could compile other PTX of the set with a driver.
func (s Set) older(c arch.Capability, d arch.Driver) bool {
	return slices.ContainsFunc(s.Images, func(i Image) bool {
		compiles, _ := d.CompilesPTX(i.PTXVersion)
		return i.PTXVersion != "" && compiles && i.Target.On(c) == arch.JIT
	})
}

// floor gives the oldest CUDA version of a driver that takes an image; known is
// false where the tables end before it and do not tell for that driver.
func floor(i Image, d arch.Driver) (cuda string, known bool) {
	if i.Kind == devicecode.Cubin {
		return arch.Newer(arch.FloorOfCubin(i.Toolkit), arch.FloorOfCompression(i.Compression)), true
	}
	_, known = d.CompilesPTX(i.PTXVersion)
	if d == (arch.Driver{}) {
		known = arch.CompareVersions(i.PTXVersion, arch.Newest().PTX) <= 0
	}
	return arch.Newer(arch.ToolkitOfPTX(i.PTXVersion), arch.FloorOfCompression(i.Compression)), known
}

// names gives the targets of images, each once.
func names(images []Image) string {
	var list []string
	for _, i := range images {
		if name := i.Target.String(); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " or ")
}
