package report

import (
	"fmt"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// proof says what the trace of a run shows, empty without one.
func proof(r *record.Record, run record.Run) string {
	if run.Trace.Problem != "" || len(run.Trace.Processes) == 0 {
		return ""
	}
	launches := judge.Launches(r, run)
	if len(launches) == 0 {
		return "trace: no kernel was launched"
	}
	counts := map[judge.Origin]int{}
	unclear := 0
	for _, l := range launches {
		switch {
		case len(l.Origins) == 1:
			counts[l.Origins[0]]++
		default:
			unclear++
		}
	}
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(counts[judge.Shipped], "from machine code of the final files, byte for byte")
	add(counts[judge.InLibrary], "from that of a library")
	add(counts[judge.Nowhere], "from images in no file (compiled or linked by the driver, or made at run time)")
	add(unclear, "from an image that is not known")
	return fmt.Sprintf("trace: %s launched: %s", count(len(launches), "kernel", "kernels"), strings.Join(parts, ", "))
}
