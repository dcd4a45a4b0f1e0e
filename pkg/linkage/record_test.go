package linkage

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The files below testdata/record were written by glibc 2.35's loader on an
// H200, driver 580.159.04, CUDA 13.0, for a program that writes one integer
// (LD_DEBUG=files LD_DEBUG_OUTPUT=.../ld ./b1): native, ptx with
// CUDA_FORCE_PTX_JIT=1, env and env-i through `env ./b1` and `env -i ./b1`,
// link-at-load for a program that was device-linked without a target.
func TestRecordsOfAnH200(t *testing.T) {
	const driver = "/usr/local/nvidia/lib64/"
	jit := []string{driver + "libcuda.so.1", driver + "libnvidia-ptxjitcompiler.so.1"}
	tests := []struct {
		file     string
		pid      int
		programs []string
		driver   [][]string // libraries of the driver by program
	}{
		{"native/ld.830", 830, []string{"./b1"}, [][]string{jit[:1]}},
		{"ptx/ld.847", 847, []string{"./b1"}, [][]string{jit}},
		{"link-at-load/ld.1286", 1286, []string{"./b8"}, [][]string{jit}},
		{"env/ld.1546", 1546, []string{"env", "./b1"}, [][]string{nil, jit[:1]}},
		{"env-i/ld.1610", 1610, []string{"env"}, [][]string{nil}}, // C30
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got, err := readRecordFile(filepath.Join("testdata/record", tt.file), tt.pid)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(tt.programs) {
				t.Fatalf("got %d programs: %+v", len(got), got)
			}
			for i, p := range got {
				var libs []string
				for _, lib := range p.Libraries {
					if strings.HasPrefix(lib, driver) {
						libs = append(libs, lib)
					}
				}
				if p.Program != tt.programs[i] || !slices.Equal(libs, tt.driver[i]) {
					t.Errorf("got %s with %q, want %s with %q", p.Program, libs, tt.programs[i], tt.driver[i])
				}
				if !slices.Contains(p.Libraries, "/lib/x86_64-linux-gnu/libc.so.6") {
					t.Errorf("%s: libc is missing from %q", p.Program, p.Libraries)
				}
			}
		})
	}
}

// lines writes a record: "PID text" per line, as the loader prints it.
func lines(text ...string) string {
	var b strings.Builder
	for _, l := range text {
		pid, rest, _ := strings.Cut(l, " ")
		b.WriteString(strings.Repeat(" ", max(0, 10-len(pid))) + pid + ":\t" + rest + "\n")
	}
	return b.String()
}

func startup(pid, program string, libs ...string) []string {
	var text []string
	for _, l := range libs {
		name := filepath.Base(l)
		text = append(text, pid+" file="+name+" [0];  needed by "+program+" [0]", pid+" file="+name+" [0];  generating link map")
	}
	text = append(text, pid+" calling init: /lib64/ld-linux-x86-64.so.2")
	for _, l := range libs {
		text = append(text, pid+" calling init: "+l)
	}
	return append(text, pid+" initialize program: "+program, pid+" transferring control: "+program)
}

func dlopen(pid, by, lib string) []string {
	name := filepath.Base(lib)
	return []string{pid + " file=" + name + " [0];  dynamically loaded by " + by + " [0]",
		pid + " file=" + name + " [0];  generating link map", pid + " calling init: " + lib}
}

