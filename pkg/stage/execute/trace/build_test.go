package trace

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// toolkit gives the path of nvcc.
func toolkit(t *testing.T) string {
	t.Helper()
	nvcc, err := exec.LookPath("nvcc")
	if err != nil {
		if os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1" {
			t.Fatal("nvcc is required")
		}
		t.Skip("no nvcc here")
	}
	return nvcc
}

// TestBuild builds the library with the CUPTI of the toolkit at hand, and finds
// it built the second time.
func TestBuild(t *testing.T) {
	nvcc := toolkit(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	l, err := Build(t.Context(), record.Toolkit{NVCC: nvcc})
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "InitializeInjection" && s.Section != elf.SHN_UNDEF }) {
		t.Error("InitializeInjection is not exported")
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range needed {
		if strings.HasPrefix(name, "libcuda") || strings.HasPrefix(name, "libcupti") || strings.HasPrefix(name, "libstdc++") {
			t.Errorf("it needs %s, which the process may not have", name)
		}
	}
	// Also that of CentOS 7 has what it needs.
	versions, err := f.DynamicVersionNeeds()
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range versions {
		for _, need := range library.Needs {
			var major, minor int
			if n, err := fmt.Sscanf(need.Dep, "GLIBC_%d.%d", &major, &minor); n != 2 || major != 2 || minor > 17 {
				t.Errorf("it needs %s of %s, %v", need.Dep, library.Name, err)
			}
		}
	}
	before, err := os.Stat(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Build(t.Context(), record.Toolkit{NVCC: nvcc})
	if err != nil || again != l {
		t.Errorf("again: %+v, %v, want %+v", again, err, l)
	}
	if after, err := os.Stat(l.Path); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("it was built twice: %v", err)
	}
}

func TestBuildWithout(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, err := Build(t.Context(), record.Toolkit{}); err == nil || !strings.Contains(err.Error(), "no toolkit") {
		t.Errorf("without a toolkit: %v", err)
	}
	if _, err := Build(t.Context(), record.Toolkit{NVCC: t.TempDir() + "/nvcc"}); err == nil || !os.IsNotExist(err) {
		t.Errorf("without that nvcc: %v", err)
	}
}
