package manifest

import (
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"gopkg.in/yaml.v3"
)

// presentDevices stands in require.devices for the devices of the machine.
const presentDevices = "device"

// machines are the hosts that CUDA has toolkits for, as `uname -m` says them,
// and the other names they go by.
var machines = map[string]string{
	"x86_64": "x86_64", "amd64": "x86_64", "x86-64": "x86_64",
	"aarch64": "aarch64", "arm64": "aarch64",
}

func (d *decoder) require(n *yaml.Node) Require {
	r := Require{PresentDevices: true}
	var minDriver *yaml.Node
	d.mapping(n, "require",
		key{"devices", false, func(n *yaml.Node) { r.PresentDevices, r.Devices = d.devices(n) }},
		key{"native", false, func(n *yaml.Node) {
			r.Native = set(d, n, "require.native", "targets such as sm_90", d.target("require.native", arch.SM))
		}},
		key{"ptx", false, func(n *yaml.Node) {
			r.PTX = set(d, n, "require.ptx", "targets such as compute_90", d.target("require.ptx", arch.Compute))
		}},
		key{"host", false, func(n *yaml.Node) {
			r.Host = set(d, n, "require.host", "machines such as aarch64", d.machine)
		}},
		key{"min_driver", false, func(n *yaml.Node) { r.MinDriver, minDriver = d.minDriver(n), n }})
	for _, c := range r.Devices {
		if r.MinDriver.Drops(c) {
			d.errorf(minDriver, "require.min_driver: found %s, expected one not newer than CUDA %s, the last that knows devices of capability %s: correct it, or leave %s out of require.devices",
				r.MinDriver, arch.CeilingOfDevice(c), c, c)
		}
	}
	return r
}

func (d *decoder) minDriver(n *yaml.Node) (driver arch.Driver) {
	const where = "require.min_driver"
	read := func(kind string, is func(string) bool) func(*yaml.Node) {
		return func(n *yaml.Node) {
			s, ok := d.text(n, where+"."+kind)
			if !ok {
				return
			}
			parsed, err := arch.ParseDriver(s)
			switch {
			case err != nil:
				d.errorf(n, "%s.%s: %s", where, kind, err)
			case !is(s):
				d.errorf(n, "%s.%s: found %s, expected a CUDA version such as \"13.0\" under cuda, a driver such as \"580\" under branch", where, kind, quote(s))
			default:
				driver = parsed
			}
		}
	}
	cuda := func(s string) bool { d, _ := arch.ParseDriver(s); return d.CUDA == s }
	found := d.mapping(n, where,
		key{"cuda", false, read("cuda", cuda)},
		key{"branch", false, read("branch", func(s string) bool { return !cuda(s) })})
	if n.Kind == yaml.MappingNode && len(found) != 1 {
		d.errorf(n, "%s: found %d keys, expected exactly one of cuda, branch", where, len(found))
	}
	return driver
}

func (d *decoder) devices(n *yaml.Node) (present bool, capabilities []arch.Capability) {
	words := set(d, n, "require.devices", `capabilities such as "9.0"`, func(n *yaml.Node) (string, bool) {
		if n.Tag == "!!str" && n.Value == presentDevices {
			return presentDevices, true
		}
		c, ok := d.capability(n, "require.devices", `a capability such as "9.0", or `+presentDevices)
		if ok {
			capabilities = append(capabilities, c)
		}
		return c.String(), ok
	})
	return slices.Contains(words, presentDevices), capabilities
}

func (d *decoder) capability(n *yaml.Node, where, expected string) (arch.Capability, bool) {
	s, ok := d.text(n, where)
	if !ok {
		return arch.Capability{}, false
	}
	c, err := arch.ParseCapability(s)
	if err != nil {
		d.wrong(n, where, expected)
		return arch.Capability{}, false
	}
	return c, true
}

// target gives a reader of targets of one class.
func (d *decoder) target(where string, class arch.Class) func(*yaml.Node) (arch.Target, bool) {
	return func(n *yaml.Node) (arch.Target, bool) {
		t, ok := d.anyTarget(n, where)
		if ok && t.Class != class {
			d.wrong(n, where, fmt.Sprintf("a target of class %s, such as %s", class, t.As(class)))
			return arch.Target{}, false
		}
		return t, ok
	}
}

func (d *decoder) anyTarget(n *yaml.Node, where string) (arch.Target, bool) {
	// A bare number is no case for quotes here.
	t, err := arch.ParseTarget(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		d.wrong(n, where, "a target such as sm_90, sm_90a or compute_90")
		return arch.Target{}, false
	}
	return t, true
}

func (d *decoder) machine(n *yaml.Node) (string, bool) {
	s, ok := d.text(n, "require.host")
	if !ok || machines[s] == s {
		return s, ok
	}
	if name := machines[s]; name != "" {
		d.wrong(n, "require.host", fmt.Sprintf("%q, as `uname -m` says it", name))
	} else {
		d.wrong(n, "require.host", "x86_64 or aarch64")
	}
	return "", false
}
