package judge

import (
	"fmt"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// recipe gives the options that add a target, ready to paste: for nvcc, and the
// word for CMake's CMAKE_CUDA_ARCHITECTURES ("90" is machine code and PTX,
// "90-virtual" PTX alone; CMake manual). Machine code brings its PTX along.
func recipe(t arch.Target) string {
	virtual := t.As(arch.Compute)
	option := fmt.Sprintf("-gencode arch=%s,code=[%s,%s]", virtual, t, virtual)
	word := fmt.Sprintf("%d%s", t.Number, t.Suffix)
	if t.Class == arch.Compute {
		option = fmt.Sprintf("-gencode arch=%s,code=%s", t, t)
		word += "-virtual"
	}
	toolkit := ""
	if since := t.Since(); since != "" && since != arch.Releases[0].CUDA {
		toolkit = fmt.Sprintf(", CUDA %s or newer", since)
	}
	if until := t.Until(); until != "" {
		toolkit += ", before CUDA " + until
	}
	return fmt.Sprintf("%s (CMAKE_CUDA_ARCHITECTURES: %s%s)", option, word, toolkit)
}
