package cuobjdump

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake writes a shell script that stands for cuobjdump. It gets what to do for
// --version and for the two lists.
func fake(t *testing.T, version, files, symbols string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cuobjdump")
	script := fmt.Sprintf(`#!/bin/sh
# A fake of cuobjdump, for tests.
case "$*" in
--version) %s ;;
"-all -lelf -lptx "*) %s ;;
"-all -symbols "*) %s ;;
*) echo "cuobjdump fatal   : not expected: $*" >&2; exit 1 ;;
esac
`, version, files, symbols)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const says13 = `echo "Cuda compilation tools, release 13.0, V13.0.85"`

func TestFind(t *testing.T) {
	beside := fake(t, says13, ":", ":")
	inPath := fake(t, `echo "Cuda compilation tools, release 12.4, V12.4.99"`, ":", ":")
	for _, c := range []struct {
		name, nvcc, path string
		want             Tool
		problem          string
	}{
		{"beside nvcc", filepath.Join(filepath.Dir(beside), "nvcc"), filepath.Dir(inPath), Tool{beside, "13.0"}, ""},
		{"in PATH, nvcc a name", "nvcc", filepath.Dir(inPath), Tool{"cuobjdump", "12.4"}, ""},
		{"in PATH, nvcc elsewhere", "/no/such/nvcc", filepath.Dir(inPath), Tool{"cuobjdump", "12.4"}, ""},
		{"nowhere", "", t.TempDir(), Tool{}, "cuobjdump --version: not found in PATH"},
		{"no release", filepath.Join(filepath.Dir(fake(t, "echo hello", ":", ":")), "nvcc"), "", Tool{}, "names no release"},
		{"refuses", filepath.Join(filepath.Dir(fake(t, "exit 3", ":", ":")), "nvcc"), "", Tool{}, "--version: exit code 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			got, err := Find(t.Context(), c.nvcc)
			if got != c.want || fmt.Sprint(err) != "<nil>" && (c.problem == "" || !strings.Contains(err.Error(), c.problem)) || c.problem != "" && err == nil {
				t.Errorf("got %v, %v; want %v, %q", got, err, c.want, c.problem)
			}
		})
	}
}

func TestRead(t *testing.T) {
	const (
		files   = `echo "ELF file    1: file.1.sm_90.cubin"`
		symbols = `printf 'Fatbin elf code:\n=====\narch = sm_90\nsymbols:\nSTT_FUNC STB_GLOBAL STO_ENTRY k\n'`
		nothing = `echo "cuobjdump info    : File 'file' does not contain device code" >&2; exit 255`
	)
	one := Reading{Files: []Image{image(t, "sm_90", "")}, Symbols: []Image{image(t, "sm_90", "", "k")}}
	for _, c := range []struct {
		name, files, symbols string
		want                 Reading
		problem              string
	}{
		{"lists", files, symbols, one, ""},
		{"nothing", nothing, nothing, Reading{}, ""},
		{"information", "echo 'cuobjdump info    : No PTX file found' >&2; " + files, symbols, one, ""},
		{"segmentation fault", "kill -SEGV $$", symbols, Reading{}, "cuobjdump -all -lelf -lptx: ended by signal: segmentation fault"},
		{"refusal", files, `echo "cuobjdump fatal   : Invalid fatbin header in '$3'" >&2; exit 1`, Reading{}, "cuobjdump -all -symbols: exit code 1, cuobjdump fatal   : Invalid fatbin header in 'file'"},
		{"fatal with exit code 0", files, `echo "cuobjdump fatal   : no" >&2`, Reading{}, "cuobjdump fatal   : no"},
		{"silent failure", files, "exit 1", Reading{}, "cuobjdump -all -symbols: exit code 1"},
		{"unknown text", "echo hello", symbols, Reading{}, `output of cuobjdump -all -lelf -lptx, line 1: unknown text "hello"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := Tool{Path: fake(t, says13, c.files, c.symbols), Version: "13.0"}
			got, err := tool.Read(t.Context(), "-odd name")
			if c.problem != "" {
				if err == nil || !strings.HasSuffix(err.Error(), c.problem) {
					t.Errorf("got error %v, want %q", err, c.problem)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

// A stopped verification must not wait for cuobjdump.
func TestReadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tool := Tool{Path: fake(t, says13, "sleep 60", "sleep 60")}
	if _, err := tool.Read(ctx, "file"); err == nil || !strings.Contains(err.Error(), "stopped: context canceled") {
		t.Errorf("got %v", err)
	}
}
