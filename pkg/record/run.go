package record

// Run is one run of an entry point in one mode on one device.
type Run struct {
	ID         string `json:"id"` // "f32/native/GPU-585e163f-...", unique
	EntryPoint string `json:"entry_point"`
	Mode       string `json:"mode"`
	// Devices are the UUIDs of the devices that it was given: one, unless the
	// entry point uses several together, and none where it uses no GPU.
	Devices []string `json:"devices,omitempty"`
	// Command is the argument vector run; the program resolved to a path.
	Command []string `json:"command"`
	// Environment holds the variables set for the run, Removed those of the
	// caller's environment that were taken away.
	Environment map[string]string `json:"environment"`
	Removed     []string          `json:"removed,omitempty"`
	// NotStarted says why the program could not be started.
	NotStarted string `json:"not_started,omitempty"`
	Exit       Exit   `json:"exit"`
	Stdout     Log    `json:"stdout"`
	Stderr     Log    `json:"stderr"`
	DriverLog  Log    `json:"driver_log"` // CUDA_LOG_FILE
	// Checks are the manifest's expectations, each with what was found.
	Checks []Check `json:"checks"`
	// Outputs are the files of expect.same_across_modes as this run wrote them.
	Outputs []File `json:"outputs,omitempty"`
	// Comparisons are those outputs that may differ within a tolerance, compared with
	// what the first mode that passed wrote.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// Processes are those seen in the loader's record, and in the trace.
	Processes []Process `json:"processes,omitempty"`
	// LoaderProblem says why the loader's record is missing or unreadable.
	LoaderProblem string `json:"loader_problem,omitempty"`
	// Trace is what CUPTI showed of the run's processes.
	Trace        Trace         `json:"trace"`
	DriverErrors []DriverError `json:"driver_errors,omitempty"`
	// CacheFiles counts the files over 0 bytes that the run left in its
	// private, initially empty CUDA_CACHE_PATH.
	CacheFiles int `json:"cache_files"`
	// Warm is the start after this one, with the cache as it was left: in the mode
	// as shipped, where the program ended as it should.
	Warm *WarmRun `json:"warm,omitempty"`
	// Leftover counts processes that outlived the program and were killed.
	Leftover int `json:"leftover,omitempty"`
}

// WarmRun is a second start. Its time is that of its run's ID with "/warm".
type WarmRun struct {
	Exit       Exit    `json:"exit"`
	Checks     []Check `json:"checks"` // exit code and lines of standard output
	CacheFiles int     `json:"cache_files"`
}

// Exit says how a program ended; exactly one of the fields tells.
type Exit struct {
	Code       int    `json:"code"` // when Signal is empty and TimedOut false
	Signal     string `json:"signal,omitempty"`
	CoreDumped bool   `json:"core_dumped,omitempty"`
	TimedOut   bool   `json:"timed_out,omitempty"` // killed by us after the manifest's timeout
	// Interrupted says that the verification itself was stopped.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Log is a file of the bundle that holds one stream of output.
type Log struct {
	File   string `json:"file,omitempty"` // relative to the bundle; empty: nothing was written
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size"`
	// Dropped counts the bytes beyond the cap that were not kept.
	Dropped int64 `json:"dropped,omitempty"`
	// Tail is the end of the stream, valid UTF-8, so that a report can show it
	// without the bundle. Empty for the driver's log, whose errors are in
	// Run.DriverErrors.
	Tail string `json:"tail,omitempty"`
}

// Check is one expectation of the manifest.
type Check struct {
	What string `json:"what"` // "exit code", "stdout line", "file out.bin"
	Want string `json:"want"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

// Comparison is an output of a run beside that of another mode.
type Comparison struct {
	Output string `json:"output"`
	With   string `json:"with"` // mode
	Want   string `json:"want"`
	Got    string `json:"got"`
	OK     bool   `json:"ok"`
}

// Process is one program image of a run, by the loader's own record and the trace.
type Process struct {
	Program string `json:"program"`
	// Artifacts are the manifest's artifacts that it mapped, by path.
	Artifacts []string `json:"artifacts,omitempty"`
	// Libcuda is the path of the driver library that it loaded.
	Libcuda string `json:"libcuda,omitempty"`
	// JITCompiler says that it loaded libnvidia-ptxjitcompiler.
	JITCompiler bool     `json:"jit_compiler,omitempty"`
	Libraries   []string `json:"libraries,omitempty"`
}

// DriverError is an error number that the driver returned.
type DriverError struct {
	Code int    `json:"code"` // CUresult or cudaError_t, 209
	Name string `json:"name"` // "CUDA_ERROR_NO_BINARY_FOR_GPU", the runtime's where the driver has none
	Call string `json:"call,omitempty"`
	// From says where it was read: [DriverLog], [FromTrace], or "stdout"/"stderr"
	// where the program printed the runtime's message for it.
	From string `json:"from"`
}

// Where a driver's error was read.
const (
	DriverLog = "driver log" // the file that CUDA_LOG_FILE names
	FromTrace = "trace"      // where the driver writes no log
)
