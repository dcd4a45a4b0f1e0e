package execute

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// TestJoin adds to the loader's record what only the trace saw. Processes and
// libraries are made up; no device is needed.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"app", "plugin.so"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plugin := artifact.File{Path: "plugin.so"}
	x := &executor{manifest: &manifest.Manifest{Dir: dir}, Options: Options{Artifacts: []record.Artifact{{File: plugin}}}}
	traced := []record.TracedProcess{
		{Program: filepath.Join(dir, "app"), Libraries: []string{
			"/lib/libc.so.6",                     // in both
			filepath.Join(dir, "plugin.so"),      // an artifact
			"/lib/libcuda.so.1",                  //
			"/lib/libnvidia-ptxjitcompiler.so.1", //
			"/lib/gone.so.1 (deleted)",           // no file any more
			"/tmp/data.bin",                      // no library
		}},
		{Program: "/bin/other", Libraries: []string{"/lib/libcuda.so.1"}}, // a process that the loader did not record
	}
	got := x.join([]record.Process{{Program: "app", Libraries: []string{"/lib/libc.so.6"}}}, traced)
	want := []record.Process{
		{
			Program: "app", Artifacts: []string{"plugin.so"}, Libcuda: "/lib/libcuda.so.1", JITCompiler: true,
			Libraries: []string{"/lib/libc.so.6", "plugin.so", "/lib/libcuda.so.1", "/lib/libnvidia-ptxjitcompiler.so.1"},
		},
		{Program: "/bin/other", Libcuda: "/lib/libcuda.so.1", Libraries: []string{"/lib/libcuda.so.1"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if traced[0].Program != "app" || traced[0].Libraries != nil {
		t.Errorf("traced: %+v", traced[0])
	}
}

// TestTracedErrors names each error once, whichever process it was returned to.
func TestTracedErrors(t *testing.T) {
	failure := record.TracedFailure{Function: "cuModuleLoadData", Code: 209, Name: "CUDA_ERROR_NO_BINARY_FOR_GPU", Count: 3}
	got := tracedErrors(record.Trace{Processes: []record.TracedProcess{
		{Failures: []record.TracedFailure{failure}},
		{Failures: []record.TracedFailure{failure, {Function: "cuLaunchKernel", Code: 1, Name: "CUDA_ERROR_INVALID_VALUE", Count: 1}}},
	}})
	want := []record.DriverError{
		{Code: 209, Name: "CUDA_ERROR_NO_BINARY_FOR_GPU", Call: "cuModuleLoadData", From: record.FromTrace},
		{Code: 1, Name: "CUDA_ERROR_INVALID_VALUE", Call: "cuLaunchKernel", From: record.FromTrace},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}
