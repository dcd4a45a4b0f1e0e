package record

import (
	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
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
	// Assembled are the PTX images as ptxas took them, for the devices that may
	// have to compile them. It is empty where there is no such device.
	Assembled []Assembly `json:"assembled,omitempty"`
	// AfterRuns is the file's SHA-256 after the last run, empty when nothing
	// was run.
	AfterRuns string `json:"after_runs,omitempty"`
}

// Assembly is one PTX image assembled for one target.
type Assembly struct {
	SHA256 string      `json:"sha256,omitempty"` // of the PTX text
	PTX    arch.Target `json:"ptx"`              // compute_80
	Target arch.Target `json:"target"`           // sm_90
	OK     bool        `json:"ok,omitempty"`
	// Kernel is the kernel that the first error is in, by its name, where the
	// message tells.
	Kernel string `json:"kernel,omitempty"`
	Output string `json:"output,omitempty"` // of ptxas
	// NotDone says why it was not tried.
	NotDone string `json:"not_done,omitempty"`
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
// is not an artifact itself. Its device code is counted, not listed: a library
// of NVIDIA's or PyTorch's has tens of thousands of kernels.
type Library struct {
	File
	// DriverOrTool marks the driver's libraries and the CUDA tools: hashed,
	// never judged.
	DriverOrTool bool `json:"driver_or_tool,omitempty"`
	// NeededBy are the artifacts whose closure holds it; LoadedBy the runs
	// that loaded it, by Run.ID.
	NeededBy []string `json:"needed_by,omitempty"`
	LoadedBy []string `json:"loaded_by,omitempty"`
	// Images counts its images by kind and target, in that order.
	Images []ImageCount `json:"images,omitempty"`
	// Sets are the images that its kernels are in, folded.
	Sets []coverage.Folded `json:"sets,omitempty"`
	// Traced are the hashes of its images that a run loaded, sorted.
	Traced []string `json:"traced,omitempty"`
	// Unread counts the images and places of device code that could not be
	// read.
	Unread int `json:"unread,omitempty"`
	// Problem says why the file as a whole could not be read.
	Problem string `json:"problem,omitempty"`
}

// Duplicate says that two files that one process loads define kernels of the same
// name. At least one of them is an artifact.
type Duplicate struct {
	Files   [2]string `json:"files"` // sorted
	Kernels int       `json:"kernels"`
	Names   []string  `json:"names"` // the first of them, demangled and sorted
}

// ImageCount counts the images of one kind and target.
type ImageCount struct {
	Kind    devicecode.Kind `json:"kind"`
	Target  arch.Target     `json:"target"`
	Images  int             `json:"images"`
	Kernels int             `json:"kernels"` // over all of them
}

// HasDeviceCode reports whether the library holds, or may hold, device code.
func (l Library) HasDeviceCode() bool { return len(l.Images) > 0 || l.Unread > 0 }
