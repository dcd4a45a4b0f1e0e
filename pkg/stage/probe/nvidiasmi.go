package probe

import (
	"context"
	"strings"
	"time"

	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// nvidiaSMI runs nvidia-smi for the record. Jetson has none, or one that tells
// little; the CUDA runtime decides about devices.
func nvidiaSMI(ctx context.Context, limit time.Duration) record.ToolOutput {
	// More than any table of devices needs, so that the buffer never drops the
	// heading that withoutProcesses looks for.
	r := tool.Run(ctx, tool.Command{Args: []string{"nvidia-smi"}, Timeout: limit, Output: tool.NewBuffer(1 << 20)})
	r.Output = withoutProcesses(r.Output)
	if failure := r.Failure(); failure != "" {
		r.Problem = "nvidia-smi: " + failure +
			"; it comes with the driver (not on every Jetson), and the devices below do not depend on it"
	}
	return r.ToolOutput
}

// withoutProcesses cuts off the table of processes, which names the programs of
// other users. It is the last of the tables.
func withoutProcesses(output string) string {
	lines := strings.SplitAfter(output, "\n")
	for i, line := range lines {
		if !strings.Contains(strings.ToLower(line), "processes") {
			continue
		}
		for i > 0 && strings.Trim(lines[i-1], "+-=| \r\n") == "" {
			i-- // the heading's frame and the empty line before
			if strings.TrimSpace(lines[i]) == "" {
				break
			}
		}
		return strings.Join(lines[:i], "")
	}
	return output
}
