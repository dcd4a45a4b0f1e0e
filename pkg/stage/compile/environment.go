package compile

// variables change what nvcc, or a CMake build that calls it, does without
// showing on the command line (nvcc manual, "NVCC Environment Variables"; CMake
// manual, cmake-env-variables). An empty value counts: nvcc 13.0 does not
// compile with NVCC_CCBIN="".
var variables = []string{
	"NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_CCBIN",
	"CUDAARCHS", "CUDAFLAGS", "CUDAHOSTCXX",
}
