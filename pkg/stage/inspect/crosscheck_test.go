package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect/cuobjdump"
)

// fakeNVCC gives the path of an nvcc that does not exist, beside a shell script
// that stands for cuobjdump and does what it is told.
func fakeNVCC(t *testing.T, version, files, symbols string) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
# A fake of cuobjdump, for tests.
case "$*" in
--version) echo "Cuda compilation tools, release %s, V%s.1" ;;
*-lelf*) %s ;;
*-symbols*) %s ;;
esac
`, version, version, files, symbols)
	if err := os.WriteFile(filepath.Join(dir, "cuobjdump"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "nvcc")
}

// rdc is what we read of a correct -rdc=true build of two sources by 13.0
// (C11), whose lists by cuobjdump 13.0 are recorded.
func rdc(t *testing.T) artifact.File {
	cubin := func(kernels ...string) devicecode.Image {
		i := devicecode.Image{Kind: devicecode.Cubin, Target: target(t, "sm_90"), Toolkit: "13.0"}
		for _, k := range kernels {
			i.Kernels = append(i.Kernels, devicecode.Kernel{Mangled: k})
		}
		return i
	}
	ptx := devicecode.Image{Kind: devicecode.PTX, Target: target(t, "compute_90"), PTXVersion: "9.0"}
	return artifact.File{
		Format: artifact.Executable,
		Objects: []artifact.Object{{Code: devicecode.Code{Containers: []devicecode.Container{
			{Section: ".nv_fatbin", Role: devicecode.DeviceLinked, Images: []devicecode.Image{cubin("_Z2kdPi", "_Z2kmPi")}},
			{Section: "__nv_relfatbin", Role: devicecode.Relocatable, Images: []devicecode.Image{cubin("_Z2kdPi"), ptx}},
			{Section: "__nv_relfatbin", Role: devicecode.Relocatable, Images: []devicecode.Image{cubin("_Z2kmPi"), ptx}},
		}}}},
	}
}

func TestCheck(t *testing.T) {
	recorded, err := filepath.Abs("cuobjdump/testdata/13.0-rdc")
	if err != nil {
		t.Fatal(err)
	}
	files, symbols := "cat "+recorded+".files.txt", "cat "+recorded+".symbols.txt"
	image := func(f artifact.File, container, image int) *devicecode.Image {
		return &f.Objects[0].Code.Containers[container].Images[image]
	}
	for _, c := range []struct {
		name                    string
		version, files, symbols string
		change                  func(*artifact.File)
		want                    record.CrossCheck
	}{
		{name: "agreed", want: record.CrossCheck{Done: true, Agreed: 9}},
		{name: "newer cuobjdump", version: "13.4", want: record.CrossCheck{Done: true, Agreed: 9}},
		{
			name: "it leaves out a kernel", symbols: "sed 0,/_Z2kmPi/{/_Z2kmPi/d} " + recorded + ".symbols.txt",
			want: record.CrossCheck{Done: true, Agreed: 6, Differences: []string{"only cudaproof finds kernel _Z2kmPi in sm_90"}},
		},
		{
			name: "it leaves out a file", files: files + " | sed 2d",
			want: record.CrossCheck{Done: true, Agreed: 9, Differences: []string{"only cudaproof finds sm_90 cubin"}},
		},
		{
			name: "it finds nothing, with exit code 0", files: "echo 'cuobjdump info    : File does not contain device code' >&2", symbols: ":",
			want: record.CrossCheck{Done: true, Differences: []string{
				"only cudaproof finds compute_90 ptx 9.0 (2 times)", "only cudaproof finds sm_90 cubin (3 times)",
				"only cudaproof finds kernel _Z2kdPi in sm_90 (2 times)", "only cudaproof finds kernel _Z2kmPi in sm_90 (2 times)",
				"only cudaproof finds compute_90 ptx (2 times)",
			}},
		},
		{
			name: "too old", version: "12.9",
			want: record.CrossCheck{NotDone: "cuobjdump 12.9 is older than toolkit 13.0, which wrote a part of the file"},
		},
		{
			name: "it crashes", symbols: "kill -SEGV $$",
			want: record.CrossCheck{NotDone: "cuobjdump -all -symbols: ended by signal: segmentation fault"},
		},
		{
			name: "it invents a target", files: "echo 'ELF file    1: file.1.sm_181.cubin'",
			want: record.CrossCheck{NotDone: "cuobjdump 13.0 lists a target sm_181 that no toolkit names"},
		},
		{
			name: "a kind that is not compared", symbols: symbols + "; printf 'Fatbin tile code:\\narch = sm_90\\n'",
			want: record.CrossCheck{Done: true, Agreed: 9, NotDone: "images of kinds that only cuobjdump lists: 1"},
		},
		{
			name: "code elsewhere", change: func(f *artifact.File) {
				f.Objects[0].Code.Containers = append(f.Objects[0].Code.Containers, devicecode.Container{Section: ".rodata", Images: []devicecode.Image{*image(*f, 0, 0)}})
			},
			want: record.CrossCheck{Done: true, Agreed: 9, NotDone: "images outside the sections that cuobjdump reads: 1"},
		},
		{
			name: "our reading is not complete", change: func(f *artifact.File) { image(*f, 0, 0).Problem = "cut" },
			want: record.CrossCheck{NotDone: "our own reading of the file is not complete"},
		},
		{
			name: "toolkit not known, agreed", change: func(f *artifact.File) { image(*f, 0, 0).Toolkit = "" },
			want: record.CrossCheck{Done: true, Agreed: 9},
		},
		{
			name: "toolkit not known, different", change: func(f *artifact.File) { image(*f, 1, 1).PTXVersion = "99.0" },
			want: record.CrossCheck{NotDone: "the lists differ, but the toolkit that wrote the compute_90 ptx is not known and may be newer than cuobjdump 13.0"},
		},
		{
			name: "PTX file", change: func(f *artifact.File) { f.Format = artifact.PTXFile },
			want: record.CrossCheck{NotDone: "cuobjdump does not read PTX files"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			or := func(s, otherwise string) string {
				if s == "" {
					return otherwise
				}
				return s
			}
			version := or(c.version, "13.0")
			f := rdc(t)
			if c.change != nil {
				c.change(&f)
			}
			got := newChecker(t.Context(), fakeNVCC(t, version, or(c.files, files), or(c.symbols, symbols))).check(t.Context(), "file", f)
			c.want.Version = version
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckWithoutCuobjdump(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	got := newChecker(t.Context(), "nvcc").check(t.Context(), "file", rdc(t))
	if want := (record.CrossCheck{NotDone: "cuobjdump --version: not found in PATH"}); !cmp.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCheckBoundsDifferences(t *testing.T) {
	f := rdc(t)
	theirs := cuobjdump.Reading{Files: asFiles(ourLists(f).must), Symbols: ourLists(f).must}
	i := &f.Objects[0].Code.Containers[0].Images[0]
	for n := range maxDifferences + 10 {
		i.Kernels = append(i.Kernels, devicecode.Kernel{Mangled: fmt.Sprintf("k%03d", n)})
	}
	_, differences := compareAll(ourLists(f), theirs)
	if len(differences) != maxDifferences+1 || differences[0] != "only cudaproof finds kernel k000 in sm_90" || differences[maxDifferences] != "and 10 more" {
		t.Errorf("got %q", differences)
	}
}
