package probe

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/stage/tool/tooltest"
)

// The probe program is built by the real nvcc. Where there is no GPU it says so,
// with the call that failed and never with a number for a device.
func TestRealToolkit(t *testing.T) {
	tooltest.Toolkit(t, "nvcc")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("NVCC_APPEND_FLAGS", "--no-such-flag")
	p := Run(t.Context(), Options{})
	if p.Toolkit.Problem != "" || len(p.Toolkit.GPUCode) < 5 {
		t.Fatalf("toolkit %+v", p.Toolkit)
	}
	if !strings.HasPrefix(p.Toolkit.Release, p.Toolkit.Version+".") {
		t.Errorf("version %q of release %q", p.Toolkit.Version, p.Toolkit.Release)
	}
	q := p.DeviceQuery
	if len(q.Command) != 1 || !strings.HasPrefix(q.Command[0], "<cache>/probe-") || !strings.HasPrefix(q.Output, "{") {
		t.Fatalf("device query %+v", q)
	}
	if (len(p.Devices) == 0) != (q.Problem != "") || (q.Exit == 0) != (q.Problem == "") {
		t.Errorf("%d devices, device query %+v", len(p.Devices), q)
	}
	for _, d := range p.Devices {
		if d.Capability.Major < 3 || d.Name == "" {
			t.Errorf("device %+v", d)
		}
	}
}

func TestProgramCompilesWithoutWarnings(t *testing.T) {
	nvcc := tooltest.Toolkit(t, "nvcc")
	out, err := exec.Command(nvcc, "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror", "-Wno-deprecated-gpu-targets",
		"-o", t.TempDir()+"/probe", "../../../cuda_src/probe/probe.cu").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// A driver library that does not fit the kernel driver is named (C22). It is faked:
// a stub that returns 803 (testdata/h200/stub.c).
func TestC22(t *testing.T) {
	tooltest.Toolkit(t, "nvcc")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	stub := filepath.Join(dir, "libcuda.so.1")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "../../../testdata/h200/stub.c", "-Wl,-soname,libcuda.so.1", "-o", stub).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("LD_LIBRARY_PATH", dir)
	p := Run(t.Context(), Options{})
	if want := "error 803 (cudaErrorSystemDriverMismatch)"; !strings.Contains(p.DeviceQuery.Problem, want) || !strings.HasSuffix(p.DeviceQuery.Problem, "libcuda is "+stub) {
		t.Errorf("problem %q, want %q and %s", p.DeviceQuery.Problem, want, stub)
	}
	if p.Driver.Library != stub {
		t.Errorf("library %s, want %s", p.Driver.Library, stub)
	}
}
