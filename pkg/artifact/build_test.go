package artifact

import (
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBuild builds some of the test files again and reads the same from them.
func TestBuild(t *testing.T) {
	requireNVCC(t, "release 11.8")
	dir := t.TempDir()
	names := []string{"c11_rdc_sm90_ptx90", "c18_ptx.so", "c24_stub", "c25_80.cubin", "names80.so"}
	out, err := exec.Command(testdata+"build.sh", append([]string{dir}, names...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	for _, name := range names {
		f, err := Open(filepath.Join(dir, name), devicecode.Options{Digests: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(describe(open(t, "cuda-11.8/"+name)), describe(f)); diff != "" {
			t.Errorf("%s: committed -, built now +:\n%s", name, diff)
		}
	}
}

// requireNVCC skips a test where nvcc is missing, or fails it where
// CUDAPROOF_REQUIRE_TOOLKIT is 1. An nvcc of another release skips it.
func requireNVCC(t *testing.T, release string) {
	t.Helper()
	out, err := exec.Command("nvcc", "--version").Output()
	switch {
	case err != nil && os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1":
		t.Fatalf("nvcc is required and does not run: %v", err)
	case err != nil:
		t.Skipf("nvcc does not run here: %v", err)
	case !strings.Contains(string(out), release):
		t.Skipf("the test files are of %s, nvcc here is another: %s", release, out)
	}
}
