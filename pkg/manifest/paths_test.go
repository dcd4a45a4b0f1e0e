package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAbsAndRel(t *testing.T) {
	m := &Manifest{Dir: "/home/me/project"}
	for _, tc := range []struct{ path, abs, rel string }{
		{"build/app", "/home/me/project/build/app", "build/app"},
		{"./build//x/../app", "/home/me/project/build/app", "build/app"},
		{"/home/me/project/build/app", "/home/me/project/build/app", "build/app"},
		{".", "/home/me/project", "."},
		{"../lib/x.so", "/home/me/lib/x.so", "/home/me/lib/x.so"},
		{"/usr/lib/../lib64/x.so", "/usr/lib64/x.so", "/usr/lib64/x.so"},
		{"/home/me/project2/x", "/home/me/project2/x", "/home/me/project2/x"},
		{"..x/a", "/home/me/project/..x/a", "..x/a"},
	} {
		if got := m.Abs(tc.path); got != tc.abs {
			t.Errorf("Abs(%q) = %q, want %q", tc.path, got, tc.abs)
		}
		if got := m.Rel(tc.path); got != tc.rel {
			t.Errorf("Rel(%q) = %q, want %q", tc.path, got, tc.rel)
		}
	}
}

func TestNVCC(t *testing.T) {
	for nvcc, want := range map[string]string{
		"": "", "nvcc": "nvcc", "/opt/cuda/bin/nvcc": "/opt/cuda/bin/nvcc", "tools/nvcc": "/p/tools/nvcc",
	} {
		if got := (&Manifest{Dir: "/p", Toolkit: Toolkit{NVCC: nvcc}}).NVCC(); got != want {
			t.Errorf("NVCC of %q = %q, want %q", nvcc, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	top := t.TempDir()
	m := &Manifest{Dir: filepath.Join(top, "project")}
	for _, name := range []string{"a.so", "lib/b.so", "lib/deep/c.so", "lib/c.a", "lib/[x].so", ".hidden/d.so", "../out/e.so"} {
		path := m.Abs(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(m.Abs("folder.so"), 0o755); err != nil {
		t.Fatal(err)
	}
	// Two links to the folder itself: followed, ** would never end.
	for link, target := range map[string]string{"loop1": ".", "loop2": ".", "lib/b.so.1": "b.so", "dangling.so": "none", "lib/out": "../../out"} {
		if err := os.Symlink(target, m.Abs(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		pattern string
		want    []string
	}{
		{"a.so", []string{"a.so"}},
		{"./lib/../a.so", []string{"a.so"}},
		{m.Abs("a.so"), []string{"a.so"}},
		{"none.so", nil},
		{"none/*.so", nil},
		{"../out/e.so", []string{filepath.Join(top, "out", "e.so")}},
		// A link that leads nowhere is named: its reader will say what is wrong.
		{"*.so", []string{"a.so", "dangling.so"}},
		{"./lib/*.so*", []string{"lib/[x].so", "lib/b.so", "lib/b.so.1"}},
		{"lib/{b,deep/c}.so", []string{"lib/b.so", "lib/deep/c.so"}},
		{`lib/\[x\].so`, []string{"lib/[x].so"}},
		{"lib/**/*.so", []string{"lib/[x].so", "lib/b.so", "lib/deep/c.so"}},
		{"**/*.so", []string{".hidden/d.so", "a.so", "dangling.so", "lib/[x].so", "lib/b.so", "lib/deep/c.so"}},
		{"lib/out/*.so", []string{"lib/out/e.so"}},
	} {
		got, err := m.Files(tc.pattern)
		if err != nil {
			t.Errorf("%q: %v", tc.pattern, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q: %s", tc.pattern, diff)
		}
	}
	for _, tc := range []struct{ pattern, want string }{
		{"lib", `"lib" is not a regular file`},
		{"lib/[", `"lib/[" is not a valid glob: expected closed brackets and braces`},
		{"../*/e.so", `the glob "../*/e.so" leaves the manifest's folder: expected a glob below it, or a path without wildcards`},
		{"lib/{..,deep}/*.so", `the glob "lib/{..,deep}/*.so" leaves the manifest's folder: expected a glob below it, or a path without wildcards`},
		{"**/**/**/**/**/x", `the glob "**/**/**/**/**/x" is too complex: expected at most 4 brace groups, 32 alternatives and 4 times **`},
		{strings.Repeat("a", 5000), "found a path of 5000 bytes, expected at most 4096"},
	} {
		if got, err := m.Files(tc.pattern); err == nil || err.Error() != tc.want {
			t.Errorf("%q = %q, %v, want error %q", tc.pattern, got, err, tc.want)
		}
	}
}

// The project's folder may be reached through a link; the loader and git know
// it by its real path.
func TestLoadResolvesTheFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	text := "version: 1\nproject: p\nartifacts: [{path: app}]\n"
	if err := os.WriteFile(filepath.Join(dir, "cudaproof.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := Load(filepath.Join(link, "cudaproof.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Dir != dir || m.Path != filepath.Join(dir, "cudaproof.yaml") {
		t.Errorf("got folder %s and path %s, want those of %s", m.Dir, m.Path, dir)
	}
}
