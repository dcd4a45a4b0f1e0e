package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive"
)

// Whiteouts (OCI image specification, "Image Layer Filesystem Changeset").
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// flattener reads layers from the top down.
type flattener struct {
	out    *archive.Walker
	prefix string
	above  marks // of the layers above the one that is read
	// pending are hard links that are seen while the names of their targets are
	// hidden: the content is still that of the target.
	pending map[string]string // link by target
}

// marks say what layers hide of those below.
type marks struct {
	names map[string]bool // nothing of this name is seen
	trees map[string]bool // nothing beneath is seen
}

func newMarks() marks { return marks{map[string]bool{}, map[string]bool{}} }

// hide reports whether a name is hidden.
func (m marks) hide(name string) bool {
	if m.names[name] {
		return true
	}
	for name != "." {
		if name = path.Dir(name); m.trees[name] {
			return true
		}
	}
	return false
}

func flatten(layers []layer, prefix string, out *archive.Walker) {
	f := flattener{out: out, prefix: prefix, above: newMarks(), pending: map[string]string{}}
	for _, l := range slices.Backward(layers) {
		f.layer(l)
	}
	for target, link := range f.pending {
		f.problem(link, fmt.Errorf("its content is that of %s, which is in no layer", target))
	}
}

func (f *flattener) problem(member string, err error) {
	f.out.Problems = append(f.out.Problems, archive.Problem{Member: f.prefix + member, Text: err.Error()})
}

// layer gives the files of a layer that are seen, and then notes what it hides.
func (f *flattener) layer(l layer) {
	own := newMarks()
	f.read(l, nil, func(h *tar.Header, name string, visit func() error) error {
		return f.entry(own, h, name, visit)
	})
	if len(f.pending) > 0 {
		f.targets(l)
	}
	for name := range own.names {
		f.above.names[name] = true
	}
	for name := range own.trees {
		f.above.trees[name] = true
	}
}

// read walks a layer with a Walker of its own, so that names repeat between
// layers but not within one.
func (f *flattener) read(l layer, rename map[string]string, each archive.Each) {
	w := archive.Walker{Budget: f.out.Budget, Want: f.out.Want, Visit: func(name string, content []byte) {
		if link, ok := rename[name]; ok {
			name = link
		}
		f.out.Visit(f.prefix+name, content)
	}}
	if err := w.EachInTar(l.bytes, each); err != nil && !errors.Is(err, archive.ErrEmpty) {
		f.problem("", fmt.Errorf("layer %s: %w", l.name, err))
	}
	for _, p := range w.Problems {
		f.problem(p.Member, fmt.Errorf("layer %s: %s", l.name, p.Text))
	}
	if rename == nil {
		f.out.Others += w.Others
	}
}

func (f *flattener) entry(own marks, h *tar.Header, name string, visit func() error) error {
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	switch {
	case base == opaque:
		own.trees[dir] = true
		return nil
	case strings.HasPrefix(base, whiteout):
		gone := path.Join(dir, strings.TrimPrefix(base, whiteout))
		own.names[gone], own.trees[gone] = true, true
		return nil
	case h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	}
	own.names[name] = true
	if h.Typeflag == tar.TypeDir {
		return nil
	}
	own.trees[name] = true
	if f.above.hide(name) {
		return nil
	}
	switch {
	case archive.IsRegular(h):
		return visit()
	case h.Typeflag == tar.TypeLink:
		f.out.Links++
		if target := path.Clean("/" + h.Linkname)[1:]; f.above.hide(target) {
			f.pending[target] = name
		}
	case h.Typeflag == tar.TypeSymlink:
		f.out.Links++
	}
	return nil
}

// targets looks in a layer for the content of the pending links.
func (f *flattener) targets(l layer) {
	found := map[string]string{}
	f.read(l, f.pending, func(h *tar.Header, name string, visit func() error) error {
		if link, ok := f.pending[name]; ok && archive.IsRegular(h) {
			found[name] = link
			return visit()
		}
		return nil
	})
	for target := range found {
		delete(f.pending, target)
	}
}
