package linkage

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cc builds with the C compiler in dir, or skips the test.
func cc(t *testing.T, dir string, args ...string) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs gcc:", err)
	}
	cmd := exec.Command(gcc, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc %q: %v\n%s", args, err, out)
	}
}

// tree builds a program and libraries in a new folder. a/liba.so needs libb.so,
// which is in b/; other/ holds a second libb.so.
func tree(t *testing.T, program, liba []string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"b.c": "int b(void) { return 7; }",
		"a.c": "int b(void); int a(void) { return b(); }",
		"m.c": "int a(void); int main(void) { return a() != 7; }",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range []string{"a", "b", "other", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cc(t, dir, "-shared", "-fPIC", "b.c", "-o", "b/libb.so", "-Wl,-soname,libb.so")
	cc(t, dir, "-shared", "-fPIC", "b.c", "-o", "other/libb.so", "-Wl,-soname,libb.so")
	cc(t, dir, append([]string{"-shared", "-fPIC", "a.c", "-o", "a/liba.so", "-Wl,-soname,liba.so", "-Lb", "-l:libb.so"}, liba...)...)
	cc(t, dir, append([]string{"m.c", "-o", "bin/m", "-La", "-l:liba.so", "-Wl,--allow-shlib-undefined"}, program...)...)
	return dir
}

const (
	rpath   = "-Wl,--disable-new-dtags,-rpath,"
	runpath = "-Wl,--enable-new-dtags,-rpath,"
)

func TestResolveRules(t *testing.T) {
	tests := []struct {
		name          string
		program, liba []string
		libraryPath   []string
		a, b          string // "HOW PATH", relative to the tree
	}{
		{"rpath of the chain", []string{rpath + "$ORIGIN/../a:$ORIGIN/../b"}, nil, nil, "RPATH a/liba.so", "RPATH b/libb.so"},
		{"runpath is not inherited", []string{runpath + "$ORIGIN/../a:$ORIGIN/../b"}, nil, nil, "RUNPATH a/liba.so", " "},
		{"runpath of each", []string{runpath + "$ORIGIN/../a"}, []string{runpath + "${ORIGIN}/../b"}, nil, "RUNPATH a/liba.so", "RUNPATH b/libb.so"},
		{"runpath of the user stops the chain", []string{rpath + "$ORIGIN/../a:$ORIGIN/../b"}, []string{runpath + "/nowhere"}, nil, "RPATH a/liba.so", " "},
		{"LD_LIBRARY_PATH before runpath", []string{runpath + "$ORIGIN/../a"}, []string{runpath + "$ORIGIN/../b"}, []string{"other"}, "RUNPATH a/liba.so", "LD_LIBRARY_PATH other/libb.so"},
		{"rpath before LD_LIBRARY_PATH", []string{rpath + "$ORIGIN/../a:$ORIGIN/../b"}, nil, []string{"other"}, "RPATH a/liba.so", "RPATH b/libb.so"},
		{"not a token", []string{runpath + "$ORIGINAL:$ORIGIN/../a"}, nil, nil, "RUNPATH a/liba.so", " "},
		{"not found", nil, nil, nil, " ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, tt.program, tt.liba)
			env := Environment{Cache: "/etc/ld.so.cache"}
			for _, p := range tt.libraryPath {
				env.LibraryPath = append(env.LibraryPath, filepath.Join(dir, p))
			}
			program := filepath.Join(dir, "bin/m")
			deps, err := Resolve(program, env)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"liba.so": tt.a}
			if tt.b != "" {
				want["libb.so"] = tt.b
			}
			got := map[string]string{}
			for _, d := range deps {
				if rel, ok := strings.CutPrefix(d.Path, dir+"/"); ok || d.Path == "" {
					got[d.Name] = d.How + " " + rel
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			sameAsLoader(t, program, env, deps)
		})
	}
}

// sameAsLoader compares with what the loader of this machine says.
func sameAsLoader(t *testing.T, program string, env Environment, deps []Dependency) {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = []string{"LD_TRACE_LOADED_OBJECTS=1"}
	if env.LibraryPath != nil {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+strings.Join(env.LibraryPath, ":"))
	}
	cmd.Dir = env.Dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " => ")
		if rest == "" { // the loader itself, or an absolute name
			rest, name = name, ""
		}
		path, _, found := strings.Cut(rest, " (0x")
		switch {
		case strings.Contains(path, "vdso"):
		case !found:
			want["not found: "+name] = true
		default:
			if !filepath.IsAbs(path) {
				path = filepath.Join(env.Dir, path)
			}
			if path, err = filepath.EvalSymlinks(path); err != nil {
				t.Fatal(err)
			}
			want[path] = true
		}
	}
	got := map[string]bool{}
	for _, d := range deps {
		if d.Path == "" {
			got["not found: "+d.Name] = true
		} else {
			got[d.Path] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("%s: loader against Resolve (-want +got):\n%s", program, diff)
	}
}

