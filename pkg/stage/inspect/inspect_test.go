package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/linkage"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect/cuobjdump"
	"github.com/cudaproof/cudaproof/pkg/stage/tool/tooltest"
)

// fixture is a shared library by nvcc 13.0 with one kernel as sm_90a and
// compute_90a; how it was made is said beside it.
const fixture = "../../devicecode/testdata/cuda-13.0/v_90a.so"

const fixtureKernel = "_Z14never_launchedPi"

// project makes a folder with the fixture under the given names, and a manifest
// with the given artifacts.
func project(t *testing.T, files []string, patterns ...string) *manifest.Manifest {
	t.Helper()
	// Real paths are compared, and the temporary folder may be behind a link.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &manifest.Manifest{Dir: dir}
	for _, p := range patterns {
		m.Artifacts = append(m.Artifacts, manifest.Artifact{Path: p})
	}
	return m
}

func TestFiles(t *testing.T) {
	var (
		mu     sync.Mutex
		events []stage.Event
	)
	observer := func(e stage.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	got := Files(t.Context(), []string{fixture, missing}, Options{Observer: observer})

	if len(got) != 2 || got[0].Path != fixture || got[1].Path != missing {
		t.Fatalf("got %+v", got)
	}
	if got[0].Problem != "" || got[0].Format != artifact.SharedLibrary || len(got[0].SHA256) != 64 {
		t.Errorf("fixture: %+v", got[0].File)
	}
	var found []string
	for _, i := range images(got[0].File) {
		found = append(found, i.Target.String())
		if len(i.Kernels) != 1 || i.Kernels[0].Mangled != fixtureKernel {
			t.Errorf("%s: kernels %v", i.Target, i.Kernels)
		}
	}
	if want := []string{"sm_90a", "compute_90a"}; !cmp.Equal(found, want) {
		t.Errorf("got images %v, want %v", found, want)
	}
	if got[1].SHA256 != "" || got[1].Problem != "no such file or directory" {
		t.Errorf("missing file: %+v", got[1].File)
	}
	if !cmp.Equal(got[0].CrossCheck, record.CrossCheck{}) {
		t.Errorf("cross-check without being asked: %+v", got[0].CrossCheck)
	}
	last := events[len(events)-1]
	if len(events) != 2 || last.Stage != "inspect" || last.Done != 2 || last.Total != 2 {
		t.Errorf("got events %+v", events)
	}
}

func TestArtifacts(t *testing.T) {
	m := project(t, []string{"build/b.so", "build/a.so", "c.so"}, "build/*.so", "none/*.so", "c.so", "gone.so")
	var got []string
	for _, a := range Artifacts(t.Context(), m, Options{}) {
		got = append(got, a.Pattern+" "+a.Path+" "+a.Problem)
		if (a.SHA256 == "") != (a.Problem != "") {
			t.Errorf("%s: hash %q, problem %q", a.Path, a.SHA256, a.Problem)
		}
	}
	want := []string{
		"build/*.so build/a.so ",
		"build/*.so build/b.so ",
		"none/*.so none/*.so no such file: nothing matches none/*.so",
		"c.so c.so ",
		"gone.so gone.so no such file: nothing matches gone.so",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A dependency inside the project is named relative to it; one outside is not.
func TestArtifactsDependencies(t *testing.T) {
	m := project(t, []string{"build/a.so"}, "build/a.so")
	a := Artifacts(t.Context(), m, Options{})[0]
	if a.LinkageProblem != "" || len(a.Dependencies) == 0 {
		t.Fatalf("dependencies %v, problem %q", a.Dependencies, a.LinkageProblem)
	}
	for _, d := range a.Dependencies {
		if d.Path != "" && !filepath.IsAbs(d.Path) || d.NeededBy == "" {
			t.Errorf("got %+v", d)
		}
	}
	if first := a.Dependencies[0]; first.NeededBy != "build/a.so" {
		t.Errorf("first dependency: %+v", first)
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := project(t, []string{"a.so"}, "a.so")
	artifacts := Artifacts(ctx, m, Options{CrossCheck: true})
	if a := artifacts[0]; a.Problem != "context canceled" || a.SHA256 != "" {
		t.Errorf("got %+v", a)
	}
	runs := []record.Run{{ID: "r", Processes: []record.Process{{Libcuda: "/l", Libraries: []string{filepath.Join(m.Dir, "b.so"), "/usr/lib/libcuda.so.1"}}}}}
	libraries, _ := Libraries(ctx, m, artifacts, runs, Options{})
	for _, l := range libraries {
		if !strings.Contains(l.Problem, "context canceled") || l.SHA256 != "" {
			t.Errorf("got %+v", l)
		}
	}
}

// TestCrossCheckFixtures compares our reading of small files with that of the
// cuobjdump at hand, which must not be older than the toolkit of a file.
func TestCrossCheckFixtures(t *testing.T) {
	cuobjdump := tooltest.Toolkit(t, "cuobjdump")
	// Images and kernels of cubins.
	agreed := map[string]int{
		"c11_rdc_sm90_ptx90": 3 + 2 + 2, // linked and relocatable cubins, relocatable PTX
		"c12_rdc_ptx90":      2,
		"c15_lto80.o":        1,
		"c17_sm75_sm90.so":   2 + 2,
		"c24_stub":           1 + 2 + 2, // the stub, then both images
		"c29_variables80.so": 2,
		"v_90a.so":           2 + 1,
		"v_100f.so":          2 + 1,
		"v_c_size.so":        2 + 1,
	}
	outside := map[string]int{"c18_fatbin.so": 2, "c18_cubin.so": 1, "c18_ptx.so": 1, "c18_renamed.so": 2}
	paths, err := filepath.Glob("../../devicecode/testdata/cuda-*/*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no fixtures", err)
	}
	for n, a := range Files(t.Context(), paths, Options{CrossCheck: true, NVCC: cuobjdump}) {
		got, want := a.CrossCheck, record.CrossCheck{Version: a.CrossCheck.Version, Done: true, Agreed: a.CrossCheck.Agreed}
		toolkit := strings.TrimPrefix(filepath.Base(filepath.Dir(paths[n])), "cuda-")
		switch expected, known := agreed[filepath.Base(paths[n])]; {
		case a.Format == artifact.PTXFile:
			want = record.CrossCheck{Version: got.Version, NotDone: "cuobjdump does not read PTX files"}
		case arch.CompareVersions(got.Version, toolkit) < 0:
			want = record.CrossCheck{Version: got.Version, NotDone: "cuobjdump " + got.Version + " is older than toolkit " + toolkit + ", which wrote a part of the file"}
		case known:
			want.Agreed = expected
		case outside[filepath.Base(paths[n])] > 0:
			want.NotDone = fmt.Sprintf("images outside the sections that cuobjdump reads: %d", outside[filepath.Base(paths[n])])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", paths[n], diff)
		}
	}
}

func TestLibraries(t *testing.T) {
	m := project(t, []string{"build/app", "lib/libp.so.1", "lib/libq.so", "lib/libcuda.so.1"})
	in := func(name string) string { return filepath.Join(m.Dir, name) }
	if err := os.Symlink("libp.so.1", in("lib/libp.so")); err != nil {
		t.Fatal(err)
	}
	driver := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(driver, []byte("not to be read"), 0o600); err != nil {
		t.Fatal(err)
	}
	artifacts := []record.Artifact{
		{File: artifact.File{Path: "build/app"}, Dependencies: []linkage.Dependency{{Path: "lib/libp.so"}, {Name: "libgone.so"}, {Path: driver}}},
		{File: artifact.File{Path: "build/other"}, Dependencies: []linkage.Dependency{{Path: "lib/libp.so.1"}}},
	}
	runs := []record.Run{
		{ID: "f/ptx/G", Processes: []record.Process{
			{Program: "/bin/sh", Libraries: []string{"/lib/only-the-shell.so"}},
			{Program: in("build/app"), Artifacts: []string{"build/app"}, Libraries: []string{in("lib/libp.so"), in("lib/libq.so")}},
			{Program: "/usr/bin/other", Libcuda: driver, Libraries: []string{driver, in("build/app"), in("lib/libdeleted.so"), in("lib/libcuda.so.1")}},
		}},
		{ID: "f/native/G", Processes: []record.Process{{Libcuda: driver, Libraries: []string{driver, driver}}}},
	}

	got, _ := Libraries(t.Context(), m, artifacts, runs, Options{})
	type line struct {
		Path               string
		DriverOrTool, Code bool
		Problem            bool
		NeededBy, LoadedBy string
	}
	var lines []line
	for _, l := range got {
		lines = append(lines, line{l.Path, l.DriverOrTool, l.HasDeviceCode(), l.Problem != "", strings.Join(l.NeededBy, " "), strings.Join(l.LoadedBy, " ")})
		if (l.SHA256 == "") != (l.Problem != "") {
			t.Errorf("%s: hash %q, problem %q", l.Path, l.SHA256, l.Problem)
		}
	}
	real, err := filepath.EvalSymlinks(driver)
	if err != nil {
		t.Fatal(err)
	}
	want := []line{
		{real, true, false, false, "build/app", "f/native/G f/ptx/G"},
		// Inside the project no name makes a library the driver's.
		{"lib/libcuda.so.1", false, true, false, "", "f/ptx/G"},
		{"lib/libdeleted.so", false, false, true, "", "f/ptx/G"},
		{"lib/libp.so.1", false, true, false, "build/app build/other", "f/ptx/G"},
		{"lib/libq.so", false, true, false, "", "f/ptx/G"},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func TestRehash(t *testing.T) {
	m := project(t, []string{"same.so", "changed.so", "gone.so", "pipe.so"}, "same.so", "changed.so", "gone.so", "never.so", "pipe.so")
	artifacts := Artifacts(t.Context(), m, Options{})
	if err := os.WriteFile(m.Abs("changed.so"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.Abs("gone.so")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(m.Abs("pipe.so")), syscall.Mkfifo(m.Abs("pipe.so"), 0o600)); err != nil {
		t.Fatal(err)
	}
	Rehash(m, artifacts)
	want := []string{
		artifacts[0].SHA256,
		"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", // of "x"
		"unreadable",
		"",
		"unreadable",
	}
	for n, a := range artifacts {
		if a.AfterRuns != want[n] {
			t.Errorf("%s: got %q, want %q", a.Path, a.AfterRuns, want[n])
		}
	}
}

// Reading the fixture as cuobjdump does must not depend on its name.
func TestOurListsOfTheFixture(t *testing.T) {
	f, err := artifact.Open(fixture, devicecode.Options{Digests: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []cuobjdump.Image{
		{Kind: devicecode.Cubin, Target: target(t, "sm_90a"), Kernels: []string{fixtureKernel}},
		{Kind: devicecode.PTX, Target: target(t, "compute_90a"), PTXVersion: "9.0"},
	}
	if diff := cmp.Diff(want, ourLists(f).must); diff != "" {
		t.Error(diff)
	}
}
