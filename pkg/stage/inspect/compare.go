package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/devicecode/scan"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect/cuobjdump"
)

// lists is what we read, cut to what cuobjdump can list.
type lists struct {
	// must are the images that cuobjdump lists, may those outside the sections
	// that it knows: some versions find them by their registration, others do
	// not.
	must, may []cuobjdump.Image
	// others counts the images of kinds that cuobjdump does not list.
	others int
}

// ourLists gives our reading in cuobjdump's terms.
func ourLists(f artifact.File) lists {
	var ours lists
	for _, o := range f.Objects {
		for _, c := range o.Code.Containers {
			known := c.Role == devicecode.RawFile || c.Section == scan.Fatbin || c.Section == scan.Relocatable
			for _, i := range c.Images {
				switch {
				case !slices.Contains(kinds, i.Kind):
					ours.others++
				case known:
					ours.must = append(ours.must, inItsTerms(i))
				default:
					ours.may = append(ours.may, inItsTerms(i))
				}
			}
		}
	}
	return ours
}

// kinds are the kinds that cuobjdump lists.
var kinds = []devicecode.Kind{devicecode.Cubin, devicecode.PTX, devicecode.LTOIR}

func inItsTerms(i devicecode.Image) cuobjdump.Image {
	image := cuobjdump.Image{Kind: i.Kind, Target: i.Target}
	switch i.Kind {
	case devicecode.PTX:
		image.PTXVersion = i.PTXVersion
	case devicecode.Cubin:
		for _, k := range i.Kernels {
			image.Kernels = append(image.Kernels, k.Mangled)
		}
	}
	return image
}

// compare says what the two readings share and what only one of them has.
// Order does not count, number does.
func compare(must, may, theirs []cuobjdump.Image) (agreed int, differences []string) {
	if !slices.ContainsFunc(theirs, family) {
		must, may = withoutFamilies(must), withoutFamilies(may)
	}
	left := tallyBy(theirs, whole)
	onlyOurs := take(left, must, &agreed)
	take(left, may, &agreed)
	var onlyTheirs []cuobjdump.Image
	for _, i := range theirs {
		if key := whole(i); left[key] > 0 {
			left[key]--
			onlyTheirs = append(onlyTheirs, i)
		}
	}
	return agreed, difference(onlyOurs, onlyTheirs)
}

func family(i cuobjdump.Image) bool {
	return i.Kind == devicecode.Cubin && i.Target.Suffix == arch.Family
}

// withoutFamilies names family cubins as cuobjdump's lists of files do: 13.0
// calls an sm_100f cubin sm_100 there.
func withoutFamilies(images []cuobjdump.Image) []cuobjdump.Image {
	images = slices.Clone(images)
	for n := range images {
		if family(images[n]) {
			images[n].Target.Suffix = arch.Plain
		}
	}
	return images
}

// take removes images from a tally, adds the images and kernels found there to
// agreed, and returns the images that are not there.
func take(from map[string]int, images []cuobjdump.Image, agreed *int) (missing []cuobjdump.Image) {
	for _, i := range images {
		key := whole(i)
		if from[key] == 0 {
			missing = append(missing, i)
			continue
		}
		from[key]--
		*agreed += 1 + len(i.Kernels)
	}
	return missing
}

// whole identifies an image with everything in it.
func whole(i cuobjdump.Image) string {
	return heading(i) + "\n" + strings.Join(slices.Sorted(slices.Values(i.Kernels)), "\n")
}

// heading names an image without its kernels.
func heading(i cuobjdump.Image) string {
	name := string(i.Kind)
	if i.Target != (arch.Target{}) {
		name = i.Target.String() + " " + name
	}
	if i.PTXVersion != "" {
		name += " " + i.PTXVersion
	}
	return name
}

func tallyBy(images []cuobjdump.Image, key func(cuobjdump.Image) string) map[string]int {
	tally := map[string]int{}
	for _, i := range images {
		tally[key(i)]++
	}
	return tally
}

// difference names what images that do not match differ in, images first.
func difference(ours, theirs []cuobjdump.Image) []string {
	if len(ours) == 0 && len(theirs) == 0 {
		return nil
	}
	found := slices.Concat(
		onlyOne(tallyBy(ours, heading), tallyBy(theirs, heading)),
		onlyOne(kernels(ours), kernels(theirs)),
	)
	if len(found) == 0 {
		found = []string{"the same kernels are in other images"}
	}
	return found
}

// kernels counts kernels by name and target.
func kernels(images []cuobjdump.Image) map[string]int {
	tally := map[string]int{}
	for _, i := range images {
		for _, k := range i.Kernels {
			tally[fmt.Sprintf("kernel %s in %s", k, i.Target)]++
		}
	}
	return tally
}

// onlyOne names what one tally has more of than the other.
func onlyOne(ours, theirs map[string]int) []string {
	var found []string
	both := maps.Clone(ours)
	maps.Copy(both, theirs)
	for _, what := range slices.Sorted(maps.Keys(both)) {
		switch n := ours[what] - theirs[what]; {
		case n > 0:
			found = append(found, "only cudaproof finds "+times(what, n))
		case n < 0:
			found = append(found, "only cuobjdump finds "+times(what, -n))
		}
	}
	return found
}

func times(what string, n int) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%s (%d times)", what, n)
}
