package judge

import (
	"fmt"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// assembledFindings names the PTX that ptxas refused (C07), and that it was not
// asked about.
func assembledFindings(a record.Artifact) []Finding {
	var found []Finding
	for _, j := range a.Assembled {
		switch {
		case j.OK:
		case j.NotDone != "":
			found = append(found, Finding{
				ID: "CP124", Artifact: a.Path, Target: j.Target.String(),
				Fact: fmt.Sprintf("The %s PTX was not assembled for %s: %s.", j.PTX, j.Target, clause(j.NotDone)),
			})
		default:
			found = append(found, Finding{
				ID: "CP122", Artifact: a.Path, Target: j.Target.String(), Kernel: j.Kernel,
				Fact:   fmt.Sprintf("ptxas refuses the %s PTX for %s: %s", j.PTX, j.Target, orText(j.Output, "it gives no message")),
				Cause:  "The PTX was kept without being assembled, so nothing looked at it: it uses what its target does not have.",
				Action: "Correct the code for this target (inline PTX below a condition on __CUDA_ARCH__), or raise the virtual architecture.",
			})
		}
	}
	return found
}
