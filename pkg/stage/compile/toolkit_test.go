package compile

import (
	"debug/elf"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/probe"
	"github.com/cudaproof/cudaproof/pkg/stage/tool/tooltest"
)

// toolkit is the real one, without a look at the devices.
func toolkit(t *testing.T) record.Probe {
	t.Helper()
	tooltest.Toolkit(t, "nvcc")
	t.Setenv("XDG_CACHE_HOME", "") // without a cache folder
	t.Setenv("HOME", "")           // the probe program is not built
	p := probe.Run(t.Context(), probe.Options{})
	if p.Toolkit.Problem != "" {
		t.Fatal(p.Toolkit.Problem)
	}
	return p
}

// kernel calls into the other source where device code is linked.
const kernel = `#include "inc/value.h"
#ifdef __CUDACC_RDC__
__device__ int other(int);
#else
__device__ int other(int i) { return i; }
#endif
__global__ void k(int *p) { *p = other(VALUE); }
int main() { k<<<1, 1>>>(nullptr); return 0; }
`

const otherFile = `#ifdef __CUDACC_RDC__
__device__ int other(int i) { return i; }
#endif
`

// listing is what cuobjdump lists: kinds and targets, each once.
func listing(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(tooltest.Toolkit(t, "cuobjdump"), "-all", "-lelf", "-lptx", path).CombinedOutput()
	if err != nil {
		t.Fatalf("cuobjdump: %v\n%s", err, out)
	}
	count := map[string]int{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 4 && fields[1] == "file" {
			parts := strings.Split(fields[3], ".")
			count[fields[0]+" "+parts[len(parts)-2]]++
		}
	}
	var list []string
	for _, key := range []string{"ELF sm_80", "ELF sm_90", "ELF sm_52", "ELF sm_75", "PTX sm_80", "PTX sm_90"} {
		if count[key] > 0 {
			list = append(list, key)
		}
	}
	return strings.Join(list, ", ")
}

func TestRealBuilds(t *testing.T) {
	real := toolkit(t)
	gencode := []manifest.Gencode{
		{Arch: parseTargets(t, "compute_80")[0], Code: parseTargets(t, "sm_80")},
		hopper[0],
	}
	const want = "ELF sm_80, ELF sm_90, PTX sm_90"
	tests := []struct {
		name   string
		build  manifest.Build
		device string // of cuobjdump -all
		kind   elf.Type
	}{
		{"executable", manifest.Build{Kind: manifest.Executable, Sources: []string{"src/main.cu"}, Output: "build/main", Flags: []string{"-I.", "-lm"}}, want, elf.ET_DYN},
		{"shared", manifest.Build{Kind: manifest.Shared, Sources: []string{"src/main.cu", "src/other file.cu"}, Output: "build/libmain.so", Flags: []string{"-I."}}, want, elf.ET_DYN},
		// C11: no image of nvcc's default target comes from the device link.
		{"relocatable", manifest.Build{Kind: manifest.Executable, RDC: true, Sources: []string{"src/main.cu", "src/other file.cu"}, Output: "build/main", Flags: []string{"-I."}}, want, elf.ET_DYN},
		{"relocatable shared", manifest.Build{Kind: manifest.Shared, RDC: true, Sources: []string{"src/main.cu", "src/other file.cu"}, Output: "build/libmain.so", Flags: []string{"-I."}}, want, elf.ET_DYN},
		{"static", manifest.Build{Kind: manifest.Static, Sources: []string{"src/main.cu", "src/other file.cu"}, Output: "build/libmain.a", Flags: []string{"-I."}}, want, elf.ET_NONE},
		{"relocatable static", manifest.Build{Kind: manifest.Static, RDC: true, Sources: []string{"src/main.cu", "src/other file.cu"}, Output: "build/libmain.a", Flags: []string{"-I."}}, want, elf.ET_NONE},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.build.Name, tt.build.Gencode = "b", gencode
			p := newProject(t, tt.build)
			p.file("inc/value.h", "#if __CUDA_ARCH__ == 900\n#include \"only 90.h\"\n#endif\n#define VALUE 7\n")
			p.file("inc/only 90.h", "")
			p.file("src/main.cu", kernel)
			p.file("src/other file.cu", otherFile)
			builds, inputs := Run(t.Context(), p.m, real, nil)
			if b := builds[0]; b.Problem != "" {
				t.Fatalf("%s\n%+v", b.Problem, b.Commands)
			}
			if got := listing(t, p.m.Abs(tt.build.Output)); got != tt.device {
				t.Errorf("device code %s, want %s", got, tt.device)
			}
			if f, err := elf.Open(p.m.Abs(tt.build.Output)); tt.kind != elf.ET_NONE && (err != nil || f.Type != tt.kind) {
				t.Errorf("%+v, %v; want %v", f, err, tt.kind)
			}
			// The header that one device pass alone reads is an input too.
			wantInputs := append([]string{"inc/only 90.h", "inc/value.h"}, tt.build.Sources...)
			var got []string
			for _, f := range inputs {
				got = append(got, f.Path)
			}
			if !cmp.Equal(got, wantInputs) {
				t.Error(cmp.Diff(wantInputs, got))
			}
		})
	}
}

func TestRealFailureShowsTheMessage(t *testing.T) {
	real := toolkit(t)
	p := newProject(t, manifest.Build{Name: "b", Kind: manifest.Executable, Gencode: hopper, Sources: []string{"good.cu", "bad.cu"}, Output: "a"})
	p.file("good.cu", "int main() {}\n")
	p.file("bad.cu", "__global__ void k() { undeclared(); }\n")
	builds, _ := Run(t.Context(), p.m, real, nil)
	b := builds[0]
	if !b.Failed || !strings.HasPrefix(b.Problem, "nvcc compiling bad.cu failed: exit code ") {
		t.Errorf("build %+v", b)
	}
	last := b.Commands[len(b.Commands)-1]
	if !strings.Contains(last.Output, `bad.cu(1): error: identifier "undeclared" is undefined`) {
		t.Errorf("output %q", last.Output)
	}
}

// Every release of nvcc lacks some target, and is never given another one.
func TestRealMissingTarget(t *testing.T) {
	real := toolkit(t)
	target := "sm_35" // left out since 12.0
	if real.Toolkit.Version == "11.8" {
		target = "sm_121"
	}
	gencode := manifest.Gencode{Arch: parseTargets(t, target)[0].As("compute"), Code: parseTargets(t, target)}
	p := newProject(t, manifest.Build{Name: "b", Kind: manifest.Executable, Gencode: []manifest.Gencode{gencode}, Sources: []string{"a.cu"}, Output: "a"})
	p.file("a.cu", "int main() {}\n")
	builds, _ := Run(t.Context(), p.m, real, nil)
	b := builds[0]
	if !b.Failed || len(b.Commands) > 0 || !strings.Contains(b.Problem, "does not list "+target) || !strings.Contains(b.Problem, "sm_80 ") {
		t.Errorf("build %+v", b)
	}
}
