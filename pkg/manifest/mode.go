package manifest

// Mode is a way to run an entry point.
type Mode string

// The modes: machine code only, PTX only, and as a user would run it.
const (
	NativeMode    Mode = "native"
	PTXMode       Mode = "ptx"
	AsShippedMode Mode = "as-shipped"
)

// AllModes are the modes in the order in which they are run.
var AllModes = []Mode{NativeMode, PTXMode, AsShippedMode}

// Variables gives the environment variables that make a run one of this mode
// (CUDA C++ Programming Guide, "CUDA Environment Variables"). Every variable of
// [JITVariables] that is not among them must be absent.
func (m Mode) Variables() map[string]string {
	switch m {
	case NativeMode:
		return map[string]string{"CUDA_DISABLE_PTX_JIT": "1"}
	case PTXMode:
		return map[string]string{"CUDA_FORCE_PTX_JIT": "1", "CUDA_CACHE_DISABLE": "1"}
	}
	return map[string]string{}
}

// JITVariables decide whether the driver compiles PTX. CUDA_FORCE_JIT and
// CUDA_DISABLE_JIT act as the names with PTX (tried with driver 580.159.04).
var JITVariables = []string{
	"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT", "CUDA_CACHE_DISABLE",
}
