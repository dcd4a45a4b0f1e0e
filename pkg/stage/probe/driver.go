package probe

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// procVersion is where the kernel driver tells its version.
var procVersion = "/proc/driver/nvidia/version"

var (
	plainVersion = regexp.MustCompile(`(?m)^\s*(\d{3,}\.\d+(?:\.\d+)?)\s*$`)
	nvrmVersion  = regexp.MustCompile(`(?m)^NVRM version:.*?\s(\d{3,}\.\d+(?:\.\d+)?)\s`)
)

// driver finds the version of the kernel driver. smi is the plain run of
// nvidia-smi: where that failed, it is not asked again.
func driver(ctx context.Context, limit time.Duration, smi record.ToolOutput) record.Driver {
	if smi.Problem == "" {
		r := tool.Run(ctx, tool.Command{
			Args:    []string{"nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"},
			Timeout: limit,
		})
		if m := plainVersion.FindStringSubmatch(r.Output); r.OK() && m != nil {
			return record.Driver{Version: m[1]}
		}
	}
	text, err := os.ReadFile(procVersion)
	if m := nvrmVersion.FindSubmatch(text); m != nil {
		return record.Driver{Version: string(m[1])}
	}
	if err == nil {
		err = fmt.Errorf("%s holds no version", procVersion)
	}
	return record.Driver{Problem: fmt.Sprintf("driver version unknown: nvidia-smi does not tell it, %v; "+
		"install the NVIDIA driver, or pass it into the container", err)}
}

// setCUDA adds what the CUDA runtime said about the driver.
func setCUDA(d *record.Driver, a answer) {
	d.Library = tool.MaskHome(a.Library)
	if a.Driver > 0 {
		d.CUDA = cudaVersion(a.Driver)
		return
	}
	problem := "the CUDA version that the driver supports is unknown, see the device query"
	if d.Problem != "" {
		problem = d.Problem + "; " + problem
	}
	d.Problem = problem
}

// cudaVersion gives 13000 as "13.0" and 12080 as "12.8" (CUDA Runtime API,
// cudaDriverGetVersion: 1000 * major + 10 * minor).
func cudaVersion(n int) string { return fmt.Sprintf("%d.%d", n/1000, n%1000/10) }
