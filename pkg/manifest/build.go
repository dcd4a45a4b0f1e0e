package manifest

import (
	"slices"

	"gopkg.in/yaml.v3"
)

func (d *decoder) builds(n *yaml.Node) []Build {
	seen := map[string]int{}
	return list(d, n, "build", "builds", func(n *yaml.Node) (Build, bool) {
		return d.build(n, seen), true
	})
}

func (d *decoder) build(n *yaml.Node, seen map[string]int) (b Build) {
	found := d.mapping(n, "build",
		key{"name", true, func(n *yaml.Node) { b.Name = d.uniqueName(n, "build.name", seen) }},
		key{"kind", true, func(n *yaml.Node) { b.Kind = d.kind(n) }},
		key{"sources", false, func(n *yaml.Node) { b.Sources = d.sources(n) }},
		key{"gencode", false, func(n *yaml.Node) { b.Gencode = d.gencodes(n) }},
		key{"flags", false, func(n *yaml.Node) { b.Flags = d.flags(n) }},
		key{"rdc", false, func(n *yaml.Node) { b.RDC = d.truth(n, "build.rdc") }},
		key{"output", false, func(n *yaml.Node) {
			if s, ok := d.inside(n, "build.output"); ok {
				b.Output = s
				d.claims.outputs = append(d.claims.outputs, claim{n, "build.output", s})
			}
		}},
		key{"command", false, func(n *yaml.Node) { b.Command = d.command(n, "build.command") }},
		d.unsupported("compile_commands", "build"))
	if b.Kind != "" {
		d.fitsKind(n, b.Kind, found)
	}
	return b
}

// uniqueName reads a name; lines holds those of the names before it.
func (d *decoder) uniqueName(n *yaml.Node, where string, lines map[string]int) string {
	s, ok := d.name(n, where)
	if ok {
		again(d, n, where, s, lines)
	}
	return s
}

func (d *decoder) kind(n *yaml.Node) BuildKind {
	kinds := []BuildKind{Executable, Shared, Static, External}
	s, ok := d.text(n, "build.kind")
	if ok && !slices.Contains(kinds, BuildKind(s)) {
		d.wrong(n, "build.kind", "executable, shared, static or external")
		return ""
	}
	return BuildKind(s)
}

// fitsKind checks which keys go with the kind of a build.
func (d *decoder) fitsKind(n *yaml.Node, kind BuildKind, found map[string]*yaml.Node) {
	compiled := []string{"sources", "gencode", "flags", "rdc", "output"}
	if kind == External {
		d.needs(n, kind, found, "command")
		d.forbids(kind, found, compiled...)
		return
	}
	d.needs(n, kind, found, "sources", "output")
	d.forbids(kind, found, "command")
}

func (d *decoder) needs(n *yaml.Node, kind BuildKind, found map[string]*yaml.Node, keys ...string) {
	for _, k := range keys {
		if found[k] == nil {
			d.errorf(n, "build: the key %q is missing: kind %s needs it", k, kind)
		}
	}
}

func (d *decoder) forbids(kind BuildKind, found map[string]*yaml.Node, keys ...string) {
	for _, k := range keys {
		if v := found[k]; v != nil {
			d.errorf(v, "build.%s: found with kind %s, expected without: leave it out or change the kind", k, kind)
		}
	}
}

// sources expands the globs of build.sources.
func (d *decoder) sources(n *yaml.Node) []string {
	patterns := list(d, n, "build.sources", "files or globs", func(n *yaml.Node) ([]string, bool) {
		s, ok := d.text(n, "build.sources")
		if !ok {
			return nil, false
		}
		files, err := d.m.Files(s)
		if err != nil {
			d.errorf(n, "build.sources: %s", err)
		} else if len(files) == 0 {
			d.errorf(n, "build.sources: no file matches %s below %s: expected at least one", quote(s), quote(d.m.Dir))
		}
		for _, f := range files {
			d.claims.input(claim{n, "build.sources", f}, "source")
		}
		return files, true
	})
	files := slices.Concat(patterns...)
	slices.Sort(files)
	return slices.Compact(files)
}

func (d *decoder) command(n *yaml.Node, where string) []string {
	args := list(d, n, where, "a program and its arguments", func(n *yaml.Node) (string, bool) {
		return d.argument(n, where)
	})
	if len(args) > 0 && args[0] == "" {
		d.errorf(n.Content[0], "%s: found an empty program, expected its name or path", where)
	}
	return args
}

func (d *decoder) flags(n *yaml.Node) []string {
	value := false // whether the next flag is the value of the one before
	return list(d, n, "build.flags", "flags of nvcc", func(n *yaml.Node) (string, bool) {
		s, ok := d.text(n, "build.flags")
		if !ok {
			value = false
			return s, false
		}
		if instead := reserved(s); instead != "" && !value {
			d.errorf(n, "build.flags: found %s, expected it in the manifest: %s", quote(s), instead)
		}
		value = !value && slices.Contains(takesAnyValue, s)
		return s, true
	})
}
