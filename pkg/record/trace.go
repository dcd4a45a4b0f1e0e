package record

// Trace is what CUPTI showed of a run: which images the driver loaded, and which
// kernels were launched.
type Trace struct {
	// Problem says why there is no trace, or why it is of no use.
	Problem   string          `json:"problem,omitempty"`
	Processes []TracedProcess `json:"processes,omitempty"`
}

// TracedProcess is a process that used CUDA.
type TracedProcess struct {
	Program string `json:"program"`
	// Variables are the modes' variables as the process saw them.
	Variables map[string]string `json:"variables,omitempty"`
	Devices   []string          `json:"devices,omitempty"` // UUIDs of its contexts' devices, sorted
	Modules   []TracedModule    `json:"modules,omitempty"` // by hash, in the order of their first load
	Kernels   []TracedKernel    `json:"kernels,omitempty"` // sorted by mangled name
	Failures  []TracedFailure   `json:"failures,omitempty"`
	// Libraries are the paths of files that it mapped. In a run they are joined to
	// its processes, and left out here.
	Libraries []string `json:"libraries,omitempty"`
	// Notices say what could not be recorded: such a trace proves nothing absent.
	Notices []string `json:"notices,omitempty"`
}

// TracedModule is an image as the driver loaded it.
type TracedModule struct {
	SHA256 string `json:"sha256"` // of the image
	Size   int64  `json:"size"`
	Loads  int    `json:"loads"`
}

// TracedKernel is a kernel that was launched.
type TracedKernel struct {
	Mangled  string `json:"mangled"`
	Name     string `json:"name"`     // demangled
	Launches int64  `json:"launches"` // by calls and by graphs
	// Modules are the images that the kernel was in, by hash: one, unless several
	// that the process loaded define a kernel of the name, and it is not known which
	// was launched.
	Modules []string `json:"modules,omitempty"`
}

// TracedFailure is an error that a load or a launch returned.
type TracedFailure struct {
	Function string `json:"function"` // "cuLibraryGetKernel"
	Code     int    `json:"code"`     // CUresult
	Name     string `json:"name"`     // "CUDA_ERROR_NO_BINARY_FOR_GPU"
	Count    int64  `json:"count"`
}
