package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Machine checks toolkit and devices whatever the manifest needs of them.
func Machine(m *manifest.Manifest, r *record.Record) []Finding {
	return append(toolkitFindings(m, r.Probe), Devices(m, r)...)
}

// Toolkit checks that a toolkit was there for the builds, and that it knows
// every device present: no older target stands in for one that it does not.
func Toolkit(m *manifest.Manifest, r *record.Record) []Finding {
	callsNVCC := slices.ContainsFunc(m.Build, func(b manifest.Build) bool { return b.Kind != manifest.External })
	if !callsNVCC {
		return nil
	}
	return toolkitFindings(m, r.Probe)
}

func toolkitFindings(m *manifest.Manifest, p record.Probe) []Finding {
	toolkit := p.Toolkit
	if toolkit.Problem != "" {
		return []Finding{{
			ID:     "CP301",
			Fact:   "The CUDA toolkit is of no use here: " + clause(toolkit.Problem) + ".",
			Action: "Install the CUDA toolkit, set CUDA_HOME, or name nvcc under toolkit in the manifest.",
		}}
	}
	var found []Finding
	for _, d := range p.Devices {
		want := d.Capability.Target(arch.SM)
		if m.Require.PresentDevices && !slices.Contains(toolkit.GPUCode, want.String()) {
			found = append(found, Finding{
				ID: "CP302", Target: want.String(), Device: deviceName(d),
				Fact:   fmt.Sprintf("The device is %s; nvcc %s lists %s.", want, toolkit.Release, orNothing(toolkit.GPUCode)),
				Cause:  "The toolkit is older than the device, or has dropped it.",
				Action: "Install a toolkit that lists the target; no older target is put in its place.",
			})
		}
	}
	return found
}

// Devices checks that there was a device to run on.
func Devices(_ *manifest.Manifest, r *record.Record) []Finding {
	if len(r.Probe.Devices) > 0 {
		return nil
	}
	why := orText(r.Probe.DeviceQuery.Problem, orText(r.Probe.Driver.Problem, "no reason was recorded"))
	return []Finding{{
		ID:     "CP307",
		Fact:   "No CUDA device was found: " + clause(why) + ".",
		Cause:  "The machine has no GPU, the driver is not loaded, or CUDA_VISIBLE_DEVICES hides it.",
		Action: "Run `mage verify` on a machine with the GPU; `mage gate` then checks its evidence anywhere.",
	}}
}

func deviceName(d record.Device) string {
	return fmt.Sprintf("%s (%s)", d.Name, d.Capability)
}

// clause takes the full stop from a text that becomes part of a sentence.
func clause(s string) string { return strings.TrimRight(s, ". \n") }
