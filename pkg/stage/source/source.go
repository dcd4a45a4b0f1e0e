// Package source identifies what was built: the revision checked out, what
// differs from it, and the files that the builds read.
package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// maxChanged bounds the list of changed files in the record.
const maxChanged = 1000

// Identify asks git about the work tree that holds the manifest. Changed files
// are named relative to the manifest's folder when they lie in it, else from
// the top of the work tree with git's own notation ":/path". Untracked files
// count as changed, and so do the manifest and inputs that git ignores; the
// evidence folder and what the manifest's builds and entry points write do not.
// Inputs go into the result sorted.
//
// Without git, or outside a work tree, Problem says so and Commit is empty.
func Identify(ctx context.Context, m *manifest.Manifest, inputs []record.File) record.Source {
	s := record.Source{Inputs: slices.Clone(inputs)}
	slices.SortFunc(s.Inputs, func(a, b record.File) int { return cmp.Compare(a.Path, b.Path) })
	if err := revision(ctx, m, &s); err != nil {
		s.Problem = err.Error()
	}
	return s
}

func revision(ctx context.Context, m *manifest.Manifest, s *record.Source) error {
	// The folder's path within the work tree: git's answer, because ours may
	// go through symbolic links.
	prefix, err := git(ctx, m.Dir, "rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	prefix = strings.TrimSuffix(prefix, "\n")
	status, err := git(ctx, m.Dir, "status", "--porcelain=v1", "-z",
		"--untracked-files=all", "--no-renames", "--ignore-submodules=none")
	if err != nil {
		return err
	}
	unknown, err := untracked(ctx, m, s.Inputs)
	if err != nil {
		return err
	}
	s.Changed = capped(sorted(append(changed(status, prefix, products(m)), unknown...)))
	commit, err := git(ctx, m.Dir, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return fmt.Errorf("no commit is checked out: %w", err)
	}
	s.Commit = strings.TrimSuffix(commit, "\n")
	return nil
}

// changed reads the entries of `git status --porcelain=v1 -z` (git-status(1),
// "Porcelain Format Version 1"): two letters, a space, a path from the top of
// the work tree, a zero byte. Without renames an entry has one path.
func changed(status, prefix string, products []string) []string {
	var paths []string
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) < 4 {
			continue // after the last zero byte
		}
		path, inside := strings.CutPrefix(entry[3:], prefix)
		switch {
		case !inside:
			paths = append(paths, ":/"+path)
		case !slices.ContainsFunc(products, func(p string) bool { return within(path, p) }):
			paths = append(paths, path)
		}
	}
	return paths
}

func sorted(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// within reports whether path is dir, or lies below it. Git names an untracked
// repository as a folder, with a slash at its end.
func within(path, dir string) bool {
	return strings.HasPrefix(strings.TrimSuffix(path, "/")+"/", dir+"/")
}

// capped cuts a long list and says how much is left out.
func capped(paths []string) []string {
	if len(paths) <= maxChanged {
		return paths
	}
	return append(paths[:maxChanged:maxChanged], fmt.Sprintf("(and %d more)", len(paths)-maxChanged))
}
