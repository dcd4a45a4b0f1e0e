package execute

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// warmFolder is where a warm run writes what the cold one wrote elsewhere; it is
// not kept.
const warmFolder = "warm"

// warm gives the variables of a run for another start with the same cache. All
// that is recorded goes elsewhere, so that both take the same time for it.
func (e environment) warm(variables []string) []string {
	return slices.Collect(func(yield func(string) bool) {
		for _, v := range variables {
			name, value, _ := strings.Cut(v, "=")
			switch name {
			case "LD_DEBUG_OUTPUT", "CUDA_LOG_FILE", "CUDAPROOF_TRACE_DIR":
				value = e.folder.path(warmFolder)
				if name != "CUDAPROOF_TRACE_DIR" {
					value = e.folder.path(warmFolder, strings.ToLower(name))
				}
			}
			if !yield(name + "=" + value) {
				return
			}
		}
	})
}

// warmRun starts a program again and says how many seconds it took. Nil means
// that it could not be started.
func warmRun(ctx context.Context, cmd *exec.Cmd, e manifest.EntryPoint, f folder) (*record.WarmRun, float64) {
	stdout, stderr := newStream(f.path(warmFolder, "stdout.txt"), e.Expect.Stdout), newStream(f.path(warmFolder, "stderr.txt"), nil)
	begun := time.Now()
	end, err := runWithOutput(ctx, cmd, e.Timeout, stdout, stderr)
	took := time.Since(begun).Seconds()
	if err != nil || end.exit.Interrupted {
		return nil, took
	}
	checks := append([]record.Check{exitCheck(e.Expect.Exit, e.Timeout, end.exit)}, stdout.checks()...)
	return &record.WarmRun{Exit: end.exit, Checks: checks, CacheFiles: f.cacheFiles()}, took
}

func allOK(checks []record.Check) bool {
	return len(checks) > 0 && !slices.ContainsFunc(checks, func(c record.Check) bool { return !c.OK })
}
