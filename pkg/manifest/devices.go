package manifest

import (
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"gopkg.in/yaml.v3"
)

// DeviceUse says which of the visible devices an entry point runs on.
type DeviceUse struct {
	Kind  DeviceKind
	Count int // for CountDevices
}

// DeviceKind is a way of using the visible devices.
type DeviceKind string

// The ways. With the first two a run sees one device alone.
const (
	EachDevice    DeviceKind = "each"
	PerCapability DeviceKind = "one-per-capability" // the first of each compute capability
	AllDevices    DeviceKind = "all"                // together
	CountDevices  DeviceKind = "count"              // so many together, the first ones
)

// Groups gives the devices of each run of an entry point, of the visible ones. It
// is empty where these are too few, and has one empty group where no GPU is used.
func Groups[D any](e EntryPoint, visible []D, capability func(D) arch.Capability) [][]D {
	switch {
	case e.NoGPU != "":
		return [][]D{nil}
	case e.Devices.Kind == AllDevices && len(visible) > 0:
		return [][]D{visible}
	case e.Devices.Kind == CountDevices && len(visible) >= e.Devices.Count:
		return [][]D{visible[:e.Devices.Count]}
	case e.Devices.Kind == AllDevices, e.Devices.Kind == CountDevices:
		return nil
	}
	var groups [][]D
	var seen []arch.Capability
	for i, d := range visible {
		if e.Devices.Kind != PerCapability || !slices.Contains(seen, capability(d)) {
			groups = append(groups, visible[i:i+1])
		}
		seen = append(seen, capability(d))
	}
	return groups
}

func (d *decoder) deviceUse(n *yaml.Node) (u DeviceUse) {
	const where = "entry_points.devices"
	if n.Kind == yaml.MappingNode {
		u.Kind = CountDevices
		d.mapping(n, where, key{"count", true, func(n *yaml.Node) {
			if u.Count = d.number(n, where+".count", 1024); u.Count == 0 && n.Value == "0" {
				d.wrong(n, where+".count", "at least 1")
			}
		}})
		return u
	}
	s, ok := d.text(n, where)
	u.Kind = DeviceKind(s)
	if ok && !slices.Contains([]DeviceKind{EachDevice, PerCapability, AllDevices}, u.Kind) {
		d.wrong(n, where, "each, one-per-capability, all or {count: N}")
	}
	return u
}
