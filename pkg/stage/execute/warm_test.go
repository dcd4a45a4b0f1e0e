package execute

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// TestWarm starts a program again with the cache that its first start left. There
// is no device: the program is a script.
func TestWarm(t *testing.T) {
	ok := record.Check{What: "exit code", Want: "0", Got: "0", OK: true}
	for _, test := range []struct {
		name, text string
		mode       manifest.Mode
		want       *record.WarmRun
	}{
		{"as shipped", `ls "$CUDA_CACHE_PATH"; echo x >>"$CUDA_CACHE_PATH/a"; echo PASS`, manifest.AsShippedMode,
			&record.WarmRun{Checks: []record.Check{ok, {What: "stdout line", Want: "PASS", Got: "printed", OK: true}}, CacheFiles: 1}},
		{"second start fails", `test -e "$CUDA_CACHE_PATH/a" && exit 7; echo x >"$CUDA_CACHE_PATH/a"; echo PASS`, manifest.AsShippedMode,
			&record.WarmRun{Exit: record.Exit{Code: 7}, CacheFiles: 1, Checks: []record.Check{
				{What: "exit code", Want: "0", Got: "7"}, {What: "stdout line", Want: "PASS", Got: "not printed"}}}},
		{"first start fails", `exit 1`, manifest.AsShippedMode, nil},
		{"another mode", `echo PASS`, manifest.NativeMode, nil},
	} {
		e := script(test.text)
		e.Modes = []manifest.Mode{test.mode}
		e.Expect.Stdout = []manifest.Line{{Text: "PASS"}}
		p := newProject(t, e)
		runs, seconds := Run(t.Context(), p.Manifest, p.options)
		if diff := cmp.Diff(test.want, runs[0].Warm); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", test.name, diff)
		}
		if took, ok := seconds[runs[0].ID+"/warm"]; ok != (test.want != nil) || ok && took <= 0 {
			t.Errorf("%s: took %v s, %v", test.name, took, ok)
		}
	}
}
