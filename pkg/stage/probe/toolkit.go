package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// FindNVCC finds nvcc and gives its absolute path. name is a path or a name in
// PATH; empty means $CUDA_HOME/bin/nvcc, then nvcc in PATH.
func FindNVCC(name string) (string, error) {
	if name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("nvcc %q, as the manifest's toolkit.nvcc says: %w; correct it, or install that toolkit", name, err)
		}
		return filepath.Abs(path)
	}
	if home := os.Getenv("CUDA_HOME"); home != "" {
		if path, err := exec.LookPath(filepath.Join(home, "bin", "nvcc")); err == nil {
			return filepath.Abs(path)
		}
	}
	path, err := exec.LookPath("nvcc")
	if err != nil {
		return "", errors.New("no nvcc: neither $CUDA_HOME/bin nor PATH has it; " +
			"install the CUDA toolkit, set CUDA_HOME, or name it in the manifest (toolkit: {nvcc: /path/to/nvcc})")
	}
	return filepath.Abs(path)
}

var (
	nvccRelease = regexp.MustCompile(`release (\d+\.\d+), V(\d+\.\d+\.\d+)`)
	gpuCodeLine = regexp.MustCompile(`^sm_\d+[af]?$`)
)

func toolkit(ctx context.Context, o Options, limit time.Duration) record.Toolkit {
	nvcc, err := FindNVCC(o.NVCC)
	if err != nil {
		return record.Toolkit{Problem: err.Error(), VersionOutput: record.ToolOutput{Exit: -1, Problem: "no nvcc"}}
	}
	t := record.Toolkit{NVCC: nvcc}
	version := tool.Run(ctx, tool.Command{Args: []string{nvcc, "--version"}, Env: cleanEnv(), Timeout: limit})
	t.VersionOutput = version.ToolOutput
	m := nvccRelease.FindStringSubmatch(version.Output)
	if !version.OK() || m == nil {
		t.Problem = useless(nvcc, "--version", version, "a line with a release")
		return t
	}
	t.Version, t.Release = m[1], m[2]

	stdout := tool.NewBuffer(64 << 10)
	list := tool.Run(ctx, tool.Command{Args: []string{nvcc, "--list-gpu-code"}, Env: cleanEnv(), Timeout: limit, Stdout: stdout})
	if list.OK() {
		t.GPUCode = gpuCode(stdout.String())
	}
	if len(t.GPUCode) == 0 {
		t.Problem = useless(nvcc, "--list-gpu-code", list, "any target")
	}
	return t
}

// gpuCode reads what `nvcc --list-gpu-code` prints, one target a line.
func gpuCode(output string) []string {
	var list []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); gpuCodeLine.MatchString(line) {
			list = append(list, line)
		}
	}
	return list
}

func useless(nvcc, option string, r tool.Result, want string) string {
	why := r.Failure()
	if why == "" {
		why = "it did not print " + want
	}
	return fmt.Sprintf("%s %s: %s; is it the nvcc of a CUDA toolkit? Reinstall the toolkit, or name another nvcc in the manifest", nvcc, option, why)
}

// cleanEnv is the environment without the flags that nvcc adds to every command
// line: they belong to the user's builds.
func cleanEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS":
		default:
			env = append(env, entry)
		}
	}
	return env
}
