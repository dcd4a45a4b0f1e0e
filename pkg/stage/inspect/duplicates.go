package inspect

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// maxNames bounds the names that a duplicate lists.
const maxNames = 10

// kernelSet holds the kernels of a file: the names by the mangled names.
type kernelSet map[string]string

func kernelsOf(f artifact.File) kernelSet {
	kernels := kernelSet{}
	for _, i := range images(f) {
		for _, k := range i.Kernels {
			kernels[k.Mangled] = k.Name
		}
	}
	return kernels
}

// duplicates compares every artifact with the files that are used together with
// it: those it needs, and those that a process of a run loaded beside it.
func duplicates(m *manifest.Manifest, artifacts []record.Artifact, runs []record.Run, libraries []record.Library, kernels []kernelSet) []record.Duplicate {
	sets := map[string]kernelSet{}
	for n, l := range libraries {
		sets[l.Path] = kernels[n]
	}
	for _, a := range artifacts {
		sets[a.Path] = kernelsOf(a.File)
	}
	var list []record.Duplicate
	for pair := range pairs(m, artifacts, runs) {
		if d := compareSets(sets[pair[0]], sets[pair[1]]); d.Kernels > 0 {
			d.Files = pair
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b record.Duplicate) int {
		return cmp.Or(cmp.Compare(a.Files[0], b.Files[0]), cmp.Compare(a.Files[1], b.Files[1]))
	})
	return list
}

// pairs gives each artifact with each other file used together with it, both
// named as the record does, sorted.
func pairs(m *manifest.Manifest, artifacts []record.Artifact, runs []record.Run) map[[2]string]bool {
	names := map[string]string{} // of artifacts, by real path
	for _, a := range artifacts {
		names[realPath(m.Abs(a.Path))] = a.Path
	}
	name := func(path string) string {
		real := realPath(m.Abs(path))
		return cmp.Or(names[real], m.Rel(real))
	}
	found := map[[2]string]bool{}
	add := func(a, b string) {
		if a = name(a); a != name(b) {
			pair := [2]string{a, name(b)}
			slices.Sort(pair[:])
			found[pair] = true
		}
	}
	for _, a := range artifacts {
		for _, d := range a.Dependencies {
			if d.Path != "" {
				add(a.Path, d.Path)
			}
		}
	}
	for _, r := range runs {
		for _, p := range r.Processes {
			for _, a := range p.Artifacts {
				for _, other := range slices.Concat(p.Artifacts, p.Libraries) {
					add(a, other)
				}
			}
		}
	}
	return found
}

func compareSets(a, b kernelSet) record.Duplicate {
	if len(a) > len(b) {
		a, b = b, a
	}
	both := map[string]bool{} // by demangled name: a list for people
	var d record.Duplicate
	for mangled, name := range a {
		if _, ok := b[mangled]; ok {
			d.Kernels++
			both[name] = true
		}
	}
	d.Names = slices.Sorted(maps.Keys(both))
	d.Names = d.Names[:min(len(d.Names), maxNames)]
	return d
}
