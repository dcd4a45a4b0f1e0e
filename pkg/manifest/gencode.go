package manifest

import (
	"fmt"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"gopkg.in/yaml.v3"
)

// gencodes reads the -gencode arguments of one build. A code target may be
// named once in all of them: nvcc keeps one image per target.
func (d *decoder) gencodes(n *yaml.Node) []Gencode {
	lines := map[arch.Target]int{}
	return list(d, n, "build.gencode", "mappings {arch: ..., code: [...]}", func(n *yaml.Node) (Gencode, bool) {
		return d.gencode(n, lines), true
	})
}

func (d *decoder) gencode(n *yaml.Node, lines map[arch.Target]int) (g Gencode) {
	const where = "build.gencode.code"
	var codes *yaml.Node
	d.mapping(n, "build.gencode",
		key{"arch", true, func(n *yaml.Node) { g.Arch, _ = d.target("build.gencode.arch", arch.Compute)(n) }},
		key{"code", true, func(n *yaml.Node) { codes = n }})
	if codes == nil {
		return g
	}
	g.Code = list(d, codes, where, "targets such as sm_90 and compute_90", func(n *yaml.Node) (arch.Target, bool) {
		t, ok := d.anyTarget(n, where)
		if !ok {
			return t, false
		}
		if again(d, n, where, t, lines) {
			return t, false
		}
		if err := compilesTo(g.Arch, t); err != nil && g.Arch != (arch.Target{}) {
			d.errorf(n, "%s: %s", where, err)
			return t, false
		}
		return t, true
	})
	return g
}

// compilesTo says why nvcc cannot, or should not, make code from a virtual
// architecture (nvcc manual 13.0, "GPU Feature List" and "Virtual Architecture
// Feature List"; the refusals were seen with nvcc 11.8).
func compilesTo(virtual, code arch.Target) error {
	switch {
	case code.Class == arch.Compute && code != virtual:
		return fmt.Errorf("found %s from %s, expected %s: only the PTX of arch itself can be kept", code, virtual, virtual)
	case code.Number < virtual.Number:
		return fmt.Errorf("found %s from %s, expected a target not below its arch", code, virtual)
	case code.Suffix != virtual.Suffix:
		return fmt.Errorf("found %s from %s, expected code and arch with the same suffix: "+
			"the source would be compiled without, or marked without, the features that the suffix stands for, "+
			"and kernels guarded by them trap: write arch: %s", code, virtual, code.As(arch.Compute))
	case code.Suffix == arch.Specific && code.Number != virtual.Number:
		return fmt.Errorf("found %s from %s, expected the same number: suffix a binds code to one capability", code, virtual)
	}
	return nil
}
