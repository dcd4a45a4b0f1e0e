package probe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// MissingTargets gives the targets whose number the toolkit does not list.
// gpuCode is what `nvcc --list-gpu-code` printed. nvcc leaves the targets with
// suffix a and f out of that list, so those are looked up by number alone and
// nvcc itself has to say whether it knows the suffix; and what it lists as real
// targets it also takes as virtual ones. No other target is ever suggested.
func MissingTargets(targets []arch.Target, gpuCode []string) []string {
	var missing []string
	for _, t := range targets {
		listed := slices.ContainsFunc(gpuCode, func(s string) bool {
			return strings.TrimRight(s, "af") == "sm_"+strconv.Itoa(t.Number)
		})
		if name := t.String(); !listed && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}
