package trace

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// open reads the one file of a way of launching (testdata/trace/launches.cu), as
// it was recorded on an H200, driver 580.159.04, CUDA 13.0.
func open(t testing.TB, way string) []byte {
	t.Helper()
	names, err := filepath.Glob("testdata/" + way + "/*.trace")
	if err != nil || len(names) == 0 {
		t.Fatal("no trace of", way, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRead(t *testing.T) {
	p, err := Read(open(t, "bad"))
	if err != nil {
		t.Fatal(err)
	}
	p.Libraries = slices.DeleteFunc(p.Libraries, func(l string) bool { return !strings.Contains(l, "libcuda.so") })
	if p.Executable = filepath.Base(p.Executable); p.Executable != "launches" {
		t.Errorf("executable %s", p.Executable)
	}
	// Every recording has a number and a device of its own.
	pid := p.PID
	if names, err := filepath.Glob(fmt.Sprintf("testdata/bad/%d-0.trace", pid)); err != nil || len(names) != 1 {
		t.Errorf("process %d: %v %v", pid, names, err)
	}
	if len(p.Contexts) != 1 || !regexp.MustCompile(`^GPU(-[0-9a-f]+){5}$`).MatchString(p.Contexts[0].Device) {
		t.Fatalf("contexts %+v", p.Contexts)
	}
	want := &Process{
		PID: pid, Executable: "launches", CUPTI: 130001, Driver: 13000, Variables: map[string]string{},
		Contexts:  []Context{{UID: 1, Device: p.Contexts[0].Device}},
		Modules:   []Module{{ID: 23, Context: 1, Size: 9216, Image: fmt.Sprintf("%d-0-1.image", pid)}},
		Kernels:   []Kernel{{Name: "counted", Context: 1, Launches: 1}},
		Failures:  []Failure{{Function: "cuLaunchKernel", Code: 1, Name: "CUDA_ERROR_INVALID_VALUE", Count: 5}},
		Libraries: []string{"/usr/local/nvidia/lib64/libcuda.so.580.159.04"},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestWays has the kernels that each way of launching and ending launched, and
// how often, by graphs behind the plus.
func TestWays(t *testing.T) {
	for way, want := range map[string][]string{
		"many":        {"counted 6+0"},
		"capture":     {"counted 0+10", "other 0+5"},
		"graph":       {"other 0+5"},
		"cooperative": {"together 5+0"},
		"ex":          {"other 5+0"},
		"threads":     {"counted 41+0"}, // 8 threads, 5 each, and one before
		"abort":       {"counted 5+0"},
		"exit":        {"counted 5+0"},
		"kill":        {"counted 5+0"},
		"fork":        {"counted 5+0"},
	} {
		p, err := Read(open(t, way))
		if err != nil {
			t.Errorf("%s: %v", way, err)
			continue
		}
		var got []string
		for _, k := range p.Kernels {
			got = append(got, fmt.Sprintf("%s %d+%d", k.Name, k.Launches, k.GraphLaunches))
			if k.Module != 1 {
				t.Errorf("%s: kernel %s is of module %d, want 1", way, k.Name, k.Module)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(p.Notices) > 0 || p.Lost > 0 {
			t.Errorf("%s: notices %v, %d lost; want -, got +:\n%s", way, p.Notices, p.Lost, diff)
		}
	}
}

// TestReload adds up what contexts launched that came and went: handles of
// functions and numbers of modules come again.
func TestReload(t *testing.T) {
	got := ReadFolder("testdata/reload")
	if got.Problem != "" || len(got.Processes) != 1 {
		t.Fatalf("%+v", got)
	}
	p := got.Processes[0]
	if len(p.Modules) != 1 || p.Modules[0].Loads != 10 || len(p.Kernels) != 2 {
		t.Fatalf("modules %+v, kernels %+v", p.Modules, p.Kernels)
	}
	for _, k := range p.Kernels {
		if k.Launches != 5 {
			t.Errorf("%s: %d launches, want 5", k.Name, k.Launches)
		}
	}
}

// TestTwins tells kernels of one name apart by their modules. The images of two of
// the modules are the same, one from a library and one from a file.
func TestTwins(t *testing.T) {
	p, err := Read(open(t, "twins"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Kernel{
		{Name: "counted", Context: 1, Module: 1, Launches: 5},
		{Name: "counted", Context: 1, Module: 2, Launches: 6},
		{Name: "counted", Context: 1, Module: 3, Launches: 7},
	}
	if diff := cmp.Diff(want, p.Kernels); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	got := ReadFolder("testdata/twins").Processes[0]
	if len(got.Modules) != 2 || len(got.Kernels) != 2 {
		t.Fatalf("modules %+v, kernels %+v", got.Modules, got.Kernels)
	}
	for n, launches := range []int64{5, 6 + 7} {
		if k := got.Kernels[n]; k.Launches != launches || !slices.Equal(k.Modules, []string{got.Modules[n].SHA256}) {
			t.Errorf("kernel %+v, want %d launches from module %d", k, launches, n)
		}
	}
}

func TestReadFolder(t *testing.T) {
	got := ReadFolder("testdata/child")
	if got.Problem != "" || len(got.Processes) != 2 {
		t.Fatalf("problem %q, %d processes, want 2", got.Problem, len(got.Processes))
	}
	var launches []int64
	for _, p := range got.Processes {
		if len(p.Modules) != 1 || p.Modules[0].Loads != 1 || !strings.HasPrefix(p.Modules[0].SHA256, "8074a6164373cc5a") || len(p.Kernels) != 1 {
			t.Fatalf("modules %+v, kernels %+v", p.Modules, p.Kernels)
		}
		k := p.Kernels[0]
		if k.Name != "counted" || !slices.Equal(k.Modules, []string{p.Modules[0].SHA256}) {
			t.Errorf("kernel %+v", k)
		}
		launches = append(launches, k.Launches)
	}
	if slices.Sort(launches); !slices.Equal(launches, []int64{4, 5}) {
		t.Errorf("launches %v, want 4 and 5", launches)
	}
	if got := ReadFolder(t.TempDir()); !strings.Contains(got.Problem, "no process wrote a trace") {
		t.Errorf("an empty folder: %+v", got)
	}
}

// TestMissingImage takes the image of a module away: the process says so, and
// its kernel has no known module.
func TestMissingImage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "1-0.trace"), open(t, "many"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := ReadFolder(dir)
	if len(got.Processes) != 1 || len(got.Processes[0].Notices) != 1 || len(got.Processes[0].Kernels) != 1 || got.Processes[0].Kernels[0].Modules != nil {
		t.Errorf("%+v", got)
	}
}

func TestReadErrors(t *testing.T) {
	le := binary.LittleEndian
	for _, test := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"empty", func([]byte) []byte { return nil }, "no trace"},
		{"magic", func(b []byte) []byte { b[0] = 0; return b }, "no trace"},
		{"cut off", func(b []byte) []byte { return b[:len(b)-8] }, "claims"},
		{"used too small", func(b []byte) []byte { le.PutUint64(b[8:], 8); return b }, "claims 8 bytes"},
		{"record too large", func(b []byte) []byte { le.PutUint32(b[36:], 1<<31); return b }, "record at offset 0x20 claims"},
		{"record too small", func(b []byte) []byte { le.PutUint32(b[36:], 0); return b }, "record at offset 0x20 claims 0"},
		{"unknown kind", func(b []byte) []byte { le.PutUint32(b[32:], 77); return b }, "kind 77 is not known"},
		{"short content", func(b []byte) []byte { le.PutUint32(b[32:], kindKernel); le.PutUint32(b[36:], 16); return b }, "cut off"},
		{"rest", func(b []byte) []byte { le.PutUint64(b[8:], headerSize+4); return b }, "record at offset 0x20 is cut off"},
	} {
		p, err := Read(test.change(open(t, "many")))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, %v, want the error %q", test.name, p, err, test.want)
		}
	}
}

// FuzzRead wants an error or a process.
func FuzzRead(f *testing.F) {
	f.Add(open(f, "bad"))
	f.Add(open(f, "capture"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Read(b)
		if (p == nil) == (err == nil) {
			t.Fatalf("process %v, error %v", p, err)
		}
	})
}
