package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// KernelCoverage says which kernels of an artifact the runs launched.
type KernelCoverage struct {
	Artifact string `json:"artifact"`
	Kernels  int    `json:"kernels"`
	Native   int    `json:"native"` // launched in a native run
	// PTX is how many were launched in a PTX run, and not from machine code of the
	// files (bare cubins, which CUDA_FORCE_PTX_JIT does not touch).
	PTX int `json:"ptx"`
	// Never are the names of those launched in no run, sorted.
	Never []string `json:"never,omitempty"`

	notNative map[string]string // names by mangled name
}

// Kernels gives the coverage of the artifacts' kernels by the entry points, nil
// where there is no trace of any run. A kernel is told apart by its mangled name;
// that of a library with a kernel of the same name does not count.
func Kernels(r *record.Record) []KernelCoverage {
	launched := map[string]map[string]bool{} // by mode, by mangled name
	for _, run := range r.Runs {
		for _, l := range Launches(r, run) {
			if l.from(InLibrary) {
				continue
			}
			for _, mode := range []string{run.Mode, ""} { // "" for any
				if mode == string(manifest.PTXMode) && l.from(Shipped) {
					continue
				}
				if launched[mode] == nil {
					launched[mode] = map[string]bool{}
				}
				launched[mode][l.Mangled] = true
			}
		}
	}
	if len(launched) == 0 {
		return nil
	}
	var list []KernelCoverage
	for _, a := range r.Artifacts {
		c := KernelCoverage{Artifact: a.Path, notNative: map[string]string{}}
		for mangled, name := range coverage.Names(allImages(a)) {
			c.Kernels++
			if launched[string(manifest.NativeMode)][mangled] {
				c.Native++
			} else {
				c.notNative[mangled] = name
			}
			if launched[string(manifest.PTXMode)][mangled] {
				c.PTX++
			}
			if !launched[""][mangled] {
				c.Never = append(c.Never, name)
			}
		}
		slices.Sort(c.Never)
		if c.Kernels > 0 {
			list = append(list, c)
		}
	}
	return list
}

// launchedTooFew compares the coverage with what the manifest asks for, and names
// the kernels that no native run launched.
func launchedTooFew(m *manifest.Manifest, r *record.Record) []Finding {
	coverage := Kernels(r)
	some := slices.ContainsFunc(coverage, func(c KernelCoverage) bool { return c.Native > 0 }) // else others say more
	var found []Finding
	for _, c := range coverage {
		if some && len(c.notNative) > 0 {
			found = append(found, Finding{
				ID: "CP227", Artifact: c.Artifact, Kernel: only(c.notNative),
				Fact: fmt.Sprintf("Of %d kernels the runs launched %d natively and %d through PTX; never natively %s.",
					c.Kernels, c.Native, c.PTX, strings.TrimPrefix(list(c.notNative), "kernel ")),
				Action: "Add entry points for kernels whose results matter: of these, only inspection says anything.",
			})
		}
	}
	for _, rule := range m.Artifacts {
		if rule.Kernels.MinLaunched == 0 {
			continue
		}
		for _, a := range r.Artifacts {
			if a.Pattern != rule.Path {
				continue
			}
			found = append(found, enough(a.Path, rule.Kernels.MinLaunched, coverage, r)...)
		}
	}
	return found
}

// enough compares the coverage of one artifact with the percentage wanted.
func enough(path string, want int, coverage []KernelCoverage, r *record.Record) []Finding {
	i := slices.IndexFunc(coverage, func(c KernelCoverage) bool { return c.Artifact == path })
	untraced := slices.ContainsFunc(r.Runs, func(run record.Run) bool {
		return run.Mode == string(manifest.NativeMode) && incomplete(run.Trace)
	})
	reached := i >= 0 && coverage[i].Native*100 >= want*coverage[i].Kernels
	switch {
	case reached:
		return nil
	case untraced:
		return []Finding{{
			ID: "CP236", Artifact: path,
			Fact:   fmt.Sprintf("Whether the native runs launched %d %% of the kernels is not known: a trace is missing or not complete.", want),
			Action: "Run where CUPTI is to be had, and without another tool that uses it.",
		}}
	case i < 0:
		return []Finding{{
			ID: "CP235", Artifact: path,
			Fact:   fmt.Sprintf("The native runs launched no kernel of the file; the manifest asks for %d %%.", want),
			Action: "Add entry points that launch its kernels.",
		}}
	}
	c := coverage[i]
	return []Finding{{
		ID: "CP235", Artifact: path,
		Fact:   fmt.Sprintf("The native runs launched %d of %d kernels, which is less than the %d %% that the manifest asks for.", c.Native, c.Kernels, want),
		Action: "Add entry points for more of its kernels (the report's JSON lists them all), or ask for less.",
	}}
}
