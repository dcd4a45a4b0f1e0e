package manifest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func target(t *testing.T, s string) arch.Target {
	t.Helper()
	parsed, err := arch.ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Every supported key, each with a value that is not its default.
func TestLoad(t *testing.T) {
	path := filepath.Join("testdata", "project", "cudaproof.yaml")
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		Path:    abs,
		Dir:     filepath.Dir(abs),
		SHA256:  got.SHA256,
		Size:    got.Size,
		Project: "saxpy",
		Toolkit: Toolkit{NVCC: "nvcc"},
		Require: Require{
			PresentDevices: true,
			Devices:        []arch.Capability{{Major: 9}, {Major: 12, Minor: 1}},
			Native:         []arch.Target{target(t, "sm_90"), target(t, "sm_121")},
			PTX:            []arch.Target{target(t, "compute_90")},
			MinDriver:      arch.Driver{CUDA: "12.4"},
			Host:           []string{"aarch64"},
		},
		Build: []Build{{
			Name:    "saxpy",
			Kind:    Executable,
			Sources: []string{"src/a.cu", "src/b.cu"},
			Gencode: []Gencode{
				{target(t, "compute_90"), []arch.Target{target(t, "sm_90"), target(t, "compute_90")}},
				{target(t, "compute_120f"), []arch.Target{target(t, "sm_120f")}},
			},
			Flags:  []string{"-O2", "-Xcompiler", "-c"},
			RDC:    true,
			Output: "build/saxpy",
		}, {
			Name:    "plugins",
			Kind:    External,
			Command: []string{"cmake", "--build", "build", ""},
		}},
		Artifacts: []Artifact{{
			Path: "build/saxpy",
			Kernels: KernelRules{Require: []KernelPattern{
				{Name: "saxpy<float>"}, {Glob: "ns::red<*>"}, {Mangled: "_Z1kPi"},
			}, MinLaunched: 80, Without: []Waiver{{KernelPattern{Glob: "*_sm121"}, []arch.Capability{{Major: 9}}, "GB10 only"}}},
		}, {
			Path: "build/plugins/**/*.so",
		}},
		ThirdParty: []ThirdParty{{Match: "libcublas*.so*", Reason: "NVIDIA"}},
		EntryPoints: []EntryPoint{{
			Name:        "f32",
			Command:     []string{"build/saxpy", "--type", "f32"},
			Modes:       []Mode{NativeMode, PTXMode},
			ModesReason: "as-shipped is what the plugins entry point runs",
			Devices:     DeviceUse{Kind: CountDevices, Count: 2},
			Timeout:     90 * time.Second,
			Expect: Expect{
				Exit:            3,
				Stdout:          []Line{{Text: "PASS"}, {Text: `took \d+ ms`, Regexp: true}},
				Files:           map[string]Golden{"out.txt": {Path: "golden/out.txt"}},
				SameAcrossModes: []Output{{Path: "out.bin"}, {"sum.npy", Tolerance{Tolerant: true, Atol: 1e-6, EqualNaN: true}}},
			},
		}, {
			Name:    "plugins",
			Command: []string{"build/run_plugins"},
			Modes:   []Mode{NativeMode, PTXMode, AsShippedMode},
			Devices: DeviceUse{Kind: EachDevice},
			Timeout: time.Minute,
		}, {
			Name:        "help",
			Command:     []string{"build/saxpy", "--help"},
			Modes:       []Mode{AsShippedMode},
			ModesReason: "it uses no GPU: it prints its options",
			Devices:     DeviceUse{Kind: EachDevice},
			Timeout:     time.Minute,
			NoGPU:       "it prints its options",
		}},
		Evidence: Evidence{Dir: "evidence"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(got.SHA256) != 64 {
		t.Errorf("SHA256 = %q", got.SHA256)
	}
}

func TestDefaults(t *testing.T) {
	got, err := Parse([]byte("version: 1\nproject: p\nartifacts: [{path: a.so}]\n"), filepath.Join(t.TempDir(), "cudaproof.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		SHA256:    "936672bf5d4a7451b4118c5fdca946d764bbfe265305c5e9eec5561871ae4cfe",
		Size:      48,
		Project:   "p",
		Require:   Require{PresentDevices: true},
		Artifacts: []Artifact{{Path: "a.so"}},
		Evidence:  Evidence{Dir: ".cudaproof"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Manifest{}, "Path", "Dir")); diff != "" {
		t.Error(diff)
	}
}

func TestNoPresentDevice(t *testing.T) {
	got, err := Parse([]byte("version: 1\nproject: p\nrequire: {devices: [\"8.6\"]}\nartifacts: [{path: a.so}]\n"), "cudaproof.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Require{Devices: []arch.Capability{{Major: 8, Minor: 6}}}
	if diff := cmp.Diff(want, got.Require); diff != "" {
		t.Error(diff)
	}
}

func TestGolden(t *testing.T) {
	for _, test := range []struct {
		golden Golden
		want   string
	}{
		{Golden{Path: "g"}, "written, and equal to g"},
		{Golden{"g", Tolerance{Tolerant: true, Rtol: 1e-5}}, "written, and equal to g within rtol 1e-05, atol 0"},
		{Golden{"g", Tolerance{Tolerant: true, Atol: 0.5, EqualNaN: true}}, "written, and equal to g within rtol 0, atol 0.5, NaN equals NaN"},
	} {
		if got := test.golden.Wanted(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestGroups has the devices of each run, by position, of a machine with
// capabilities 9.0, 9.0 and 12.0.
func TestGroups(t *testing.T) {
	visible := []int{0, 1, 2}
	capability := func(i int) arch.Capability { return []arch.Capability{{Major: 9}, {Major: 9}, {Major: 12}}[i] }
	for _, test := range []struct {
		entry EntryPoint
		want  [][]int
	}{
		{EntryPoint{Devices: DeviceUse{Kind: EachDevice}}, [][]int{{0}, {1}, {2}}},
		{EntryPoint{Devices: DeviceUse{Kind: PerCapability}}, [][]int{{0}, {2}}},
		{EntryPoint{Devices: DeviceUse{Kind: AllDevices}}, [][]int{{0, 1, 2}}},
		{EntryPoint{Devices: DeviceUse{Kind: CountDevices, Count: 2}}, [][]int{{0, 1}}},
		{EntryPoint{Devices: DeviceUse{Kind: CountDevices, Count: 4}}, nil},
		{EntryPoint{NoGPU: "it needs none"}, [][]int{nil}},
	} {
		if diff := cmp.Diff(test.want, Groups(test.entry, visible, capability)); diff != "" {
			t.Errorf("%+v: want -, got +:\n%s", test.entry, diff)
		}
		if got := Groups(test.entry, nil, capability); test.entry.NoGPU == "" && got != nil {
			t.Errorf("%+v without devices: %v", test.entry, got)
		}
	}
}
