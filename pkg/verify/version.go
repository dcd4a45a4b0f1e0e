package verify

import "runtime/debug"

// version is set by the linker where the build knows better (go tool mage dist).
var version string

// Version is the version of the cudaproof module in this program, "(devel)"
// where it was built from a work tree.
func Version() string {
	if version != "" {
		return version
	}
	const path = "github.com/cudaproof/cudaproof"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == path && m.Version != "" {
			if m.Replace != nil {
				return "(devel)"
			}
			return m.Version
		}
	}
	return "(devel)"
}
