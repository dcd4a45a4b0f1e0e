package manifest

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

const defaultTimeout = time.Minute

func (d *decoder) entryPoints(n *yaml.Node) []EntryPoint {
	seen := map[string]int{}
	return list(d, n, "entry_points", "mappings {name: ..., command: [...]}", func(n *yaml.Node) (EntryPoint, bool) {
		return d.entryPoint(n, seen), true
	})
}

func (d *decoder) entryPoint(n *yaml.Node, seen map[string]int) EntryPoint {
	e := EntryPoint{Modes: slices.Clone(AllModes), Devices: DeviceUse{Kind: EachDevice}, Timeout: defaultTimeout}
	found := d.mapping(n, "entry_points",
		key{"name", true, func(n *yaml.Node) { e.Name = d.uniqueName(n, "entry_points.name", seen) }},
		key{"command", true, func(n *yaml.Node) { e.Command = d.command(n, "entry_points.command") }},
		key{"modes", false, func(n *yaml.Node) { e.Modes = d.modes(n) }},
		key{"modes_reason", false, func(n *yaml.Node) { e.ModesReason, _ = d.line(n, "entry_points.modes_reason") }},
		key{"devices", false, func(n *yaml.Node) { e.Devices = d.deviceUse(n) }},
		key{"timeout", false, func(n *yaml.Node) { e.Timeout = d.duration(n, "entry_points.timeout") }},
		key{"expect", false, func(n *yaml.Node) { e.Expect = d.expect(n) }},
		key{"no_gpu", false, func(n *yaml.Node) { e.NoGPU, _ = d.line(n, "entry_points.no_gpu") }},
		key{"no_trace", false, func(n *yaml.Node) { e.NoTrace, _ = d.line(n, "entry_points.no_trace") }},
		key{"kernels", false, func(n *yaml.Node) {
			e.Kernels = set(d, n, "entry_points.kernels", "names of kernels", func(n *yaml.Node) (string, bool) {
				return d.line(n, "entry_points.kernels")
			})
		}})
	d.modesReason(found["modes"], found["modes_reason"], e.Modes)
	if len(e.Kernels) > 0 && e.NoTrace != "" {
		d.errorf(found["no_trace"], "entry_points.no_trace: found together with kernels, expected one of them: only a trace shows what is launched")
	}
	if e.NoGPU != "" {
		d.withoutGPU(found)
		e.Modes, e.ModesReason = []Mode{AsShippedMode}, "it uses no GPU: "+e.NoGPU
	}
	if len(e.Expect.SameAcrossModes) > 0 && len(e.Modes) == 1 {
		d.errorf(found["expect"], "entry_points.expect.same_across_modes: found with one mode, expected at least two modes to compare")
	}
	return e
}

func (d *decoder) modes(n *yaml.Node) []Mode {
	modes := set(d, n, "entry_points.modes", "modes", func(n *yaml.Node) (Mode, bool) {
		s, ok := d.text(n, "entry_points.modes")
		if ok && !slices.Contains(AllModes, Mode(s)) {
			d.wrong(n, "entry_points.modes", "native, ptx or as-shipped")
			return "", false
		}
		return Mode(s), ok
	})
	if len(modes) != len(n.Content) {
		return nil
	}
	slices.SortFunc(modes, func(a, b Mode) int { return slices.Index(AllModes, a) - slices.Index(AllModes, b) })
	return modes
}

// modesReason demands a reason for a mode left out, and none for nothing.
func (d *decoder) modesReason(modesNode, reasonNode *yaml.Node, modes []Mode) {
	var left []string
	for _, m := range AllModes {
		if !slices.Contains(modes, m) {
			left = append(left, string(m))
		}
	}
	switch {
	case len(modes) == 0: // an error was reported
	case len(left) > 0 && reasonNode == nil:
		d.errorf(modesNode, "entry_points.modes: %s left out, expected modes_reason to say why", strings.Join(left, " and "))
	case len(left) == 0 && reasonNode != nil:
		d.errorf(reasonNode, "entry_points.modes_reason: found a reason, expected none: no mode is left out")
	}
}

// withoutGPU refuses what only an entry point with a GPU can have.
func (d *decoder) withoutGPU(found map[string]*yaml.Node) {
	for _, name := range []string{"modes", "devices", "kernels", "no_trace"} {
		if n := found[name]; n != nil {
			d.errorf(n, "entry_points.%s: found together with no_gpu, expected one of them: without a GPU the entry point is run once, as shipped", name)
		}
	}
}

