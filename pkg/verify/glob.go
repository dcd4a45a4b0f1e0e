package verify

import (
	"fmt"
	"os"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// glob gives the files that a path or glob names. A path that exists is taken
// as it is, whatever characters it has.
func glob(path string) ([]string, error) {
	if path == "" {
		return nil, fmt.Errorf("-path is empty: give a file or a glob")
	}
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return nil, fmt.Errorf("%q is not a regular file: give a file or a glob, such as %q", path, path+"/**/*.so")
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%q is not a regular file: give a file or a glob", path)
		}
		return []string{path}, nil
	}
	matches, err := doublestar.FilepathGlob(path, doublestar.WithFilesOnly())
	if err != nil {
		return nil, fmt.Errorf("-path %q: %w", path, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("-path %q: no such file", path)
	}
	slices.Sort(matches)
	return matches, nil
}
