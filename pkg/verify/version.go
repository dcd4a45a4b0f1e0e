package verify

import "runtime/debug"

// Version is the version of the cudaproof module in this program, "(devel)"
// where it was built from a work tree.
func Version() string {
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
