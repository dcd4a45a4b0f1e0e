package trace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// TestFake drives the library through a fake of the driver and CUPTI
// (testdata/fake): no GPU takes part. It counts what no recording is large
// enough to show: modules whose handles come again, tables that grow.
func TestFake(t *testing.T) {
	nvcc := toolkit(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	l, err := Build(t.Context(), record.Toolkit{NVCC: nvcc})
	if err != nil {
		t.Fatal(err)
	}
	dir, out := t.TempDir(), t.TempDir()
	for _, args := range []string{
		"-std=c++17 -shared -fPIC -I /usr/include -Wl,-soname,libcuda.so.1 testdata/fake/fake.cpp -pthread -o " + dir + "/libcuda.so.1",
		"testdata/fake/main.cpp " + dir + "/libcuda.so.1 -Wl,-rpath," + dir + " -o " + dir + "/fake",
	} {
		if b, err := exec.Command("c++", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
	}
	l.CUPTI = dir + "/libcuda.so.1"
	c := exec.Command(dir + "/fake")
	c.Env = os.Environ()
	for name, value := range l.Variables(out) {
		c.Env = append(c.Env, name+"="+value)
	}
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	b, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("%d-0.trace", c.Process.Pid)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if p.Lost != 0 || len(p.Notices) != 0 {
		t.Errorf("%d lost, notices %q", p.Lost, p.Notices)
	}
	if want := []Context{{UID: 1, Device: "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff"}}; !cmp.Equal(p.Contexts, want) {
		t.Errorf("contexts %+v", p.Contexts)
	}
	if want := []Failure{{"cuLaunchKernel", 209, "CUDA_ERROR_FAKE", 3}}; !cmp.Equal(p.Failures, want) {
		t.Errorf("failures %+v", p.Failures)
	}
	if len(p.Modules) != 301 {
		t.Fatalf("%d modules", len(p.Modules))
	}
	for i, m := range p.Modules {
		image, err := os.ReadFile(filepath.Join(out, m.Image))
		if want := fmt.Sprintf("module %d", i+1); err != nil || string(image) != want || m.ID != i+1 || m.Size != int64(len(want)) {
			t.Errorf("module %d: %+v, image %q, %v", i+1, m, image, err)
		}
	}
	got := map[string][2]int64{} // launches by calls and by graphs
	for _, k := range p.Kernels {
		key := fmt.Sprintf("%s in %d", k.Name, k.Module)
		n := got[key]
		got[key] = [2]int64{n[0] + k.Launches, n[1] + k.GraphLaunches}
	}
	want := map[string][2]int64{"k1_0 in 301": {1, 0}}
	for slot := range 300 {
		for i := range 10 {
			n := [2]int64{int64(i + 1), 0}
			switch {
			case slot%2 == 0 && i == 9:
				n[0]++ // launched again after the unloading
			case slot == 4 && i < 2:
				n[0] += 20_000 // by four threads
			case slot == 2 && i == 0:
				n = [2]int64{n[0] + 1, 5} // once in the graph
			case slot == 2 && i == 1:
				n = [2]int64{n[0] + 1, 10} // twice in its child
			}
			want[fmt.Sprintf("k%d_%d in %d", slot, i, slot+1)] = n
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("launches, want -, got +:\n%s", diff)
	}
}