func (d *decoder) expect(n *yaml.Node) (e Expect) {
	const where = "entry_points.expect"
	d.mapping(n, where,
		key{"exit", false, func(n *yaml.Node) { e.Exit = d.number(n, where+".exit", 255) }},
		key{"stdout", false, func(n *yaml.Node) {
			e.Stdout = set(d, n, where+".stdout", "lines, or mappings {regex: ...}", d.outputLine)
		}},
		key{"files", false, func(n *yaml.Node) { e.Files = d.expectedFiles(n) }},
		key{"same_across_modes", false, func(n *yaml.Node) {
			e.SameAcrossModes = d.outputs(n, where+".same_across_modes")
		}})
	return e
}

// outputLine reads a line of output, which may hold tabs and colours, or a
// mapping with a regular expression.
func (d *decoder) outputLine(n *yaml.Node) (l Line, ok bool) {
	const where = "entry_points.expect.stdout"
	if n.Kind != yaml.MappingNode {
		l.Text, ok = d.oneLine(n, where)
		return l, ok
	}
	l.Regexp = true
	d.mapping(n, where, key{"regex", true, func(n *yaml.Node) {
		if l.Text, ok = d.oneLine(n, where+".regex"); !ok {
			return
		}
		if _, err := regexp.Compile(l.Text); err != nil {
			d.errorf(n, "%s.regex: found %s, expected a regular expression (RE2 syntax): %v", where, quote(l.Text), err)
			ok = false
		}
	}})
	return l, ok
}

func (d *decoder) oneLine(n *yaml.Node, where string) (string, bool) {
	s, ok := d.text(n, where)
	if ok && strings.Contains(s, "\n") {
		d.wrong(n, where, "one line per item")
		return "", false
	}
	return s, ok
}

// outputs reads output files, each a path or a mapping with a tolerance.
func (d *decoder) outputs(n *yaml.Node, where string) []Output {
	lines := map[string]int{}
	return list(d, n, where, "output files", func(n *yaml.Node) (o Output, ok bool) {
		if n.Kind != yaml.MappingNode {
			o.Path, ok = d.runOutput(n, where)
		} else {
			path := key{"path", true, func(n *yaml.Node) { o.Path, ok = d.runOutput(n, where+".path") }}
			d.mapping(n, where, append([]key{path}, d.tolerance(&o.Tolerance, where)...)...)
		}
		return o, ok && !again(d, n, where, o.Path, lines)
	})
}

// expectedFiles reads pairs of an output file and the golden file it must equal.
func (d *decoder) expectedFiles(n *yaml.Node) map[string]Golden {
	const where = "entry_points.expect.files"
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.wrong(n, where, "a mapping of output files to golden files")
		return nil
	}
	files, lines := map[string]Golden{}, map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		golden, okGolden := d.golden(n.Content[i+1], where)
		output, ok := d.runOutput(key, where)
		if !ok {
			continue
		}
		if !again(d, key, where, output, lines) && okGolden {
			files[output] = golden
		}
	}
	return files
}

func (d *decoder) runOutput(n *yaml.Node, where string) (string, bool) {
	s, ok := d.inside(n, where)
	if ok {
		d.claims.runOutputs = append(d.claims.runOutputs, claim{n, where, s})
	}
	return s, ok
}

// golden reads the path of a golden file, or a mapping with a tolerance.
func (d *decoder) golden(n *yaml.Node, where string) (g Golden, ok bool) {
	if n.Kind != yaml.MappingNode {
		g.Path, ok = d.goldenFile(n, where)
		return g, ok
	}
	path := key{"golden", true, func(n *yaml.Node) { g.Path, ok = d.goldenFile(n, where+".golden") }}
	d.mapping(n, where, append([]key{path}, d.tolerance(&g.Tolerance, where)...)...)
	return g, ok
}

// tolerance gives the keys of a tolerance.
func (d *decoder) tolerance(t *Tolerance, where string) []key {
	t.Tolerant = true
	return []key{
		{"rtol", false, func(n *yaml.Node) { t.Rtol = d.notNegative(n, where+".rtol") }},
		{"atol", false, func(n *yaml.Node) { t.Atol = d.notNegative(n, where+".atol") }},
		{"equal_nan", false, func(n *yaml.Node) { t.EqualNaN = d.truth(n, where+".equal_nan") }},
	}
}

func (d *decoder) notNegative(n *yaml.Node, where string) float64 {
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || math.IsInf(v, 0) || !(v >= 0) {
		d.wrong(n, where, "a number of at least 0, such as 1e-5")
		return 0
	}
	return v
}

func (d *decoder) goldenFile(n *yaml.Node, where string) (string, bool) {
	s, ok := d.text(n, where)
	if !ok {
		return "", false
	}
	found, err := d.m.file(s)
	switch {
	case err != nil:
		d.errorf(n, "%s: %s", where, err)
	case len(found) == 0:
		d.errorf(n, "%s: the golden file %s does not exist below %s", where, quote(s), quote(d.m.Dir))
	default:
		d.claims.input(claim{n, where, found[0]}, "golden file")
		return found[0], true
	}
	return "", false
}
