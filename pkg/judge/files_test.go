package judge

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

func TestFiles(t *testing.T) {
	good := func() record.Artifact { return program(container(t, devicecode.WholeProgram, "sm_90:_Z1kPf")) }
	for _, test := range []struct {
		name   string
		change func(*manifest.Manifest, *record.Record)
		want   []string
	}{
		{"good", func(*manifest.Manifest, *record.Record) {}, nil},
		{"missing, and a kernel required", func(m *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].File = artifact.File{Path: "app", Problem: "no such file"}
			m.Artifacts[0].Kernels.Require = []manifest.KernelPattern{{Name: "k"}}
		}, []string{"CP101"}},
		{"missing", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].File = artifact.File{Path: "app", Problem: "no such file"}
		}, []string{"CP101"}},
		{"not in the record", func(_ *manifest.Manifest, r *record.Record) { r.Artifacts = nil }, []string{"CP101"}},
		{"missing for want of a toolkit", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].File = artifact.File{Path: "app", Problem: "no such file"}
			r.Builds = []record.Build{{Name: "b", Problem: "no nvcc"}}
		}, []string{"CP113"}},
		{"C27 damaged image", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].Objects[0].Code.Containers[0].Images[0].Problem = "bad zstd"
		}, []string{"CP102"}},
		{"C27 damaged container", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].Objects[0].Code.Problems = []devicecode.Problem{{Section: ".nv_fatbin", Offset: 64, Text: "cut off"}}
		}, []string{"CP102"}},
		{"unread file", func(_ *manifest.Manifest, r *record.Record) { r.Artifacts[0].Problem = "bad ELF" }, []string{"CP102"}},
		{"no device code", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].Objects[0].Code = devicecode.Code{}
		}, []string{"CP103"}},
		{"link stub only", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].Objects[0].Code.Containers[0].Images[0].Kernels = nil
		}, []string{"CP103"}},
		{"C32 wrong host", func(m *manifest.Manifest, _ *record.Record) { m.Require.Host = []string{"aarch64"} }, []string{"CP111"}},
		{"kernel by name", func(m *manifest.Manifest, _ *record.Record) {
			m.Artifacts[0].Kernels.Require = []manifest.KernelPattern{{Name: "_Z1kPf"}, {Mangled: "_Z1kPf"}, {Glob: "_Z*"}}
		}, nil},
		{"kernel not there", func(m *manifest.Manifest, _ *record.Record) {
			m.Artifacts[0].Kernels.Require = []manifest.KernelPattern{{Name: "k2"}}
		}, []string{"CP110"}},
		{"cuobjdump differs", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].CrossCheck.Differences = []string{"sm_80 seen by cuobjdump only"}
		}, []string{"CP120"}},
		{"cuobjdump not run", func(_ *manifest.Manifest, r *record.Record) { r.Artifacts[0].CrossCheck.NotDone = "too old" }, []string{"CP121"}},
		{"changed by a run", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs, r.Artifacts[0].AfterRuns = []record.Run{{}}, "other"
		}, []string{"CP212"}},
		{"not hashed after the runs", func(_ *manifest.Manifest, r *record.Record) { r.Runs = []record.Run{{}} }, []string{"CP212"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, r := wanting(t, nil, nil), &record.Record{Artifacts: []record.Artifact{good()}}
			test.change(m, r)
			equal(t, "findings", ids(Files(m, r)), test.want)
		})
	}
}

