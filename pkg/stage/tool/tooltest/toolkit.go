// Package tooltest helps tests that need the tools of a CUDA toolkit.
package tooltest

import (
	"os"
	"os/exec"
	"testing"
)

// Toolkit gives the path of a tool of the CUDA toolkit, such as nvcc. Where it
// is missing the test is skipped, or fails when CUDAPROOF_REQUIRE_TOOLKIT=1.
func Toolkit(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path
	case os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1":
		t.Fatalf("%v, and CUDAPROOF_REQUIRE_TOOLKIT=1 wants the CUDA toolkit", err)
	default:
		t.Skipf("no CUDA toolkit: %v", err)
	}
	return ""
}
