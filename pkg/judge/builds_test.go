package judge

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

func TestBuilds(t *testing.T) {
	for _, test := range []struct {
		name  string
		build record.Build
		want  []string
		says  string
	}{
		{"done", record.Build{Name: "b", Output: "app"}, nil, ""},
		{"missing target", record.Build{Name: "b", Output: "app", Failed: true, MissingTargets: []string{"sm_121"}, Problem: "sm_121 is not in sm_80, sm_90"}, []string{"CP302"}, "sm_121 is not in sm_80, sm_90"},
		{"failed", record.Build{Name: "b", Output: "app", Failed: true, Problem: "nvcc failed", Commands: []record.Command{{Exit: 2, Output: "k.cu(3): error: x\n"}}}, []string{"CP303"}, "nvcc failed.\nk.cu(3): error: x"},
		{"not done", record.Build{Name: "b", Output: "app", Problem: "no nvcc"}, []string{"CP304"}, "no nvcc"},
		{"not in the record", record.Build{Name: "other", Output: "app"}, []string{"CP304"}, "the record holds no such build"},
		{"NVCC_APPEND_FLAGS", record.Build{Name: "b", Output: "app", Environment: map[string]string{"NVCC_APPEND_FLAGS": "-arch=sm_80"}}, []string{"CP305"}, "NVCC_APPEND_FLAGS=-arch=sm_80"},
		{"other output", record.Build{Name: "b", Output: "elsewhere"}, []string{"CP306"}, "No build of the manifest writes this file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := wanting(t, nil, nil)
			m.Build = []manifest.Build{{Name: "b", Kind: manifest.Executable, Output: "app"}}
			r := &record.Record{
				Builds:    []record.Build{test.build},
				Artifacts: []record.Artifact{program(container(t, devicecode.WholeProgram, "sm_90:k"))},
			}
			found := Builds(m, r)
			equal(t, "findings", ids(found), test.want)
			if len(found) > 0 && !strings.Contains(found[0].Fact, test.says) {
				t.Errorf("fact %q does not say %q", found[0].Fact, test.says)
			}
		})
	}
}

func TestMachine(t *testing.T) {
	spark := record.Device{Name: "NVIDIA GB10", Capability: arch.Capability{Major: 12, Minor: 1}}
	hopper := record.Toolkit{Release: "11.8.89", GPUCode: []string{"sm_80", "sm_90"}}
	for _, test := range []struct {
		name    string
		toolkit record.Toolkit
		devices []record.Device
		build   []manifest.Build
		want    []string
		says    string
	}{
		{"fits", record.Toolkit{GPUCode: []string{"sm_121"}}, []record.Device{spark}, []manifest.Build{{Name: "b"}}, nil, ""},
		{"device unknown to the toolkit", hopper, []record.Device{spark}, []manifest.Build{{Name: "b"}}, []string{"CP302"}, "The device is sm_121; nvcc 11.8.89 lists sm_80, sm_90."},
		{"the toolkit is not ours to use", hopper, []record.Device{spark}, []manifest.Build{{Name: "b", Kind: manifest.External}}, nil, ""},
		{"no toolkit", record.Toolkit{Problem: "no nvcc."}, []record.Device{spark}, []manifest.Build{{Name: "b"}}, []string{"CP301"}, "no nvcc."},
		{"no toolkit, nothing to build", record.Toolkit{Problem: "no nvcc"}, []record.Device{spark}, nil, nil, ""},
		{"no device", hopper, nil, []manifest.Build{{Name: "b"}}, []string{"CP307"}, "error 100"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &manifest.Manifest{Build: test.build, Require: manifest.Require{PresentDevices: true}}
			r := &record.Record{Probe: record.Probe{Toolkit: test.toolkit, Devices: test.devices}}
			r.Probe.DeviceQuery.Problem = "cudaGetDeviceCount: error 100"
			found := append(Toolkit(m, r), Devices(m, r)...)
			equal(t, "findings", ids(found), test.want)
			if len(found) > 0 && !strings.Contains(found[0].Fact, test.says) {
				t.Errorf("fact %q does not say %q", found[0].Fact, test.says)
			}
		})
	}
}
