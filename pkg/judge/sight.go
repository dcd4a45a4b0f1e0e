package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// sight is what a diagnosis looks at: one entry point, and the devices that its
// runs were given.
type sight struct {
	record  *record.Record
	entry   manifest.EntryPoint
	devices []record.Device
}

func (s sight) uuids() []string {
	var list []string
	for _, d := range s.devices {
		list = append(list, d.UUID)
	}
	return list
}

// capabilities are those of the devices, each once.
func (s sight) capabilities() []arch.Capability {
	var list []arch.Capability
	for _, d := range s.devices {
		if !slices.Contains(list, d.Capability) {
			list = append(list, d.Capability)
		}
	}
	return list
}

// capability names the capabilities, for a sentence.
func (s sight) capability() string {
	var list []string
	for _, c := range s.capabilities() {
		list = append(list, c.String())
	}
	return strings.Join(list, " and ")
}

// deviceNames names the devices; several of a kind by their number.
func (s sight) deviceNames() string {
	var names []string
	counts := map[string]int{}
	for _, d := range s.devices {
		name := deviceName(d)
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	for n, name := range names {
		if counts[name] > 1 {
			names[n] = fmt.Sprintf("%d of %s", counts[name], name)
		}
	}
	return strings.Join(names, ", ")
}