func TestResolveSystemPrograms(t *testing.T) {
	checked := 0
	for _, name := range []string{"bash", "git", "gcc", "python3", "curl", "perl", "gdb", "cuobjdump", "openssl"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		deps, err := Resolve(program, CurrentEnvironment())
		if err != nil {
			var script bool
			if head, _ := os.ReadFile(program); bytes.HasPrefix(head, []byte("#!")) {
				script = true
			}
			if !script {
				t.Error(err)
			}
			continue
		}
		if len(deps) > 0 {
			checked++
			sameAsLoader(t, program, CurrentEnvironment(), deps)
		}
	}
	if checked == 0 {
		t.Skip("none of the programs is here")
	}
}

func TestResolvePassesOverOtherMachines(t *testing.T) {
	dir := tree(t, []string{runpath + "$ORIGIN/../a"}, []string{runpath + "$ORIGIN/../other:$ORIGIN/../b"})
	other := filepath.Join(dir, "other/libb.so")
	data, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]byte){
		"another machine": func(b []byte) { b[18] ^= 62 ^ 183 }, // EM_X86_64, EM_AARCH64
		"32 bits":         func(b []byte) { b[4] = 1 },
	} {
		changed := bytes.Clone(data)
		change(changed)
		if err := os.WriteFile(other, changed, 0o755); err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(dir, "bin/m")
		deps, err := Resolve(program, Environment{Cache: "/etc/ld.so.cache"})
		if err != nil {
			t.Fatal(name, err)
		}
		i := slices.IndexFunc(deps, func(d Dependency) bool { return d.Name == "libb.so" })
		if want := filepath.Join(dir, "b/libb.so"); i < 0 || deps[i].Path != want || deps[i].NeededBy != filepath.Join(dir, "a/liba.so") {
			t.Errorf("%s: got %+v, want %s", name, deps, want)
		}
		sameAsLoader(t, program, Environment{}, deps)
	}
	if err := os.WriteFile(other, []byte("INPUT(libb.so.1)"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = Resolve(filepath.Join(dir, "bin/m"), Environment{Cache: "/etc/ld.so.cache"})
	if err == nil || !strings.Contains(err.Error(), other+": not an ELF file") {
		t.Errorf("text where a library is expected: %v", err)
	}
}

func TestResolveOrderAndLinks(t *testing.T) {
	dir := tree(t, []string{runpath + "links", "-Wl,--no-as-needed", "-Lb", "-l:libb.so"}, []string{runpath + "$ORIGIN/../b"})
	if err := os.Mkdir(filepath.Join(dir, "links"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{{"../a/liba.so", "links/liba.so"}, {"../b/libb.so", "links/libb.so"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	// A relative run path starts at the working directory.
	env := Environment{Cache: "/etc/ld.so.cache", Dir: dir}
	program := filepath.Join(dir, "bin/m")
	deps, err := Resolve(program, env)
	if err != nil {
		t.Fatal(err)
	}
	if len(deps) < 3 {
		t.Fatalf("got %+v", deps)
	}
	want := []Dependency{
		{Name: "liba.so", Path: dir + "/a/liba.so", NeededBy: program, How: "RUNPATH"},
		{Name: "libb.so", Path: dir + "/b/libb.so", NeededBy: program, How: "RUNPATH"},
	}
	if diff := cmp.Diff(want, deps[:2]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	sameAsLoader(t, program, env, deps)
}

func TestResolveRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		text:                     "not an ELF file",
		dir:                      "not a regular file",
		filepath.Join(dir, "no"): "no such file",
	} {
		if deps, err := Resolve(path, Environment{}); err == nil || !strings.Contains(err.Error(), want) || deps != nil {
			t.Errorf("%s: got %v, %v; want %q", path, deps, err, want)
		}
	}
}

func TestStaticProgramNeedsNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.c"), []byte("void _start(void) { for (;;); }"), 0o644); err != nil {
		t.Fatal(err)
	}
	cc(t, dir, "-static", "-nostdlib", "s.c", "-o", "s")
	deps, err := Resolve(filepath.Join(dir, "s"), CurrentEnvironment())
	if err != nil || deps != nil {
		t.Errorf("got %v, %v", deps, err)
	}
}

func FuzzReadObject(f *testing.F) {
	if self, err := os.ReadFile("/bin/true"); err == nil && len(self) < 1<<20 {
		f.Add(self)
	}
	f.Add([]byte("\x7fELF\x02\x01\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := readObject(bytes.NewReader(data))
		if err != nil && (o.needed != nil || o.interpreter != "") {
			t.Errorf("both an object and an error: %+v, %v", o, err)
		}
	})
}
