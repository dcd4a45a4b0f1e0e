package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// trapFindings names the kernels whose body only traps for some targets (C25).
func trapFindings(m *manifest.Manifest, a record.Artifact) []Finding {
	var found []Finding
	for _, o := range a.Objects {
		for _, c := range o.Code.Containers {
			trapped := map[arch.Target]map[string]string{}
			for _, i := range c.Images {
				for _, k := range i.Kernels {
					if !k.Traps {
						continue
					}
					if trapped[i.Target] == nil {
						trapped[i.Target] = map[string]string{}
					}
					trapped[i.Target][k.Mangled] = k.Name
				}
			}
			for _, t := range slices.SortedFunc(maps.Keys(trapped), arch.Compare) {
				found = append(found, trapFinding(m, a, coverage.PlaceOf(o, c), t, trapped[t], c.Images))
			}
		}
	}
	return found
}

func trapFinding(m *manifest.Manifest, a record.Artifact, where string, t arch.Target, kernels map[string]string, images []devicecode.Image) Finding {
	f := Finding{
		ID: "CP116", Artifact: a.Path, Container: where, Target: t.String(), Kernel: only(kernels),
		Fact:   fmt.Sprintf("For %s the body of %s only traps%s.", t, list(kernels), otherwise(kernels, images)),
		Cause:  "A preprocessor condition on the architecture leaves nothing else for this target.",
		Action: "Define the kernel for this target, or see that it is never launched on such a device.",
	}
	if asked := slices.Concat(m.Require.Native, m.Require.PTX); slices.Contains(asked, t) && requires(m, a, kernels) {
		f.ID = "CP117"
		f.Action = "Define the kernel for this target, or do not ask for it."
	}
	return f
}

// otherwise names the targets that have a real body of one of the kernels.
func otherwise(kernels map[string]string, images []devicecode.Image) string {
	real := map[arch.Target]bool{}
	for _, i := range images {
		for _, k := range i.Kernels {
			if _, ok := kernels[k.Mangled]; ok && !k.Traps {
				real[i.Target] = true
			}
		}
	}
	if len(real) == 0 {
		return ""
	}
	return fmt.Sprintf("; for %s it is real", joined(slices.SortedFunc(maps.Keys(real), arch.Compare)))
}

// requires reports whether the manifest names one of the kernels.
func requires(m *manifest.Manifest, a record.Artifact, kernels map[string]string) bool {
	for _, rule := range m.Artifacts {
		for _, want := range rule.Kernels.Require {
			for mangled, name := range kernels {
				if rule.Path == a.Pattern && matches(want, mangled, name) {
					return true
				}
			}
		}
	}
	return false
}
