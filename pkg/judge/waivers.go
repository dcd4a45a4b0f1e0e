package judge

import (
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// waiver is a waiver of the manifest and what it excused.
type waiver struct {
	manifest.Waiver
	pattern string // of the artifacts
	excused map[arch.Capability]map[string]string
}

type waivers []*waiver

func newWaivers(m *manifest.Manifest) (list waivers) {
	for _, rule := range m.Artifacts {
		for _, w := range rule.Kernels.Without {
			list = append(list, &waiver{w, rule.Path, map[arch.Capability]map[string]string{}})
		}
	}
	return list
}

// of gives the waivers for the artifacts of a pattern.
func (w waivers) of(pattern string) []*waiver {
	return slices.DeleteFunc(slices.Clone(w), func(w *waiver) bool { return w.pattern != pattern })
}

// withoutExcused leaves out the kernels that waivers let be missing for a device.
func (s site) withoutExcused(kernels map[string]string, c arch.Capability) map[string]string {
	left := map[string]string{}
	for mangled, name := range kernels {
		excused := false
		for _, w := range s.waivers {
			if w.For(c) && matches(w.KernelPattern, mangled, name) {
				if w.excused[c] == nil {
					w.excused[c] = map[string]string{}
				}
				w.excused[c][mangled], excused = name, true
			}
		}
		if !excused {
			left[mangled] = name
		}
	}
	return left
}

// findings shows what was excused. A waiver that excuses nothing on a device is
// one that nobody needs, or that hides what it was not written for. A device that
// is not asked about here (the manifest names those present) needs no excuse.
func (w waivers) findings(r *record.Record, devices []arch.Capability) []Finding {
	var found []Finding
	for _, w := range w {
		if !slices.ContainsFunc(r.Artifacts, func(a record.Artifact) bool { return a.Pattern == w.pattern && a.SHA256 != "" }) {
			continue // it was not read, which is said elsewhere
		}
		for _, c := range w.Devices {
			switch kernels := w.excused[c]; {
			case len(kernels) > 0:
				found = append(found, Finding{
					ID: "CP119", Artifact: w.pattern, Device: c.String(), Kernel: only(kernels),
					Fact: fmt.Sprintf("Capability %s need not run %s: %s.", c, list(kernels), w.Reason),
				})
			case slices.Contains(devices, c):
				found = append(found, Finding{
					ID: "CP123", Artifact: w.pattern, Device: c.String(), Kernel: w.String(),
					Fact:   fmt.Sprintf("The waiver for %s excuses nothing on capability %s.", w.KernelPattern, c),
					Cause:  "The kernels run there, are named otherwise, or are gone.",
					Action: "Remove it from artifacts.kernels.without, or correct it.",
				})
			}
		}
	}
	return found
}
