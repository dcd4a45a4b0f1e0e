package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/linkage"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Libraries inspects the shared libraries that the artifacts need and those
// loaded by processes of the runs that map an artifact or load libcuda. Each is
// there once, by its real path, sorted; artifacts are left out. Libraries of
// the driver and the CUDA tools are hashed only. The duplicates are the kernels
// that two files define which are used together.
func Libraries(ctx context.Context, m *manifest.Manifest, artifacts []record.Artifact, runs []record.Run, o Options) ([]record.Library, []record.Duplicate) {
	libraries := uses(m, artifacts, runs)
	kernels := make([]kernelSet, len(libraries))
	paths := make([]string, len(libraries)) // while they are worked on
	for n, l := range libraries {
		paths[n] = l.Path
	}
	each(len(libraries), o.Observer, func(n int) string { return paths[n] }, func(n int) {
		l := &libraries[n]
		if l.DriverOrTool {
			count(l, hashed(ctx, m.Abs(l.Path), l.Path))
		} else {
			f := open(ctx, m.Abs(l.Path), l.Path, devicecode.Options{})
			count(l, f)
			kernels[n] = kernelsOf(f)
		}
	})
	return libraries, duplicates(m, artifacts, runs, libraries, kernels)
}

// count fills in what was read of a library.
func count(l *record.Library, f artifact.File) {
	l.SHA256, l.Size, l.Problem = f.SHA256, f.Size, f.Problem
	type key struct {
		kind   devicecode.Kind
		target arch.Target
	}
	counts := map[key]record.ImageCount{}
	for _, o := range f.Objects {
		l.Unread += len(o.Code.Problems)
		for _, c := range o.Code.Containers {
			for _, i := range c.Images {
				if i.Problem != "" {
					l.Unread++
				}
				k := key{i.Kind, i.Target}
				n := counts[k]
				counts[k] = record.ImageCount{Kind: i.Kind, Target: i.Target, Images: n.Images + 1, Kernels: n.Kernels + len(i.Kernels)}
			}
		}
	}
	l.Images = slices.SortedFunc(maps.Values(counts), func(a, b record.ImageCount) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Target.Number, b.Target.Number), cmp.Compare(a.Target.Suffix, b.Target.Suffix))
	})
}

// users are the artifacts that need a library and the runs that loaded it.
type users struct{ artifacts, runs []string }

// uses lists the libraries with their users, and nothing else filled in.
func uses(m *manifest.Manifest, artifacts []record.Artifact, runs []record.Run) []record.Library {
	found := map[string]*users{}
	of := func(path string) *users {
		name := m.Rel(realPath(m.Abs(path)))
		if found[name] == nil {
			found[name] = &users{}
		}
		return found[name]
	}
	for _, a := range artifacts {
		for _, d := range a.Dependencies {
			if d.Path != "" {
				u := of(d.Path)
				u.artifacts = append(u.artifacts, a.Path)
			}
		}
	}
	for _, r := range runs {
		for _, path := range loaded(r) {
			u := of(path)
			u.runs = append(u.runs, r.ID)
		}
	}
	for _, a := range artifacts {
		delete(found, m.Rel(realPath(m.Abs(a.Path))))
	}

	var libraries []record.Library
	for _, name := range slices.Sorted(maps.Keys(found)) {
		libraries = append(libraries, record.Library{
			File:         record.File{Path: name},
			DriverOrTool: linkage.DriverOrTool(name),
			NeededBy:     sortedSet(found[name].artifacts),
			LoadedBy:     sortedSet(found[name].runs),
		})
	}
	return libraries
}

// loaded gives the libraries of a run's processes that have to do with CUDA.
func loaded(r record.Run) []string {
	var paths []string
	for _, p := range r.Processes {
		if len(p.Artifacts) > 0 || p.Libcuda != "" {
			paths = append(paths, p.Libraries...)
		}
	}
	return paths
}

func sortedSet(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
