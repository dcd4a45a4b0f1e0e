package judge

import (
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// foreign names the libraries that a refusal or a compilation during a run can
// be of, where it cannot be of the inspected files: these have what the mode
// needs for every kernel. It is empty where the inspected files lack something,
// or where nothing else with device code was there. PyTorch 2.11 meets a 223
// natively on an H200 (driver 580.159.04) and goes on.
func (s sight) foreign(run record.Run) []string {
	if !s.everywhere(manifest.Mode(run.Mode)) {
		return nil
	}
	var names []string
	for _, l := range s.loadedBy(run) {
		base := path.Base(l.Path)
		if l.HasDeviceCode() || strings.HasPrefix(base, "libnvrtc") || strings.HasPrefix(base, "libnvJitLink") {
			names = append(names, base)
		}
	}
	return names
}

// withoutPTX names the libraries that a run loaded and that carry machine code
// and no PTX: forced to compile, the driver finds nothing in them.
func (s sight) withoutPTX(run record.Run) []string {
	var names []string
	for _, l := range s.loadedBy(run) {
		ptx := slices.ContainsFunc(l.Images, func(i record.ImageCount) bool {
			return i.Kind == devicecode.PTX || i.Kind == devicecode.RelocatablePTX
		})
		if l.HasDeviceCode() && !ptx {
			names = append(names, path.Base(l.Path))
		}
	}
	return names
}

// loadedBy gives the libraries that a run loaded, the driver's left out.
func (s sight) loadedBy(run record.Run) []record.Library {
	return slices.DeleteFunc(slices.Clone(s.record.Libraries), func(l record.Library) bool {
		return l.DriverOrTool || !slices.Contains(l.LoadedBy, run.ID)
	})
}

// some names a few of many.
func some(names []string) string {
	if len(names) > 4 {
		names = append(slices.Clone(names[:4]), "...")
	}
	return strings.Join(names, ", ")
}
