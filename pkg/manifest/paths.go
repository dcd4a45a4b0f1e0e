package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Abs gives the absolute path of a path of the manifest.
func (m *Manifest) Abs(p string) string {
	p = filepath.FromSlash(p)
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(m.Dir, p)
}

// Rel gives a path as the record names it: relative to the manifest's folder
// and slash-separated when it lies inside, else absolute. A relative path is
// taken as relative to the manifest's folder. Symbolic links are not followed.
func (m *Manifest) Rel(p string) string {
	abs := m.Abs(p)
	rel, err := filepath.Rel(m.Dir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(abs)
	}
	return filepath.ToSlash(rel)
}

// NVCC gives toolkit.nvcc: a bare name to be looked up in PATH as it is, a path
// absolute, and "" when the manifest names none.
func (m *Manifest) NVCC() string {
	if strings.Contains(m.Toolkit.NVCC, "/") {
		return m.Abs(m.Toolkit.NVCC)
	}
	return m.Toolkit.NVCC
}

// Files gives the files that a path or glob of the manifest names, as
// [Manifest.Rel] gives them, sorted; none is not an error. In a glob, ** spans
// folders and {a,b} alternates; it stays inside the manifest's folder and does
// not descend into symbolic links.
func (m *Manifest) Files(pattern string) ([]string, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	if !isGlob(pattern) {
		return m.file(pattern)
	}
	matches, err := doublestar.Glob(os.DirFS(m.Dir), path.Clean(pattern), globOptions...)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", pattern, err)
	}
	matches = slices.DeleteFunc(matches, func(p string) bool {
		info, err := os.Stat(m.Abs(p))
		return err == nil && !info.Mode().IsRegular()
	})
	slices.Sort(matches)
	return slices.Compact(matches), nil
}

// Without NoFollow two links to "." would make ** walk a tree of 2^40 folders.
var globOptions = []doublestar.GlobOption{doublestar.WithFailOnIOErrors(), doublestar.WithNoFollow()}

// file gives the one file of a path that is not a glob.
func (m *Manifest) file(p string) ([]string, error) {
	info, err := os.Stat(m.Abs(p))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file", p)
	}
	return []string{m.Rel(p)}, nil
}

// isGlob reports whether doublestar would take p as more than a plain path.
func isGlob(p string) bool { return strings.ContainsAny(p, `*?[{\`) }

// The limits of a glob keep its expansion from growing without bound: each
// brace group multiplies the patterns, each ** walks the tree again.
const (
	maxPattern      = 4096
	maxBraces       = 4
	maxAlternatives = 32
	maxDoubleStars  = 4
)

// checkPattern says what is wrong with a path or glob.
func checkPattern(p string) error {
	switch {
	case len(p) > maxPattern:
		return fmt.Errorf("found a path of %d bytes, expected at most %d", len(p), maxPattern)
	case !isGlob(p):
		return nil
	case !doublestar.ValidatePattern(p):
		return fmt.Errorf("%q is not a valid glob: expected closed brackets and braces", p)
	case path.IsAbs(p) || slices.Contains(strings.FieldsFunc(p, isSeparator), ".."):
		return fmt.Errorf("the glob %q leaves the manifest's folder: expected a glob below it, or a path without wildcards", p)
	case strings.Count(p, "{") > maxBraces || strings.Count(p, ",") > maxAlternatives || strings.Count(p, "**") > maxDoubleStars:
		return fmt.Errorf("the glob %q is too complex: expected at most %d brace groups, %d alternatives and %d times **", p, maxBraces, maxAlternatives, maxDoubleStars)
	}
	return nil
}

// isSeparator splits a glob into path elements, those in braces included.
func isSeparator(r rune) bool { return strings.ContainsRune("/{,}", r) }
