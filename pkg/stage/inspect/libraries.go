package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/coverage"
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
	libraries, traced := uses(m, artifacts, runs), foreign(artifacts, runs)
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
			// Hashing every decoded image takes its time: only where a run loaded
			// modules that have to be found again.
			f := open(ctx, m.Abs(l.Path), l.Path, devicecode.Options{Digests: len(traced) > 0 && len(l.LoadedBy) > 0})
			count(l, f)
			l.Traced = among(f, traced)
			kernels[n] = kernelsOf(f)
		}
	})
	return libraries, duplicates(m, artifacts, runs, libraries, kernels)
}

// count fills in what was read of a library.
func count(l *record.Library, f artifact.File) {
	l.SHA256, l.Size, l.Problem = f.SHA256, f.Size, f.Problem
	l.Sets = coverage.Fold(f)
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

// foreign gives the hashes of the modules that runs loaded and that are no images
// of the artifacts.
func foreign(artifacts []record.Artifact, runs []record.Run) map[string]bool {
	hashes := map[string]bool{}
	for _, r := range runs {
		for _, p := range r.Trace.Processes {
			for _, m := range p.Modules {
				hashes[m.SHA256] = true
			}
		}
	}
	for _, a := range artifacts {
		for _, i := range images(a.File) {
			delete(hashes, i.SHA256)
		}
	}
	return hashes
}

// among gives the hashes that images of a file have, sorted.
func among(f artifact.File, hashes map[string]bool) []string {
	var found []string
	for _, i := range images(f) {
		if hashes[i.SHA256] {
			found = append(found, i.SHA256)
		}
	}
	return sortedSet(found)
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
