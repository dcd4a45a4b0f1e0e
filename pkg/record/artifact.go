package record

import (
	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/linkage"
)

// Artifact is a final file of the manifest, inspected.
type Artifact struct {
	artifact.File
	// Pattern is the manifest's path or glob that named it.
	Pattern      string               `json:"pattern"`
	Dependencies []linkage.Dependency `json:"dependencies,omitempty"`
	// LinkageProblem says why the dependencies could not be resolved.
	LinkageProblem string     `json:"linkage_problem,omitempty"`
	CrossCheck     CrossCheck `json:"cross_check"`
	// AfterRuns is the file's SHA-256 after the last run, empty when nothing
	// was run.
	AfterRuns string `json:"after_runs,omitempty"`
}

// CrossCheck compares our reading with cuobjdump's.
type CrossCheck struct {
	// Done says that cuobjdump listed what it claims to understand.
	Done bool `json:"done"`
	// NotDone says why not: too old, refused, crashed, a known defect.
	NotDone string `json:"not_done,omitempty"`
	Version string `json:"version,omitempty"` // of cuobjdump, "13.0"
	// Agreed counts what both lists hold: targets and kernels.
	Agreed int `json:"agreed,omitempty"`
	// Differences are what only one of the two saw.
	Differences []string `json:"differences,omitempty"`
}

// Library is a shared library that an artifact needs or a run loaded, and that
// is not an artifact itself.
type Library struct {
	artifact.File
	// DriverOrTool marks the driver's libraries and the CUDA tools: hashed,
	// never judged.
	DriverOrTool bool `json:"driver_or_tool,omitempty"`
	// NeededBy are the artifacts whose closure holds it; LoadedBy the runs
	// that loaded it, by Run.ID.
	NeededBy []string `json:"needed_by,omitempty"`
	LoadedBy []string `json:"loaded_by,omitempty"`
}
