package verify

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cudaproof/cudaproof/pkg/artifact"
)

// glob gives the files that a path or glob names, and the pattern behind a "!",
// which is for the files inside archives: "dist/*.whl!**/*.so". A path that
// exists is taken as it is, whatever characters it has.
func glob(path string) (files []string, members string, err error) {
	if path == "" {
		return nil, "", fmt.Errorf("-path is empty: give a file or a glob")
	}
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir() && artifact.IsLayout(path):
		case info.IsDir():
			return nil, "", fmt.Errorf("%q is not a regular file: give a file or a glob, such as %q", path, path+"/**/*.so")
		case !info.Mode().IsRegular():
			return nil, "", fmt.Errorf("%q is not a regular file: give a file or a glob", path)
		}
		return []string{path}, "", nil
	}
	if archive, members, ok := strings.Cut(path, "!"); ok && archive != "" {
		if !doublestar.ValidatePattern(members) || members == "" {
			return nil, "", fmt.Errorf("-path %q: %q is no pattern for files inside an archive", path, members)
		}
		files, _, err := glob(archive)
		return files, members, err
	}
	files, err = doublestar.FilepathGlob(path, doublestar.WithFilesOnly())
	if err != nil {
		return nil, "", fmt.Errorf("-path %q: %w", path, err)
	}
	if len(files) == 0 {
		return nil, "", fmt.Errorf("-path %q: no such file", path)
	}
	slices.Sort(files)
	return files, "", nil
}
