package judge

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

func TestWaivers(t *testing.T) {
	ampere, hopper := arch.Capability{Major: 8}, arch.Capability{Major: 9}
	glob := func(s string) manifest.KernelPattern { return manifest.KernelPattern{Glob: s} }
	for _, test := range []struct {
		name    string
		waivers []manifest.Waiver
		native  []string
		want    []string
		says    string // of the last finding
	}{
		{"none", nil, nil, []string{"CP108"}, "finds no image for kernel k_sm90"},
		{"excused", []manifest.Waiver{{KernelPattern: glob("*_sm90"), Devices: []arch.Capability{ampere}, Reason: "TMA"}}, nil, []string{"CP119"}, "Capability 8.0 need not run kernel k_sm90: TMA."},
		{"excused from the exact target", []manifest.Waiver{{KernelPattern: glob("*_sm90"), Devices: []arch.Capability{ampere}, Reason: "TMA"}}, []string{"sm_80"}, []string{"CP119"}, ""},
		{"by mangled name", []manifest.Waiver{{KernelPattern: manifest.KernelPattern{Mangled: "k_sm90"}, Devices: []arch.Capability{ampere}, Reason: "TMA"}}, nil, []string{"CP119"}, ""},
		{"for another device", []manifest.Waiver{{KernelPattern: glob("*_sm90"), Devices: []arch.Capability{hopper}, Reason: "TMA"}}, nil, []string{"CP108", "CP123"}, "The waiver for *_sm90 (glob) excuses nothing on capability 9.0."},
		{"for another kernel", []manifest.Waiver{{KernelPattern: glob("other"), Devices: []arch.Capability{ampere}, Reason: "x"}}, nil, []string{"CP108", "CP123"}, ""},
		{"for a device that is not asked about", []manifest.Waiver{{KernelPattern: glob("*_sm90"), Devices: []arch.Capability{{Major: 7}}, Reason: "x"}}, nil, []string{"CP108"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := wanting(t, test.native, nil)
			m.Require.Devices = []arch.Capability{ampere, hopper}
			a := program(container(t, devicecode.WholeProgram, "sm_80:k", "sm_90:k,k_sm90"))
			a.Pattern = "app"
			m.Artifacts = []manifest.Artifact{{Path: "app", Kernels: manifest.KernelRules{Without: test.waivers}}}
			found := Coverage(m, &record.Record{Artifacts: []record.Artifact{a}})
			equal(t, "findings", ids(found), test.want)
			if fact := found[len(found)-1].Fact; !strings.Contains(fact, test.says) {
				t.Errorf("fact %q does not say %q", fact, test.says)
			}
		})
	}
}

// C06, C19: what the oldest driver cannot load or compile.
func TestMinDriver(t *testing.T) {
	i := func(s, ptx, toolkit, compression string) devicecode.Container {
		c := container(t, devicecode.WholeProgram, s)
		c.Images[0].PTXVersion, c.Images[0].Toolkit, c.Images[0].Compression = ptx, toolkit, compression
		return c
	}
	for _, test := range []struct {
		name, driver string
		file         devicecode.Container
		want         []string
		says         string
	}{
		{"PTX newer", "12.4", i("compute_90:k", "9.0", "", ""), []string{"CP112", "CP118"},
			"On capability 9.0 kernel k needs a driver of CUDA 13.0; the manifest's oldest is a driver of CUDA 12.4 (550): JIT from compute_90 (PTX 9.0, CUDA 13.0)."},
		{"PTX known", "13.0", i("compute_90:k", "9.0", "", ""), []string{"CP112"}, ""},
		{"machine code of a later major version", "12.9", i("sm_90:k", "", "13.0", ""), []string{"CP118"}, "needs a driver of CUDA 13.0"},
		{"machine code of the same major version", "12.0", i("sm_90:k", "", "12.9", ""), nil, ""},
		{"compressed", "12.2", i("sm_90:k", "", "12.9", "zstd"), []string{"CP118"}, "needs a driver of CUDA 12.4"},
		{"device younger", "11.4", i("sm_90:k", "", "11.8", ""), []string{"CP118"}, "needs a driver of CUDA 11.8"},
		{"no image at all: said once", "11.4", i("sm_80:k", "", "11.8", ""), []string{"CP108"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := wanting(t, nil, nil)
			m.Require.Devices, m.Require.MinDriver = []arch.Capability{{Major: 9}}, arch.Driver{CUDA: test.driver}
			found := Coverage(m, &record.Record{Artifacts: []record.Artifact{program(test.file)}})
			equal(t, "findings", ids(found), test.want)
			if len(found) > 0 && !strings.Contains(found[len(found)-1].Fact, test.says) {
				t.Errorf("fact %q does not say %q", found[len(found)-1].Fact, test.says)
			}
		})
	}
}
