package source

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// maxArguments keeps a command line far below the system's limit.
const maxArguments = 400

// untracked gives those of the manifest and the inputs below its folder that
// git does not track. Its status leaves out those that it ignores.
func untracked(ctx context.Context, m *manifest.Manifest, inputs []record.File) ([]string, error) {
	paths := []string{m.Rel(m.Path)}
	for _, f := range inputs {
		if !path.IsAbs(f.Path) {
			paths = append(paths, f.Path)
		}
	}
	tracked := map[string]bool{}
	for some := range slices.Chunk(paths, maxArguments) {
		args := []string{"ls-files", "-z", "--cached", "--recurse-submodules", "--"}
		list, err := git(ctx, m.Dir, append(args, some...)...)
		if err != nil {
			return nil, err
		}
		for p := range strings.SplitSeq(list, "\x00") {
			tracked[p] = true
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return tracked[p] }), nil
}
