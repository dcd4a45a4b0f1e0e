package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// decoder turns YAML nodes into a manifest and collects every mistake.
type decoder struct {
	path   string
	m      *Manifest
	errs   Errors
	claims claims
}

func (d *decoder) errorAt(line, column int, format string, args ...any) {
	d.errs = append(d.errs, &Error{d.path, line, column, fmt.Sprintf(format, args...)})
}

func (d *decoder) errorf(n *yaml.Node, format string, args ...any) {
	d.errorAt(n.Line, n.Column, format, args...)
}

func (d *decoder) wrong(n *yaml.Node, where, expected string) {
	if n.Kind == yaml.AliasNode {
		return // refuseReferences has said so
	}
	d.errorf(n, "%s: found %s, expected %s", where, describe(n), expected)
}

// refuseReferences refuses anchors, aliases and tags: with them, what is read
// is not what stands at that line.
func (d *decoder) refuseReferences(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		d.errorf(n, "found the alias %s, expected the value written out", quote("*"+n.Value))
		return
	case n.Anchor != "":
		d.errorf(n, "found the anchor %s, expected none: aliases are not supported", quote("&"+n.Anchor))
	case n.Style&yaml.TaggedStyle != 0:
		d.errorf(n, "found the tag %s, expected none", quote(n.Tag))
	}
	for _, child := range n.Content {
		d.refuseReferences(child)
	}
}

// describe says what a node is, in words.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "the number " + short(n.Value)
	case "!!bool":
		return "the truth value " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	}
	return quote(n.Value)
}

// quote gives untrusted text of any length for a message.
func quote(s string) string { return strconv.Quote(short(s)) }

func short(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// key is one known key of a mapping.
type key struct {
	name     string
	required bool
	read     func(value *yaml.Node)
}

// mapping reads a mapping of known keys and gives the values found by key. A
// missing required key is reported where the mapping begins.
func (d *decoder) mapping(n *yaml.Node, where string, keys ...key) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, where, "a mapping with the keys "+names(keys))
		return nil
	}
	found := d.pairs(n, where)
	for _, k := range keys {
		value, ok := found[k.name]
		switch {
		case ok:
			k.read(value)
		case k.required:
			d.errorf(n, "%s: the key %q is missing", where, k.name)
		}
	}
	for i := 0; i < len(n.Content); i += 2 {
		name := n.Content[i].Value
		if slices.ContainsFunc(keys, func(k key) bool { return k.name == name }) {
			continue
		}
		if near := nearest(name, keys); near != "" {
			d.errorf(n.Content[i], "%s: unknown key %s: did you mean %q?", where, quote(name), near)
		} else {
			d.errorf(n.Content[i], "%s: unknown key %s: expected one of %s", where, quote(name), names(keys))
		}
	}
	return found
}

// pairs gives the values of a mapping by key and refuses duplicate keys.
func (d *decoder) pairs(n *yaml.Node, where string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	lines := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if line, ok := lines[k.Value]; ok {
			d.errorf(k, "%s: duplicate key %s: the first is on line %d", where, quote(k.Value), line)
			continue
		}
		lines[k.Value] = k.Line
		values[k.Value] = n.Content[i+1]
	}
	return values
}

func names(keys []key) string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.name
	}
	return strings.Join(list, ", ")
}

// unsupported refuses a key of the design that this version does not do yet.
func (d *decoder) unsupported(name, where string) key {
	return key{name: name, read: func(n *yaml.Node) {
		d.errorf(n, "%s.%s is not supported yet: leave it out", where, name)
	}}
}

// list reads a list that must not be empty; items that read refuses are left
// out.
func list[T any](d *decoder, n *yaml.Node, where, item string, read func(*yaml.Node) (T, bool)) []T {
	if n.Kind != yaml.SequenceNode {
		d.wrong(n, where, "a list of "+item)
		return nil
	}
	if len(n.Content) == 0 {
		d.errorf(n, "%s: found an empty list, expected a list of %s", where, item)
	}
	var values []T
	for _, child := range n.Content {
		if v, ok := read(child); ok {
			values = append(values, v)
		}
	}
	return values
}

// set reads a list whose items must differ.
func set[T comparable](d *decoder, n *yaml.Node, where, item string, read func(*yaml.Node) (T, bool)) []T {
	lines := map[T]int{}
	return list(d, n, where, item, func(child *yaml.Node) (T, bool) {
		v, ok := read(child)
		return v, ok && !again(d, child, where, v, lines)
	})
}

// again reports whether a value was there before, which is a mistake, and
// notes the line of a new one.
func again[T comparable](d *decoder, n *yaml.Node, where string, value T, lines map[T]int) bool {
	if line, seen := lines[value]; seen {
		d.errorf(n, "%s: found %s twice: the first is on line %d", where, describe(n), line)
		return true
	}
	lines[value] = n.Line
	return false
}