func TestLibraries(t *testing.T) {
	withCode := record.Library{
		File:     record.File{Path: "/usr/lib/libx.so.1", SHA256: "a"},
		Images:   []record.ImageCount{{Kind: devicecode.Cubin, Target: target(t, "sm_90"), Images: 1, Kernels: 1}},
		LoadedBy: []string{"e/native/GPU-1", "e/ptx/GPU-1"},
	}
	driver, unread := withCode, record.Library{File: record.File{Path: "/usr/lib/liby.so"}, Problem: "permission denied"}
	driver.DriverOrTool = true
	excused := []manifest.ThirdParty{{Match: "libx.so*", Reason: "NVIDIA"}}
	for _, test := range []struct {
		name   string
		lib    record.Library
		excuse []manifest.ThirdParty
		want   []string
	}{
		{"host only", record.Library{File: record.File{Path: "/lib/libc.so.6", SHA256: "a"}}, nil, nil},
		{"device code nobody looks at", withCode, nil, []string{"CP131"}},
		{"device code that could not be read", record.Library{File: record.File{Path: "/usr/lib/libz.so", SHA256: "a"}, Unread: 1}, nil, []string{"CP131"}},
		{"excused", withCode, excused, []string{"CP133"}},
		{"driver", driver, nil, nil},
		{"unreadable", unread, nil, []string{"CP132"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &manifest.Manifest{ThirdParty: test.excuse}
			equal(t, "findings", ids(Libraries(m, &record.Record{Libraries: []record.Library{test.lib}})), test.want)
		})
	}
}

// TestC32 has a library for x86-64 in wheels.
func TestC32(t *testing.T) {
	for path, want := range map[string]string{
		"dist/p-1-cp312-cp312-manylinux_2_28_aarch64.whl": "the wheel's name says aarch64",
		"dist/p-1-cp312-cp312-linux_x86_64.whl":           "",
		"dist/p-1-py3-none-any.whl":                       "",
		"dist/p_aarch64.zip":                              "",
	} {
		a := record.Artifact{File: artifact.File{Path: path, Format: "zip", Objects: []artifact.Object{{Name: "p/k.so", Host: &artifact.Host{Machine: "x86_64", Bits: 64}}}}}
		found := hostFindings(nil, a)
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%s: %+v", path, found)
		case want != "" && (len(found) != 1 || found[0].ID != "CP111" || found[0].Container != "p/k.so" || !strings.Contains(found[0].Fact, want)):
			t.Errorf("%s: %+v, want %q", path, found, want)
		}
	}
}

// A third-party library is exempt kernel by kernel, but not where it has nothing
// at all for a device.
func TestThirdPartyDevices(t *testing.T) {
	m := wanting(t, nil, nil)
	m.Require.Devices = []arch.Capability{{Major: 9}, {Major: 12}}
	m.ThirdParty = []manifest.ThirdParty{{Match: "libx.so*", Reason: "theirs"}}
	image := func(kind devicecode.Kind, name string) record.ImageCount {
		return record.ImageCount{Kind: kind, Target: target(t, name), Images: 1, Kernels: 1}
	}
	sm90, ptx90 := image(devicecode.Cubin, "sm_90"), image(devicecode.PTX, "compute_90")
	for _, test := range []struct {
		name, path string
		images     []record.ImageCount
		want       []string
	}{
		{"shipped", "lib/libx.so.1", []record.ImageCount{sm90}, []string{"CP133", "CP136"}},
		{"the machine's", "/usr/lib/libx.so.1", []record.ImageCount{sm90}, []string{"CP133", "CP137"}},
		{"with PTX", "lib/libx.so.1", []record.ImageCount{sm90, ptx90}, []string{"CP133"}},
		{"ours", "lib/liby.so", []record.ImageCount{sm90}, []string{"CP131"}},
	} {
		r := &record.Record{Libraries: []record.Library{{File: record.File{Path: test.path, SHA256: "0"}, Images: test.images}}}
		equal(t, test.name, ids(Libraries(m, r)), test.want)
	}
	// An artifact that is third party.
	a := program(container(t, devicecode.WholeProgram, "sm_90:k"))
	a.Path = "lib/libx.so"
	r := &record.Record{Artifacts: []record.Artifact{a}}
	equal(t, "artifact, libraries", ids(Libraries(m, r)), []string{"CP136"})
	equal(t, "artifact, kernel by kernel", ids(Coverage(m, r)), nil)
}
