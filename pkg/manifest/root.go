package manifest

import "gopkg.in/yaml.v3"

const version = "1"

// manifest reads the whole document and then checks what only shows when all
// of it is known.
func (d *decoder) manifest(n *yaml.Node) {
	if v := valueOf(n, "version"); v != nil && (v.Tag != "!!int" || v.Value != version) {
		// Another edition has other keys; to list them as mistakes would mislead.
		d.wrong(v, "version", version+", the only version this cudaproof reads")
		return
	}
	m := d.m
	m.Require.PresentDevices = true
	m.Evidence.Dir = ".cudaproof"
	d.mapping(n, "the manifest",
		key{"version", true, func(*yaml.Node) {}},
		key{"project", true, func(n *yaml.Node) { m.Project, _ = d.line(n, "project") }},
		key{"toolkit", false, func(n *yaml.Node) { m.Toolkit = d.toolkit(n) }},
		key{"require", false, func(n *yaml.Node) { m.Require = d.require(n) }},
		key{"build", false, func(n *yaml.Node) { m.Build = d.builds(n) }},
		key{"artifacts", true, func(n *yaml.Node) { m.Artifacts = d.artifacts(n) }},
		key{"third_party", false, func(n *yaml.Node) { m.ThirdParty = d.thirdParty(n) }},
		key{"entry_points", false, func(n *yaml.Node) { m.EntryPoints = d.entryPoints(n) }},
		key{"evidence", false, func(n *yaml.Node) { m.Evidence = d.evidence(n) }},
	)
	d.conflicts()
}

// valueOf gives the first value of a key in a mapping, or nil.
func valueOf(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func (d *decoder) toolkit(n *yaml.Node) (t Toolkit) {
	d.mapping(n, "toolkit",
		key{"nvcc", true, func(n *yaml.Node) { t.NVCC, _ = d.line(n, "toolkit.nvcc") }})
	return t
}

func (d *decoder) evidence(n *yaml.Node) Evidence {
	e := Evidence{Dir: d.m.Evidence.Dir}
	d.mapping(n, "evidence",
		key{"dir", false, func(n *yaml.Node) {
			if dir, ok := d.inside(n, "evidence.dir"); ok {
				e.Dir = dir
			}
		}},
		d.unsupported("keep", "evidence"),
		d.unsupported("sign", "evidence"))
	return e
}
