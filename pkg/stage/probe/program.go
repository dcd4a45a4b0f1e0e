package probe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	cudasrc "github.com/cudaproof/cudaproof/cuda_src"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// queryDevices builds the probe program where that was not done yet, runs it,
// and reads its answer.
func queryDevices(ctx context.Context, t record.Toolkit, l limits) (record.ToolOutput, answer) {
	if t.Version == "" {
		return unusable("devices unknown: the probe program needs nvcc to be built; see the toolkit"), answer{}
	}
	dir, err := tool.CacheFolder()
	if err != nil {
		return unusable("devices unknown: " + err.Error()), answer{}
	}
	program := filepath.Join(dir, programName(t))
	if _, err := os.Stat(program); err != nil {
		if built := build(ctx, t.NVCC, program, l); built.Problem != "" {
			return built, answer{}
		}
	}
	return ask(ctx, program, l)
}

func unusable(problem string) record.ToolOutput {
	return record.ToolOutput{Exit: -1, Problem: problem}
}

// ask runs the probe program. Its path is recorded without the user's cache
// folder.
func ask(ctx context.Context, program string, l limits) (record.ToolOutput, answer) {
	stdout := tool.NewBuffer(1 << 20)
	r := tool.Run(ctx, tool.Command{Args: []string{program}, Timeout: l.program, Stdout: stdout})
	r.Command = []string{"<cache>/" + filepath.Base(program)}
	r.Output = stdout.String() + r.Output
	if r.Problem != "" {
		what := lookAtDriver
		if !r.Started {
			what = "set XDG_CACHE_HOME to a folder in which programs may run"
		}
		r.Problem = "devices unknown: the probe program: " + r.Problem + "; " + what
		return r.ToolOutput, answer{}
	}
	a, err := parseAnswer([]byte(stdout.String()))
	if err == nil && (r.Exit == 0) != (a.Failed == nil && !a.NoDriver) {
		err = fmt.Errorf("exit code %d does not fit its answer", r.Exit)
	}
	if err != nil {
		r.Problem = fmt.Sprintf("devices unknown: the probe program's output is of no use: %v; remove %s and try again", err, program)
		return r.ToolOutput, answer{}
	}
	r.Problem = a.problem()
	return r.ToolOutput, a
}

// programName depends on all that the program is built from; the architecture
// is in it because home folders are shared between machines.
func programName(t record.Toolkit) string {
	sum := sha256.New()
	for _, part := range []string{cudasrc.Probe, t.NVCC, t.VersionOutput.Output, runtime.GOARCH} {
		fmt.Fprintf(sum, "%d %s\n", len(part), part)
	}
	return "probe-" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// build compiles the probe program in a folder of its own and moves it into
// place at once, so that builds at the same time do not meet.
func build(ctx context.Context, nvcc, program string, l limits) record.ToolOutput {
	dir, err := os.MkdirTemp(filepath.Dir(program), "build-")
	if err != nil {
		return unusable("devices unknown: building the probe program: " + err.Error())
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "probe.cu"), []byte(cudasrc.Probe), 0o600); err != nil {
		return unusable("devices unknown: building the probe program: " + err.Error())
	}
	r := tool.Run(ctx, tool.Command{
		Args:    []string{nvcc, "-Wno-deprecated-gpu-targets", "-o", "probe", "probe.cu"},
		Dir:     dir,
		Env:     append(cleanEnv(), "TMPDIR="+dir), // nvcc's own files go with the folder
		Timeout: l.build,
	})
	failure := r.Failure()
	if failure == "" {
		err := os.Rename(filepath.Join(dir, "probe"), program)
		if err == nil {
			return r.ToolOutput
		}
		failure = err.Error()
	}
	r.Problem = "devices unknown: building the probe program failed: " + failure +
		"; see nvcc's message (a host compiler that fits can be named in NVCC_CCBIN)"
	return r.ToolOutput
}
