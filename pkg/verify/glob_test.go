package verify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.so", "b.so", "[x].so", "sub/c.so", "odd!name", "layout/oci-layout"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		path    string
		want    []string
		members string
		err     string
	}{
		{"a.so", []string{"a.so"}, "", ""},
		{"?.so", []string{"a.so", "b.so"}, "", ""},
		{"**/*.so", []string{"[x].so", "a.so", "b.so", "sub/c.so"}, "", ""},
		{"[x].so", []string{"[x].so"}, "", ""}, // it exists, so it is no glob
		{"odd!name", []string{"odd!name"}, "", ""},
		{"layout", []string{"layout"}, "", ""},
		{"a.so!lib/*.so", []string{"a.so"}, "lib/*.so", ""},
		{"?.so!x.whl!**/*.so", []string{"a.so", "b.so"}, "x.whl!**/*.so", ""},
		{"a.so!", nil, "", "is no pattern for files inside"},
		{"a.so![", nil, "", "is no pattern for files inside"},
		{"none!x", nil, "", "no such file"},
		{"", nil, "", "-path is empty"},
		{"sub", nil, "", `"sub" is not a regular file: give a file or a glob, such as "sub/**/*.so"`},
		{os.DevNull, nil, "", `"/dev/null" is not a regular file: give a file or a glob`},
		{"none.so", nil, "", "no such file"},
		{"[", nil, "", "syntax error in pattern"},
	} {
		got, members, err := glob(test.path)
		if err == nil && members != test.members {
			t.Errorf("%q: pattern %q, want %q", test.path, members, test.members)
		}
		if err == nil && !slices.Equal(got, test.want) || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: got %v, %v; want %v, %q", test.path, got, err, test.want, test.err)
		}
	}
}

func TestManifestPath(t *testing.T) {
	t.Setenv("CUDAPROOF_MANIFEST", "")
	if got := (Options{}).manifestPath(); got != "cudaproof.yaml" {
		t.Errorf("default: %s", got)
	}
	t.Setenv("CUDAPROOF_MANIFEST", "env.yaml")
	if got := (Options{}).manifestPath(); got != "env.yaml" {
		t.Errorf("environment: %s", got)
	}
	if got := (Options{Manifest: "flag.yaml"}).manifestPath(); got != "flag.yaml" {
		t.Errorf("flag: %s", got)
	}
}
