package judge

import (
	"fmt"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// Recipe gives the options that add targets in one sentence.
func Recipe(targets ...arch.Target) string {
	nvcc, notes := Options(targets...)
	return fmt.Sprintf("%s (%s)", nvcc, notes)
}

// Options gives the options of nvcc that add targets, ready to paste, and the words
// for CMake's list ("90" is machine code and PTX, "90-virtual" PTX alone;
// CMake manual, CUDA_ARCHITECTURES). Machine code brings its PTX along.
func Options(targets ...arch.Target) (nvcc, notes string) {
	var options, words []string
	since, until := "", ""
	for _, t := range targets {
		virtual := t.As(arch.Compute)
		option, word := fmt.Sprintf("-gencode arch=%s,code=[%s,%s]", virtual, t, virtual), fmt.Sprintf("%d%s", t.Number, t.Suffix)
		if t.Class == arch.Compute {
			option, word = fmt.Sprintf("-gencode arch=%s,code=%s", t, t), word+"-virtual"
		}
		options, words = append(options, option), append(words, word)
		if t.Since() != arch.Releases[0].CUDA {
			since = arch.Newer(since, t.Since())
		}
		if u := t.Until(); u != "" && (until == "" || arch.CompareVersions(u, until) < 0) {
			until = u
		}
	}
	list := []string{"in CMAKE_CUDA_ARCHITECTURES: " + strings.Join(words, ";")}
	switch {
	case since != "" && until != "" && arch.CompareVersions(until, since) <= 0:
		list = append(list, fmt.Sprintf("no one toolkit has them all: some need CUDA %s or newer, some one before %s", since, until))
	case since != "" && until != "":
		list = append(list, fmt.Sprintf("CUDA %s or newer, before %s", since, until))
	case since != "":
		list = append(list, "CUDA "+since+" or newer")
	case until != "":
		list = append(list, "before CUDA "+until)
	}
	return strings.Join(options, " "), strings.Join(list, "; ")
}
