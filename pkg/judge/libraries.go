package judge

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/linkage"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Libraries checks the shared libraries that the artifacts need and those
// that the runs loaded: every one that carries device code must be an artifact
// or be excused as third party.
func Libraries(m *manifest.Manifest, r *record.Record) []Finding {
	var found []Finding
	for _, a := range r.Artifacts {
		if a.LinkageProblem != "" {
			found = append(found, Finding{
				ID: "CP134", Artifact: a.Path,
				Fact:   "The shared libraries that it needs could not be resolved: " + a.LinkageProblem + ".",
				Action: "Correct the file named, and run again.",
			})
		}
		for _, d := range a.Dependencies {
			if d.Path == "" && !linkage.DriverName(d.Name) {
				found = append(found, Finding{
					ID: "CP130", Artifact: a.Path,
					Fact:   fmt.Sprintf("Shared library %s, needed by %s, is not found here.", d.Name, d.NeededBy),
					Cause:  "It is not installed, or neither RUNPATH, LD_LIBRARY_PATH nor ld.so.cache leads to it.",
					Action: "Install it, or set the RUNPATH (-Xlinker -rpath) that the release will use.",
				})
			}
		}
	}
	for _, l := range r.Libraries {
		if !l.DriverOrTool {
			found = append(found, libraryFindings(m, l)...)
			found = append(found, unserved(m, r, l.Path, l.Images)...)
		}
	}
	for _, a := range r.Artifacts {
		found = append(found, unserved(m, r, a.Path, counted(a))...)
	}
	for _, d := range r.Duplicates {
		found = append(found, Finding{
			ID: "CP135", Artifact: d.Files[0],
			Fact:   fmt.Sprintf("%s defines kernels of the same name, which one process loads too: %d (%s).", d.Files[1], d.Kernels, sample(d)),
			Cause:  "Both compile the same templates or sources. Where both export the host function of a kernel, the loader uses that of the first for both, and so the device code of one file only.",
			Action: "Compile with -fvisibility=hidden (-Xcompiler), or give the kernels names of their own.",
		})
	}
	return found
}

// sample names the kernels of a duplicate as far as the record lists them.
func sample(d record.Duplicate) string {
	names := d.Names[:min(len(d.Names), 3)]
	if d.Kernels > len(names) {
		return strings.Join(names, ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

func libraryFindings(m *manifest.Manifest, l record.Library) []Finding {
	excuse, excused := m.ThirdPartyOf(l.Path)
	if l.Problem != "" {
		return []Finding{{
			ID: "CP132", Artifact: l.Path,
			Fact:   fmt.Sprintf("The library, %s, could not be read: %s.", usedBy(l), l.Problem),
			Action: "Make the file readable, and run again.",
		}}
	}
	if !l.HasDeviceCode() {
		return nil
	}
	if excused {
		return []Finding{{
			ID: "CP133", Artifact: l.Path,
			Fact: fmt.Sprintf("The library, %s, carries device code and is excused by %q: %s.", usedBy(l), excuse.Match, excuse.Reason),
		}}
	}
	return []Finding{{
		ID: "CP131", Artifact: l.Path,
		Fact:   fmt.Sprintf("The library, %s, carries device code and is neither an artifact nor third party.", usedBy(l)),
		Cause:  "A library or plugin was added, and nobody looks at its device code.",
		Action: "List it under artifacts if you build it, else under third_party with a reason.",
	}}
}

func usedBy(l record.Library) string {
	switch {
	case len(l.LoadedBy) > 0:
		var entryPoints []string
		for _, id := range l.LoadedBy { // "f32/native/GPU-..."
			name, _, _ := strings.Cut(id, "/")
			entryPoints = append(entryPoints, name)
		}
		return "loaded by " + strings.Join(slices.Compact(entryPoints), ", ")
	case len(l.NeededBy) > 0:
		return "needed by " + strings.Join(l.NeededBy, ", ")
	}
	return "named by nothing"
}

// unserved says which required devices a third-party library has no image for at
// all. One that lies in the project's folder is shipped with it; another is the
// machine's, and the user's may differ.
func unserved(m *manifest.Manifest, r *record.Record, file string, images []record.ImageCount) []Finding {
	if _, excused := m.ThirdPartyOf(file); !excused || len(images) == 0 {
		return nil
	}
	var found []Finding
	for _, c := range wantedDevices(m, r) {
		if slices.ContainsFunc(images, func(i record.ImageCount) bool { return i.Kernels > 0 && i.Target.On(c) != arch.None }) {
			continue
		}
		f := Finding{
			ID: "CP136", Artifact: file, Device: c.String(),
			Fact:   fmt.Sprintf("The third-party library has no image at all that a device of capability %s runs or compiles; it has %s.", c, countedTargets(images)),
			Cause:  "It was built for other devices.",
			Action: "Ship a version that is built for this device, or take it from require.devices.",
		}
		if path.IsAbs(file) {
			f.ID, f.Action = "CP137", "See that users on such a device get another version of the library."
		}
		found = append(found, f)
	}
	return found
}

// counted gives the images of an artifact as those of a library are recorded.
func counted(a record.Artifact) (list []record.ImageCount) {
	for _, i := range allImages(a) {
		list = append(list, record.ImageCount{Kind: i.Kind, Target: i.Target, Images: 1, Kernels: len(i.Kernels)})
	}
	return list
}

func countedTargets(images []record.ImageCount) string {
	var targets []arch.Target
	for _, i := range images {
		targets = append(targets, i.Target)
	}
	slices.SortFunc(targets, arch.Compare)
	return joined(slices.Compact(targets))
}
