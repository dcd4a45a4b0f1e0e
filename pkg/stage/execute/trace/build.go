package trace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	cudasrc "github.com/cudaproof/cudaproof/cuda_src"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// Library is the trace library, built for this machine.
type Library struct {
	Path  string
	CUPTI string // path of the libcupti that it loads
}

// Variables gives the variables that make a program load the library, which then
// writes into a folder.
func (l Library) Variables(folder string) map[string]string {
	return map[string]string{
		"CUDA_INJECTION64_PATH": l.Path,
		"CUDAPROOF_CUPTI":       l.CUPTI,
		"CUDAPROOF_TRACE_DIR":   folder,
	}
}

// VariableNames are the names that [Library.Variables] sets.
var VariableNames = []string{"CUDA_INJECTION64_PATH", "CUDAPROOF_CUPTI", "CUDAPROOF_TRACE_DIR"}

// buildTime bounds the compilation.
const buildTime = 5 * time.Minute

// Build gives the trace library, compiled with the host compiler against the
// toolkit's CUPTI where that was not done yet. An error says what is missing.
func Build(ctx context.Context, t record.Toolkit) (Library, error) {
	if t.NVCC == "" {
		return Library{}, errors.New("no toolkit, so no CUPTI to build it with")
	}
	include, lib, err := findCUPTI(t.NVCC)
	if err != nil {
		return Library{}, err
	}
	compiler, err := hostCompiler()
	if err != nil {
		return Library{}, err
	}
	dir, err := tool.CacheFolder()
	if err != nil {
		return Library{}, err
	}
	name, err := libraryName(compiler, include, t)
	if err != nil {
		return Library{}, err
	}
	l := Library{Path: filepath.Join(dir, name), CUPTI: lib}
	if _, err := os.Stat(l.Path); err == nil {
		return l, nil
	}
	return l, compile(ctx, compiler, include, l.Path)
}

// findCUPTI gives the folder of cupti.h and the path of libcupti.so for a
// toolkit: NVIDIA's, below nvcc's folder, or Debian's, which is spread over /usr.
func findCUPTI(nvcc string) (include, lib string, err error) {
	real, err := filepath.EvalSymlinks(nvcc)
	if err != nil {
		return "", "", err
	}
	root := filepath.Dir(filepath.Dir(real))
	triple := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH]
	debian := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	headers := []string{root + "/extras/CUPTI/include", root + "/targets/" + triple + "/include", root + "/include", "/usr/include"}
	libs := []string{root + "/extras/CUPTI/lib64", root + "/targets/" + triple + "/lib", root + "/lib64", "/usr/lib/" + debian}
	has := func(name string) func(string) bool {
		return func(dir string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	}
	h, l := slices.IndexFunc(headers, has("cupti.h")), slices.IndexFunc(libs, has("libcupti.so"))
	if h < 0 || l < 0 {
		return "", "", fmt.Errorf("the toolkit of %s has no CUPTI: cupti.h was looked for in %s, libcupti.so in %s; install CUPTI",
			nvcc, strings.Join(headers, ", "), strings.Join(libs, ", "))
	}
	return headers[h], filepath.Join(libs[l], "libcupti.so"), nil
}

// hostCompiler gives the host's C++ compiler: any does, for nvcc is not used.
func hostCompiler() (string, error) {
	for _, name := range []string{os.Getenv("CXX"), "c++", "g++", "clang++"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no C++ compiler found for the host: install one, or name it in CXX")
}

// libraryName depends on all that the library is built from.
func libraryName(compiler, include string, t record.Toolkit) (string, error) {
	sum := sha256.New()
	for _, part := range append([]string{compiler, include, t.VersionOutput.Output, runtime.GOARCH}, buildFlags...) {
		fmt.Fprintf(sum, "%d %s\n", len(part), part)
	}
	err := fs.WalkDir(cudasrc.Trace, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		source, err := fs.ReadFile(cudasrc.Trace, path)
		fmt.Fprintf(sum, "%s %d %s\n", path, len(source), source)
		return err
	})
	return "libcudaproof-trace-" + hex.EncodeToString(sum.Sum(nil)[:16]) + ".so", err
}

// buildFlags make a library that needs nothing of the C++ library and no glibc
// later than 2.17, for it is loaded into programs of containers too. Its need of
// libdl is named for a glibc before 2.34; since then that is an empty library.
var buildFlags = []string{
	"-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-shared", "-static-libstdc++", "-static-libgcc",
	"-fno-gnu-unique", "-Wl,-Bsymbolic,--exclude-libs,ALL", "-Wl,--push-state,--no-as-needed", "-l:libdl.so.2", "-Wl,--pop-state",
}

// compile builds in a folder of its own and moves the library into place at
// once.
func compile(ctx context.Context, compiler, include, path string) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.CopyFS(dir, cudasrc.Trace); err != nil {
		return err
	}
	r := tool.Run(ctx, tool.Command{
		Args:    slices.Concat([]string{compiler}, buildFlags, []string{"-I", include, "trace/trace.cpp", "-o", "trace.so"}),
		Dir:     dir,
		Timeout: buildTime,
	})
	if !r.OK() {
		return fmt.Errorf("building it failed: %s: %s", r.Failure(), strings.TrimSpace(r.Output))
	}
	return os.Rename(filepath.Join(dir, "trace.so"), path)
}
