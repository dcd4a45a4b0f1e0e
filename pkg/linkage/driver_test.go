package linkage

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDriverOrTool(t *testing.T) {
	dir := t.TempDir()
	ours := filepath.Join(dir, "libours.so")
	driver := filepath.Join(dir, "libcuda.so.580.1")
	for _, p := range []string{ours, driver} {
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"libanything.so": driver, "libcuda.so.1": ours}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{
		"libcuda.so.1": true, "libnvidia-ml.so.1": true, "libcudart.so.12": false, "libcuda.so-not": false,
	} {
		if got := DriverName(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	for path, want := range map[string]bool{
		"/usr/lib/nowhere/libcuda.so.1":                  true,
		"/usr/lib/nowhere/libcuda.so.580.159.04":         true,
		"/usr/lib/nowhere/libcudadebugger.so.1":          true,
		"/usr/lib/nowhere/libnvidia-ptxjitcompiler.so.1": true,
		"/opt/cuda/extras/libcupti.so.13":                true,
		"/usr/lib/nowhere/libcudart.so.13":               false,
		"/usr/lib/nowhere/libnvrtc.so.13":                false,
		"/usr/lib/nowhere/libcudaproof.so":               false,
		"build/libcuda.so.1":                             false, // the project's own
		filepath.Join(dir, "libanything.so"):             true,
		filepath.Join(dir, "libcuda.so.1"):               false,
	} {
		if got := DriverOrTool(path); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}
