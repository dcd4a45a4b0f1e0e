package manifest

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

func (d *decoder) artifacts(n *yaml.Node) []Artifact {
	seen := map[string]int{}
	return list(d, n, "artifacts", "mappings {path: ...}", func(n *yaml.Node) (Artifact, bool) {
		return d.artifact(n, seen), true
	})
}

func (d *decoder) artifact(n *yaml.Node, seen map[string]int) (a Artifact) {
	d.mapping(n, "artifacts",
		key{"path", true, func(n *yaml.Node) { a.Path = d.artifactPath(n, seen) }},
		key{"kernels", false, func(n *yaml.Node) { a.Kernels = d.kernels(n) }},
		key{"libraries", false, d.libraries})
	return a
}

func (d *decoder) artifactPath(n *yaml.Node, seen map[string]int) string {
	const where = "artifacts.path"
	s, ok := d.text(n, where)
	if !ok {
		return ""
	}
	if strings.Contains(s, "!") {
		d.errorf(n, "%s: found %s: files inside archives (archive!path) are not supported yet: name the file itself", where, quote(s))
		return ""
	}
	if err := checkPattern(s); err != nil {
		d.errorf(n, "%s: %s", where, err)
		return ""
	}
	clean := d.m.Rel(s)
	again(d, n, where, clean, seen)
	d.claims.artifacts = append(d.claims.artifacts, claim{n, where, clean})
	return s
}

func (d *decoder) kernels(n *yaml.Node) (k KernelRules) {
	const where = "artifacts.kernels"
	found := d.mapping(n, where,
		key{"require", false, func(n *yaml.Node) {
			k.Require = set(d, n, where+".require", "mappings {name: ...}", d.kernelPattern)
		}},
		key{"min_launched", false, func(n *yaml.Node) {
			if k.MinLaunched = d.number(n, where+".min_launched", 100); k.MinLaunched == 0 && n.Value == "0" {
				d.wrong(n, where+".min_launched", "at least 1, the percentage of kernels that the native runs must launch")
			}
		}},
		key{"without", false, func(n *yaml.Node) {
			k.Without = list(d, n, where+".without", "mappings {name: ..., devices: [...], reason: ...}", d.waiver)
		}})
	if n.Kind == yaml.MappingNode && len(found) == 0 {
		d.errorf(n, "%s: found no key, expected require, min_launched or without", where)
	}
	return k
}

// waiver reads kernels that may be missing for devices, which must be required
// ones: else it would excuse nothing.
func (d *decoder) waiver(n *yaml.Node) (w Waiver, ok bool) {
	const where = "artifacts.kernels.without"
	keys := append(d.patternKeys(where, &w.KernelPattern, &ok),
		key{"devices", true, func(n *yaml.Node) {
			w.Devices = set(d, n, where+".devices", `capabilities such as "9.0"`, func(n *yaml.Node) (arch.Capability, bool) {
				c, ok := d.capability(n, where+".devices", `a capability such as "9.0"`)
				if require := d.m.Require; ok && !require.PresentDevices && !slices.Contains(require.Devices, c) {
					d.errorf(n, "%s.devices: found %q, expected a device of require.devices", where, c)
				}
				return c, ok
			})
		}},
		key{"reason", true, func(n *yaml.Node) { w.Reason, _ = d.line(n, where+".reason") }})
	return w, d.onePattern(n, where, d.mapping(n, where, keys...)) && ok
}

func (d *decoder) kernelPattern(n *yaml.Node) (p KernelPattern, ok bool) {
	const where = "artifacts.kernels.require"
	return p, d.onePattern(n, where, d.mapping(n, where, d.patternKeys(where, &p, &ok)...)) && ok
}

func (d *decoder) patternKeys(where string, p *KernelPattern, ok *bool) []key {
	return []key{
		{"name", false, func(n *yaml.Node) { p.Name, *ok = d.line(n, where+".name") }},
		{"glob", false, func(n *yaml.Node) { p.Glob, *ok = d.kernelGlob(n, where+".glob") }},
		{"mangled", false, func(n *yaml.Node) { p.Mangled, *ok = d.line(n, where+".mangled") }},
	}
}

// onePattern refuses a mapping that names kernels in no way or in several.
func (d *decoder) onePattern(n *yaml.Node, where string, found map[string]*yaml.Node) bool {
	ways := 0
	for _, name := range []string{"name", "glob", "mangled"} {
		if found[name] != nil {
			ways++
		}
	}
	if n.Kind == yaml.MappingNode && ways != 1 {
		d.errorf(n, "%s: found %d of the keys name, glob, mangled, expected exactly one", where, ways)
	}
	return ways == 1
}

func (d *decoder) kernelGlob(n *yaml.Node, where string) (string, bool) {
	s, ok := d.line(n, where)
	if !ok {
		return "", false
	}
	if _, err := path.Match(s, ""); err != nil {
		d.errorf(n, "%s: found %s, expected a valid pattern: *, ?, [...], and \\ before a literal *", where, quote(s))
		return "", false
	}
	return s, true
}

func (d *decoder) libraries(n *yaml.Node) {
	switch s, ok := d.text(n, "artifacts.libraries"); {
	case !ok || s == "loaded":
	case s == "needed" || s == "none":
		d.errorf(n, "artifacts.libraries: %s is not supported yet: leave it out for loaded", s)
	default:
		d.wrong(n, "artifacts.libraries", "loaded")
	}
}

func (d *decoder) thirdParty(n *yaml.Node) []ThirdParty {
	seen := map[string]int{}
	return list(d, n, "third_party", "mappings {match: ..., reason: ...}", func(n *yaml.Node) (t ThirdParty, _ bool) {
		d.mapping(n, "third_party",
			key{"match", true, func(n *yaml.Node) { t.Match = d.libraryGlob(n, seen) }},
			key{"reason", true, func(n *yaml.Node) { t.Reason, _ = d.line(n, "third_party.reason") }})
		return t, true
	})
}

func (d *decoder) libraryGlob(n *yaml.Node, seen map[string]int) string {
	const where = "third_party.match"
	s, ok := d.line(n, where)
	if !ok {
		return ""
	}
	if err := checkBaseGlob(s); err != nil {
		d.errorf(n, "%s: found %s, %s", where, quote(s), err)
		return ""
	}
	again(d, n, where, s, seen)
	return s
}

func checkBaseGlob(s string) error {
	if strings.Contains(s, "/") {
		return errors.New("expected a pattern of the file's base name, without slashes")
	}
	if _, err := path.Match(s, ""); err != nil {
		return errors.New("expected a valid pattern: *, ?, [...]")
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return errors.New("expected a part of a library's name: this would excuse every library")
	}
	return nil
}