func TestParseRecord(t *testing.T) {
	prog := startup("7", "./p", "/l/libc.so.6")
	tests := []struct {
		name string
		text []string
		want []Process
	}{
		{"empty", nil, nil},
		{"killed before it started", prog[:4], nil},
		{"failed dlopen", append(slices.Clone(prog), "7 file=libno.so [0];  dynamically loaded by ./p [0]"),
			[]Process{{"./p", []string{"/l/libc.so.6"}}}},
		{"dlopen undone before its initialisation", append(slices.Clone(prog), dlopen("7", "./p", "/l/libbad.so")[:2]...),
			[]Process{{"./p", []string{"/l/libc.so.6"}}}},
		{"init without link map", append(slices.Clone(prog), "7 calling init: /l/libx.so"),
			[]Process{{"./p", []string{"/l/libc.so.6"}}}},
		{"dlopen with a dependency", slices.Concat(prog,
			[]string{"7 file=libx.so [0];  dynamically loaded by ./p [0]", "7 file=libx.so [0];  generating link map",
				"7 file=liby.so [0];  needed by /l/libx.so [0]", "7 file=liby.so [0];  generating link map",
				"7 calling init: /l/liby.so", "7 calling init: /l/libx.so"}),
			[]Process{{"./p", []string{"/l/libc.so.6", "/l/liby.so", "/l/libx.so"}}}},
		{"exec", slices.Concat(prog, startup("7", "./q", "/l/libc.so.6", "/l/libm.so.6")),
			[]Process{{"./p", []string{"/l/libc.so.6"}}, {"./q", []string{"/l/libc.so.6", "/l/libm.so.6"}}}},
		{"exec of itself", slices.Concat(prog, prog),
			[]Process{{"./p", []string{"/l/libc.so.6"}}, {"./p", []string{"/l/libc.so.6"}}}},
		{"exec of a program without libraries", slices.Concat(prog, startup("7", "./q")),
			[]Process{{"./p", []string{"/l/libc.so.6"}}, {"./q", nil}}},
		// What the parent opens may come before or after the fork: only what
		// the child names when it ends is its own.
		{"fork", slices.Concat(prog, dlopen("7", "./p", "/l/libparent.so"), dlopen("7", "./p", "/l/libafter.so"),
			dlopen("8", "./p", "/l/libcuda.so.1"), []string{"8 calling fini: /l/libparent.so [0]"}),
			[]Process{{"./p", []string{"/l/libc.so.6", "/l/libparent.so", "/l/libafter.so"}},
				{"./p", []string{"/l/libc.so.6", "/l/libcuda.so.1", "/l/libparent.so"}}}},
		{"fork that loads nothing", append(slices.Clone(prog), "8 calling fini: /l/libc.so.6 [0]"),
			[]Process{{"./p", []string{"/l/libc.so.6"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseRecord(strings.NewReader(lines(tt.text...)), 7)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A killed process leaves a line without its end: it is not believed.
func TestRecordEndsMidLine(t *testing.T) {
	whole := lines(slices.Concat(startup("7", "./p"), dlopen("7", "./p", "/l/libcuda.so.1"))...)
	for n := range len(whole) {
		got, err := parseRecord(strings.NewReader(whole[:n]), 7)
		if err != nil {
			t.Fatal(n, err)
		}
		for _, p := range got {
			if p.Program != "./p" || len(p.Libraries) > 0 {
				t.Fatalf("%d of %d bytes: %+v", n, len(whole), got)
			}
		}
	}
}

func TestRecordLimits(t *testing.T) {
	for name, text := range map[string]string{
		"long line": strings.Repeat("x", maxRecordLine+1),
		"long file": strings.Repeat("\n", maxRecord+1),
	} {
		if _, err := parseRecord(strings.NewReader(text), 7); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A real record: a program with a relative name opens a library with one.
func TestReadRecordOfARun(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"x.c": "int x(void) { return 7; }",
		"p.c": "#include <dlfcn.h>\nint main(void) { dlopen(\"./absent.so\", RTLD_NOW); return !dlopen(\"./x.so\", RTLD_NOW); }",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cc(t, dir, "-shared", "-fPIC", "x.c", "-o", "real.so")
	cc(t, dir, "p.c", "-o", "p", "-ldl")
	if err := os.Symlink("real.so", filepath.Join(dir, "x.so")); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	cmd := exec.Command("sh", "-c", "./p; exec ./p")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LD_DEBUG=files", "LD_DEBUG_OUTPUT="+filepath.Join(out, "ld"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got, err := ReadRecord(out, "ld", dir)
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for _, p := range got {
		programs = append(programs, p.Program)
		if want := filepath.Join(dir, "real.so"); p.Program != "sh" && !slices.Contains(p.Libraries, want) {
			t.Errorf("%s: want %s in %q", p.Program, want, p.Libraries)
		}
	}
	slices.Sort(programs)
	if p := filepath.Join(dir, "p"); !slices.Equal(programs, []string{p, p, "sh"}) {
		t.Errorf("got programs %q", programs)
	}
	if err := os.Mkdir(filepath.Join(out, "ld.1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecord(out, "ld", dir); err == nil {
		t.Error("a folder in place of a record: no error")
	}
}

func TestReadRecordNothingThere(t *testing.T) {
	if got, err := ReadRecord(t.TempDir(), "ld", "/"); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := ReadRecord(filepath.Join(t.TempDir(), "absent"), "ld", "/"); err == nil {
		t.Error("no folder: no error")
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, name := range []string{"ptx/ld.847", "env/ld.1546"} {
		data, err := os.ReadFile(filepath.Join("testdata/record", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseRecord(bytes.NewReader(data), 847)
		if err != nil && got != nil {
			t.Errorf("both a result and an error: %v, %v", got, err)
		}
		for _, p := range got {
			if p.Program == "" {
				t.Errorf("a process without a program: %+v", p)
			}
		}
	})
}
