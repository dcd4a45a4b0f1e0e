package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Previous is an earlier verification of the project, to compare with.
type Previous struct {
	Bundle string // where it lies
	Record *record.Record
	Result judge.Result // of the same rules as now
}

// difference is what changed in one respect.
type difference struct{ What, Was, Is string }

// differences says what changed since an earlier verification. Times, and what
// changes with every build alone, are left out.
func differences(was Previous, r *record.Record, result judge.Result) []difference {
	var list []difference
	add := func(what, before, now string) {
		if before != now {
			list = append(list, difference{what, cmp.Or(before, "none"), cmp.Or(now, "none")})
		}
	}
	b := was.Record
	add("verdict", string(was.Result.Verdict), string(result.Verdict))
	for _, id := range union(idsOf(was.Result), idsOf(result)) {
		add("findings "+id+" "+catalogue[id].Title, times(idsOf(was.Result)[id]), times(idsOf(result)[id]))
	}
	add("cudaproof", b.Tool, r.Tool)
	add("driver", b.Probe.Driver.Version, r.Probe.Driver.Version)
	add("CUDA version of the driver", b.Probe.Driver.CUDA, r.Probe.Driver.CUDA)
	add("toolkit", b.Probe.Toolkit.Release, r.Probe.Toolkit.Release)
	add("devices", devicesIn(b), devicesIn(r))
	add("source revision", revision(b.Source), revision(r.Source))
	add("manifest", b.Manifest.SHA256, r.Manifest.SHA256)
	before, now := artifactsOf(b), artifactsOf(r)
	for _, path := range union(before, now) {
		add("hash of "+path, before[path].hash, now[path].hash)
		add("targets in "+path, before[path].targets, now[path].targets)
		add("kernels in "+path, times(before[path].kernels), times(now[path].kernels))
	}
	ran, runs := outcomes(b), outcomes(r)
	for _, id := range union(ran, runs) {
		add("run "+id, ran[id], runs[id])
	}
	return list
}

func idsOf(result judge.Result) map[string]int {
	n := map[string]int{}
	for _, f := range result.Findings {
		n[f.ID]++
	}
	return n
}

// union gives the keys of both, sorted.
func union[V any](a, b map[string]V) []string {
	keys := slices.Collect(maps.Keys(a))
	keys = slices.AppendSeq(keys, maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

func times(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func devicesIn(r *record.Record) string {
	var names []string
	for _, d := range r.Probe.Devices {
		names = append(names, fmt.Sprintf("%s (%s)", d.Name, d.Capability))
	}
	return strings.Join(names, ", ")
}

func revision(s record.Source) string {
	if len(s.Changed) > 0 {
		return fmt.Sprintf("%s with %s", s.Commit, count(len(s.Changed), "changed file", "changed files"))
	}
	return s.Commit
}

// contentsOf is what counts of a file for a comparison.
type contentsOf struct {
	hash, targets string
	kernels       int
}

func artifactsOf(r *record.Record) map[string]contentsOf {
	all := map[string]contentsOf{}
	for _, a := range r.Artifacts {
		targets := map[arch.Target]bool{}
		kernels := map[string]bool{}
		for _, o := range a.Objects {
			for n, c := range o.Code.Containers {
				for _, i := range c.Images {
					targets[i.Target] = true
					for _, k := range i.Kernels {
						kernels[fmt.Sprint(o.Name, n, k.Mangled)] = true
					}
				}
			}
		}
		var names []string
		for _, t := range slices.SortedFunc(maps.Keys(targets), arch.Compare) {
			names = append(names, t.String())
		}
		all[a.Path] = contentsOf{a.SHA256, strings.Join(names, ", "), len(kernels)}
	}
	return all
}

// outcomes says how each run went, by entry point, mode and devices.
func outcomes(r *record.Record) map[string]string {
	all := map[string]string{}
	for _, run := range r.Runs {
		all[fmt.Sprintf("%s, %s, %s", run.EntryPoint, run.Mode, devicesOf(r, run))] = outcome(run)
	}
	return all
}
