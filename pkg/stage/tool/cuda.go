package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// CUDA is a program of the CUDA toolkit that answered.
type CUDA struct {
	Path    string
	Version string // of its toolkit, "13.0"
}

// FindCUDA looks for a program of the toolkit ("cuobjdump") beside nvcc, then in
// PATH, and asks it for its version. nvcc may be empty, a name in PATH or a path.
func FindCUDA(ctx context.Context, name, nvcc string) (CUDA, error) {
	path := name
	if strings.ContainsRune(nvcc, filepath.Separator) {
		beside := filepath.Join(filepath.Dir(nvcc), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			path = beside
		}
	}
	r := Run(ctx, Command{Args: []string{path, "--version"}, Timeout: 2 * time.Minute})
	if !r.OK() {
		return CUDA{}, fmt.Errorf("%s --version: %s", path, r.Failure())
	}
	version := release.FindStringSubmatch(r.Output)
	if version == nil {
		return CUDA{}, fmt.Errorf("%s --version names no release", path)
	}
	return CUDA{Path: path, Version: version[1]}, nil
}

// release finds "release 13.0, V13.0.85".
var release = regexp.MustCompile(`\brelease (\d+\.\d+)`)
