package judge

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

func TestRecipe(t *testing.T) {
	for names, want := range map[string]string{
		"sm_90":              "-gencode arch=compute_90,code=[sm_90,compute_90] (in CMAKE_CUDA_ARCHITECTURES: 90; CUDA 11.8 or newer)",
		"compute_75":         "-gencode arch=compute_75,code=compute_75 (in CMAKE_CUDA_ARCHITECTURES: 75-virtual; CUDA 10.0 or newer)",
		"sm_120a":            "-gencode arch=compute_120a,code=[sm_120a,compute_120a] (in CMAKE_CUDA_ARCHITECTURES: 120a; CUDA 12.8 or newer)",
		"sm_61":              "-gencode arch=compute_61,code=[sm_61,compute_61] (in CMAKE_CUDA_ARCHITECTURES: 61; before CUDA 13.0)",
		"sm_61 sm_86":        "-gencode arch=compute_61,code=[sm_61,compute_61] -gencode arch=compute_86,code=[sm_86,compute_86] (in CMAKE_CUDA_ARCHITECTURES: 61;86; CUDA 11.1 or newer, before 13.0)",
		"sm_61 compute_110f": "-gencode arch=compute_61,code=[sm_61,compute_61] -gencode arch=compute_110f,code=compute_110f (in CMAKE_CUDA_ARCHITECTURES: 61;110f-virtual; no one toolkit has them all: some need CUDA 13.0 or newer, some one before 13.0)",
		"sm_135":             "-gencode arch=compute_135,code=[sm_135,compute_135] (in CMAKE_CUDA_ARCHITECTURES: 135)",
	} {
		var targets []arch.Target
		for name := range strings.FieldsSeq(names) {
			targets = append(targets, target(t, name))
		}
		if got := Recipe(targets...); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", names, got, want)
		}
	}
}
