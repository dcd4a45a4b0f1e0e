package execute

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/stage/execute/trace"
)

// TestTraceVariables wants the trace's variables to reach a program, and not
// those that the caller has, unless the manifest leaves the trace out. Nothing
// loads the library: the program is a script, and there is no device.
func TestTraceVariables(t *testing.T) {
	t.Setenv("CUDA_INJECTION64_PATH", "/somebody/elses.so")
	for _, test := range []struct {
		name, reason string
		library      trace.Library
		stdout       string // with the folder of the run cut out
		problem      string
	}{
		{"traced", "", trace.Library{Path: "/cache/t.so", CUPTI: "/lib/libcupti.so"},
			"CUDAPROOF_CUPTI=/lib/libcupti.so\nCUDAPROOF_TRACE_DIR=/trace\nCUDA_INJECTION64_PATH=/cache/t.so\n", "no process wrote a trace"},
		{"left out", "uses CUPTI itself", trace.Library{Path: "/cache/t.so", CUPTI: "/lib/libcupti.so"}, "", "left out by the manifest: uses CUPTI itself"},
		{"no library", "", trace.Library{}, "", "no CUPTI here"},
	} {
		e := script(`env | grep -E '^(CUDAPROOF_CUPTI|CUDAPROOF_TRACE_DIR|CUDA_INJECTION64_PATH)=' | sort | sed 's,=/.*/runs/[^/]*,=,'; true`)
		e.NoTrace = test.reason
		p := newProject(t, e)
		p.options.Trace, p.options.NoTrace = test.library, "no CUPTI here"
		r := p.run(t)
		if got := r.Stdout.Tail; got != test.stdout {
			t.Errorf("%s: printed %q, want %q", test.name, got, test.stdout)
		}
		if !strings.Contains(r.Trace.Problem, test.problem) {
			t.Errorf("%s: problem %q, want %q", test.name, r.Trace.Problem, test.problem)
		}
		if r.Environment["CUDA_INJECTION64_PATH"] == "/somebody/elses.so" {
			t.Errorf("%s: the caller's library is in force", test.name)
		}
	}
}
