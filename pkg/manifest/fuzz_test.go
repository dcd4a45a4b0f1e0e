package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Parse gives a manifest or mistakes with positions inside the text, never
// both, whatever it reads.
func FuzzParse(f *testing.F) {
	sample, err := os.ReadFile(filepath.Join("testdata", "project", "cudaproof.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	f.Add([]byte(head))
	f.Add([]byte(head + "entry_points: [{name: e, command: [e], expect: {files: {a: b}, exit: -1}}]\n"))
	f.Add([]byte("a: &a [*a, *a]\n"))
	f.Add([]byte("? {a: b}\n: [!!binary x]\n---\n"))
	path := filepath.Join(project(f), "cudaproof.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data, path)
		if (m == nil) == (err == nil) {
			t.Fatalf("Parse = %v, %v: want one of the two", m, err)
		}
		if err == nil {
			return
		}
		var list Errors
		if !errors.As(err, &list) || len(list) == 0 {
			t.Fatalf("error %T %v", err, err)
		}
		for _, e := range list {
			if e.Line < 1 || e.Line > len(data)+2 || e.Column < 0 || e.Text == "" {
				t.Errorf("mistake without a position or a text: %+v", e)
			}
		}
	})
}

// Files gives sorted files that exist, or an error, for any pattern.
func FuzzFiles(f *testing.F) {
	for _, pattern := range []string{"src/*.cu", "**/{a,b}.cu", "[a-", `\*`, "{{a,b},c}/**", "../x", "/etc/*"} {
		f.Add(pattern)
	}
	m := &Manifest{Dir: project(f)}
	f.Fuzz(func(t *testing.T, pattern string) {
		files, err := m.Files(pattern)
		if err != nil && files != nil {
			t.Fatalf("Files = %q, %v: want one of the two", files, err)
		}
		if !slices.IsSorted(files) {
			t.Errorf("not sorted: %q", files)
		}
		for _, name := range files {
			if info, err := os.Stat(m.Abs(name)); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%q names %q, which is no file: %v", pattern, name, err)
			}
		}
	})
}
