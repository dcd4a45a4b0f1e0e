package manifest

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"
)

// claims are the paths that the keys of a manifest read and write, to be
// compared when all are known.
type claims struct {
	inputs     map[string]input
	outputs    []claim // of builds
	runOutputs []claim // of entry points
	artifacts  []claim // paths and globs
}

// claim is a path and where the manifest names it.
type claim struct {
	node  *yaml.Node
	where string
	path  string // as Rel gives it
}

type input struct {
	claim
	what string
}

func (c *claims) input(at claim, what string) {
	if c.inputs == nil {
		c.inputs = map[string]input{}
	}
	c.inputs[at.path] = input{at, what}
}

// conflicts refuses paths that would overwrite one another.
func (d *decoder) conflicts() {
	built := map[string]int{}
	for _, c := range d.claims.outputs {
		d.notRead(c)
		d.notEvidence(c)
		again(d, c.node, c.where, c.path, built)
	}
	for _, c := range d.claims.runOutputs {
		d.notRead(c)
		d.notEvidence(c)
		d.notFinal(c, built)
	}
	for _, c := range d.claims.artifacts {
		d.notEvidence(c)
	}
	for _, in := range d.claims.inputs {
		d.notEvidence(in.claim)
	}
}

func (d *decoder) notRead(c claim) {
	what := d.claims.inputs[c.path].what
	if c.path == d.m.Rel(d.m.Path) {
		what = "manifest"
	}
	if what != "" {
		d.errorf(c.node, "%s: found %s, which is also a %s: it would be overwritten", c.where, quote(c.path), what)
	}
}

// notFinal keeps entry points from writing what is to be verified.
func (d *decoder) notFinal(c claim, built map[string]int) {
	if line, ok := built[c.path]; ok {
		d.errorf(c.node, "%s: found %s, which is the output of the build on line %d", c.where, quote(c.path), line)
		return
	}
	for _, a := range d.claims.artifacts {
		if ok, err := doublestar.Match(a.path, c.path); ok && err == nil {
			d.errorf(c.node, "%s: found %s, which the artifact on line %d matches: expected a file that is not verified",
				c.where, quote(c.path), a.node.Line)
			return
		}
	}
}

// notEvidence keeps evidence apart from what it is about.
func (d *decoder) notEvidence(c claim) {
	dir := d.m.Evidence.Dir
	if within(c.path, dir) || within(dir, c.path) {
		d.errorf(c.node, "%s: found %s, which overlaps the evidence folder %s: expected it elsewhere", c.where, quote(c.path), quote(dir))
	}
}

// within reports whether p is dir or lies below it.
func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
