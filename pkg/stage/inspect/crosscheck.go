package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect/cuobjdump"
)

// maxDifferences bounds how many differences of one file are named.
const maxDifferences = 50

// checker compares our reading of files with cuobjdump's.
type checker struct {
	tool    cuobjdump.Tool
	missing error // why there is no tool
}

func newChecker(ctx context.Context, nvcc string) checker {
	t, err := cuobjdump.Find(ctx, nvcc)
	return checker{t, err}
}

// check compares a file. path is where it is, which its Path need not be.
func (c checker) check(ctx context.Context, path string, f artifact.File) record.CrossCheck {
	result := record.CrossCheck{Version: c.tool.Version}
	if result.NotDone = c.obstacle(f); result.NotDone != "" {
		return result
	}
	theirs, err := c.tool.Read(ctx, path)
	if err != nil {
		result.NotDone = err.Error()
		return result
	}
	ours := ourLists(f)
	if invented := inventedTarget(ours, theirs); invented != "" {
		result.NotDone = fmt.Sprintf("cuobjdump %s lists a target %s that no toolkit names", c.tool.Version, invented)
		return result
	}
	agreed, differences := compareAll(ours, theirs)
	if _, unknown := newestToolkit(f); unknown != "" && len(differences) > 0 {
		result.NotDone = fmt.Sprintf("the lists differ, but the toolkit that wrote the %s is not known and may be newer than cuobjdump %s", unknown, c.tool.Version)
		return result
	}
	result.Done, result.Agreed, result.Differences = true, agreed, differences
	result.NotDone = notCompared(ours, theirs)
	return result
}

// obstacle says why a file cannot be compared, and is empty when it can.
func (c checker) obstacle(f artifact.File) string {
	switch {
	case c.missing != nil:
		return c.missing.Error()
	case f.IsArchive():
		return "cuobjdump does not read archives: unpack it and inspect the files"
	case f.Format == artifact.PTXFile:
		return "cuobjdump does not read PTX files"
	case !whollyRead(f):
		return "our own reading of the file is not complete"
	}
	if newest, _ := newestToolkit(f); arch.CompareVersions(c.tool.Version, newest) < 0 {
		return fmt.Sprintf("cuobjdump %s is older than toolkit %s, which wrote a part of the file", c.tool.Version, newest)
	}
	return ""
}

// whollyRead reports whether everything that is compared was read. LTO IR is
// compared by its target, which the entry header gives.
func whollyRead(f artifact.File) bool {
	if f.Problem != "" {
		return false
	}
	for _, o := range f.Objects {
		if len(o.Code.Problems) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(images(f), func(i devicecode.Image) bool {
		return i.Problem != "" && i.Kind != devicecode.LTOIR
	})
}

// images gives the images of all objects of a file.
func images(f artifact.File) []devicecode.Image {
	var all []devicecode.Image
	for _, o := range f.Objects {
		for _, c := range o.Code.Containers {
			all = append(all, c.Images...)
		}
	}
	return all
}

// newestToolkit gives the newest toolkit known to have written an image, empty
// when there is none, and an image whose toolkit is not known, empty when all
// are. LTO IR that is not obfuscated does not tell its toolkit.
func newestToolkit(f artifact.File) (newest, unknown string) {
	for _, i := range images(f) {
		var version string
		switch {
		case i.Kind == devicecode.Cubin:
			version = i.Toolkit
		case i.Kind == devicecode.PTX:
			version = arch.ToolkitOfPTX(i.PTXVersion)
		case i.Kind == devicecode.LTOIR && i.Obfuscated:
			version = "13.0" // the oldest that was seen to write it so
		default:
			continue
		}
		if version == "" {
			unknown = fmt.Sprintf("%s %s", i.Target, i.Kind)
		}
		if arch.CompareVersions(version, newest) > 0 {
			newest = version
		}
	}
	return newest, unknown
}

// inventedTarget gives a target that cuobjdump lists, that we did not find, and
// that is none: 11.8 lists sm_181 for a file of 13.0.
func inventedTarget(ours lists, theirs cuobjdump.Reading) string {
	for _, their := range slices.Concat(theirs.Files, theirs.Symbols) {
		found := func(i cuobjdump.Image) bool { return i.Target.Number == their.Target.Number }
		if their.Target.Number != 0 && !their.Target.Listed() &&
			!slices.ContainsFunc(ours.must, found) && !slices.ContainsFunc(ours.may, found) {
			return their.Target.String()
		}
	}
	return ""
}

// compareAll compares both of cuobjdump's lists with ours. What agrees is
// counted in the second, which has everything.
func compareAll(ours lists, theirs cuobjdump.Reading) (agreed int, differences []string) {
	agreed, differences = compare(ours.must, ours.may, nameLone(theirs))
	_, files := compare(asFiles(ours.must), asFiles(ours.may), theirs.Files)
	for _, d := range files {
		if !slices.Contains(differences, d) {
			differences = append(differences, d)
		}
	}
	if more := len(differences) - maxDifferences; more > 0 {
		differences = append(differences[:maxDifferences], fmt.Sprintf("and %d more", more))
	}
	return agreed, differences
}

// asFiles gives images as the list of files has them: cubins and PTX only, by
// kind and target.
func asFiles(images []cuobjdump.Image) []cuobjdump.Image {
	var files []cuobjdump.Image
	for _, i := range images {
		if i.Kind == devicecode.Cubin || i.Kind == devicecode.PTX {
			files = append(files, cuobjdump.Image{Kind: i.Kind, Target: i.Target})
		}
	}
	return files
}

// nameLone gives the list of symbols without the kinds that are not compared,
// and with the target of a lone cubin, which only the list of files names.
func nameLone(theirs cuobjdump.Reading) []cuobjdump.Image {
	var list []cuobjdump.Image
	for _, i := range theirs.Symbols {
		if i.Target == (arch.Target{}) && len(theirs.Symbols) == 1 && len(theirs.Files) == 1 {
			i.Target = theirs.Files[0].Target
		}
		if slices.Contains(kinds, i.Kind) {
			list = append(list, i)
		}
	}
	return list
}

// notCompared says what a finished comparison left out.
func notCompared(ours lists, theirs cuobjdump.Reading) string {
	listed := len(nameLone(theirs))
	var left []string
	leave := func(n int, what string) {
		if n > 0 {
			left = append(left, fmt.Sprintf("%s: %d", what, n))
		}
	}
	leave(ours.others, "images of kinds that cuobjdump does not list")
	leave(len(theirs.Symbols)-listed, "images of kinds that only cuobjdump lists")
	if listed <= len(ours.must) {
		leave(len(ours.may), "images outside the sections that cuobjdump reads")
	}
	return strings.Join(left, "; ")
}
