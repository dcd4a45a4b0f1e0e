package compile

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

func parseTargets(t *testing.T, text string) []arch.Target {
	t.Helper()
	var list []arch.Target
	for _, s := range strings.Fields(text) {
		target, err := arch.ParseTarget(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, target)
	}
	return list
}

func parseCapabilities(t *testing.T, text string) []arch.Capability {
	t.Helper()
	var list []arch.Capability
	for _, s := range strings.Fields(text) {
		c, err := arch.ParseCapability(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func TestDeriveGencode(t *testing.T) {
	both := func(numbers ...string) string {
		var list []string
		for _, n := range numbers {
			list = append(list, "-gencode arch=compute_"+n+",code=[sm_"+n+",compute_"+n+"]")
		}
		return strings.Join(list, " ")
	}
	tests := []struct {
		name                  string
		native, devices, ptx  string
		wantPresent           bool
		present, wantGencodes string
	}{
		{name: "nothing", present: "9.0"},
		{name: "no device", wantPresent: true},
		{name: "device", wantPresent: true, present: "9.0", wantGencodes: both("90")},
		{name: "two alike", wantPresent: true, present: "9.0 9.0", wantGencodes: both("90")},
		{name: "native", native: "sm_121 sm_90 sm_90", wantGencodes: both("90", "121")},
		{name: "all agree", native: "sm_90", devices: "9.0", ptx: "compute_90", wantPresent: true, present: "9.0", wantGencodes: both("90")},
		{name: "listed capability", devices: "12.1 8.9", wantGencodes: both("89", "121")},
		{name: "suffixes", native: "sm_120f sm_90a sm_90", wantGencodes: both("90", "90a", "120f")},
		{name: "PTX alone", ptx: "compute_80", wantGencodes: "-gencode arch=compute_80,code=compute_80"},
		{name: "PTX below", native: "sm_90", ptx: "compute_80 compute_80",
			wantGencodes: "-gencode arch=compute_80,code=compute_80 " + both("90")},
		{name: "plain PTX beside a suffix", native: "sm_90a", ptx: "compute_90",
			wantGencodes: "-gencode arch=compute_90,code=compute_90 " + both("90a")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require := manifest.Require{
				PresentDevices: tt.wantPresent,
				Native:         parseTargets(t, tt.native),
				Devices:        parseCapabilities(t, tt.devices),
				PTX:            parseTargets(t, tt.ptx),
			}
			var present []record.Device
			for _, c := range parseCapabilities(t, tt.present) {
				present = append(present, record.Device{Capability: c})
			}
			got := strings.Join(gencodeArgs(deriveGencode(require, present)), " ")
			if got != tt.wantGencodes {
				t.Errorf("got  %s\nwant %s", got, tt.wantGencodes)
			}
		})
	}
}

func TestEmbeddedTargets(t *testing.T) {
	list := []manifest.Gencode{
		{Arch: parseTargets(t, "compute_90")[0], Code: parseTargets(t, "sm_90")},
		{Arch: parseTargets(t, "compute_80")[0], Code: parseTargets(t, "sm_86 sm_80 compute_80")},
	}
	if got, want := strings.Join(embedded(list), " "), "sm_80 compute_80 sm_86 sm_90"; got != want {
		t.Errorf("embedded: got %s, want %s", got, want)
	}
	if got, want := strings.Join(names(targets(list)), " "), "sm_80 compute_80 sm_86 sm_90 compute_90"; got != want {
		t.Errorf("asked: got %s, want %s", got, want)
	}
}
