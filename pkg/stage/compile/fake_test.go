package compile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// project is a folder with a manifest's files.
type project struct {
	t *testing.T
	m *manifest.Manifest
}

func newProject(t *testing.T, builds ...manifest.Build) project {
	for _, name := range variables(manifest.External) {
		t.Setenv(name, "") // so that it is restored
		_ = os.Unsetenv(name)
	}
	return project{t, &manifest.Manifest{Dir: t.TempDir(), Build: builds}}
}

// file writes a file of the project and gives its path.
func (p project) file(name, text string) string {
	p.t.Helper()
	path := p.m.Abs(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p project) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(p.m.Abs(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func (p project) exists(name string) bool {
	_, err := os.Lstat(p.m.Abs(name))
	return err == nil
}

// fakeNVCC writes a script that fakes nvcc 13.0: it writes its arguments to the
// file "arguments", a dependency file that names the source and the header
// inc/h.h, and its output. before runs first, with the source or object list's
// last member in $in.
func (p project) fakeNVCC(before string) record.Probe {
	nvcc := p.file("toolkit/bin/nvcc", `#!/bin/sh
# This script fakes nvcc.
printf '%s\n' "$*" >>arguments
while [ $# -gt 0 ]; do
	case "$1" in
	-MF) deps=$2; shift ;;
	-o) out=$2; shift ;;
	*.cu | *.o) in=$1 ;;
	esac
	shift
done
`+before+`
[ -z "$deps" ] || printf '%s : %s \\\n    /usr/include/stdio.h \\\n    inc/h.h\n' "$out" "$in" >"$deps"
echo "made from $in" >>"$out"
`)
	return record.Probe{Toolkit: record.Toolkit{NVCC: nvcc, Version: "13.0", Release: "13.0.88",
		GPUCode: []string{"sm_75", "sm_80", "sm_90", "sm_100", "sm_121"}}}
}
