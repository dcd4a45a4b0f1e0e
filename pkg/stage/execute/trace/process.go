package trace

// Process is what one process did with CUDA, as far as the trace saw it.
type Process struct {
	PID        int
	Executable string // path of its program
	CUPTI      int    // version of the API, 2025030100 for that of CUDA 13.0.1; 0 where CUPTI was not used
	Driver     int    // CUDA version of the driver library, 13000
	// Variables are those that matter to the modes, as the process saw them; one
	// that was not set is not there.
	Variables map[string]string
	Contexts  []Context
	Modules   []Module
	Kernels   []Kernel
	Failures  []Failure
	Libraries []string // paths of mapped files, in the order in which they were seen
	// Notices say what could not be recorded. A process with one proves nothing
	// absent.
	Notices []string
	Lost    int // records for which the file had no room
}

// Context is a CUDA context and its device.
type Context struct {
	UID    int
	Device string // UUID, "GPU-...", of a MIG instance "MIG-..."; empty where it is not known
}

// Module is a module as the driver loaded it.
type Module struct {
	ID      int
	Context int    // UID
	Size    int64  // bytes of its image
	Image   string // name of the file with its image, empty where that was not written
}

// Kernel is a kernel that was launched at least once.
type Kernel struct {
	Name          string // mangled
	Context       int    // UID
	Module        int    // position in Process.Modules, counted from 1; 0 where it is not known
	Launches      int64  // calls that launch it, and that the driver took
	GraphLaunches int64  // launches of graphs, once for each node with this kernel
}

// Failure is an error that a call returned.
type Failure struct {
	Function string // "cuModuleLoadData"
	Code     int    // CUresult
	Name     string // "CUDA_ERROR_NO_BINARY_FOR_GPU", empty where the driver has none
	Count    int64
}
