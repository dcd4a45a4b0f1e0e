// Package linkage finds the shared libraries of a program: those that the
// dynamic loader would take for its DT_NEEDED entries, and those that a run
// really loaded by the loader's own record.
package linkage

// Dependency is one shared library in the DT_NEEDED closure of a file.
type Dependency struct {
	Name     string `json:"name"`           // as in DT_NEEDED
	Path     string `json:"path,omitempty"` // resolved, symbolic links followed; empty when not found
	NeededBy string `json:"needed_by"`      // path of the file that names it
	// How says which rule of ld.so(8) found it: "RPATH", "RUNPATH",
	// "LD_LIBRARY_PATH", "ld.so.cache", "default path", "absolute".
	How string `json:"how,omitempty"`
}

// Process is what the loader's record (LD_DEBUG=files) says of one program
// image in one process; an exec begins a new one.
type Process struct {
	// Program is the path of the program, absolute where it could be resolved.
	Program string `json:"program"`
	// Libraries are the shared libraries it loaded, dlopened ones included, in
	// the order of their initialisation, resolved as far as possible.
	Libraries []string `json:"libraries"`
}
