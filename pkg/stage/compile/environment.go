package compile

import (
	"slices"

	"github.com/cudaproof/cudaproof/pkg/manifest"
)

// nvccVariables change what nvcc does without showing on its command line (nvcc
// manual, "NVCC Environment Variables"). An empty value counts: nvcc 13.0 does
// not compile with NVCC_CCBIN="".
var nvccVariables = []string{"NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_CCBIN"}

// cmakeVariables change a CMake build that calls nvcc (CMake manual,
// cmake-env-variables); nvcc itself does not look at them.
var cmakeVariables = []string{"CUDAARCHS", "CUDAFLAGS", "CUDAHOSTCXX"}

// variables gives the variables that may change a build of that kind.
func variables(kind manifest.BuildKind) []string {
	if kind == manifest.External {
		return slices.Concat(nvccVariables, cmakeVariables)
	}
	return nvccVariables
}
