// Package ptxas assembles PTX with the toolkit's ptxas, to learn whether the
// driver's compiler would take it: both come from one source, though of two
// versions.
package ptxas

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// limit bounds the time of one call.
const limit = 10 * time.Minute

// Tool is a ptxas that answered.
type Tool tool.CUDA

// Find looks for ptxas beside nvcc, then in PATH.
func Find(ctx context.Context, nvcc string) (Tool, error) {
	t, err := tool.FindCUDA(ctx, "ptxas", nvcc)
	return Tool(t), err
}

// Refuses says why ptxas cannot be asked about PTX of an ISA version for a target:
// that is newer than it, or dropped. It is empty where it can.
func (t Tool) Refuses(version string, target arch.Target) string {
	since, until := target.Since(), target.Until()
	switch writes := arch.ToolkitOfPTX(version); {
	case writes == "" && arch.CompareVersions(version, arch.Newest().PTX) > 0, arch.CompareVersions(writes, t.Version) > 0:
		return fmt.Sprintf("ptxas %s is older than PTX ISA %s", t.Version, version)
	case since == "" || arch.CompareVersions(since, t.Version) > 0:
		return fmt.Sprintf("ptxas %s does not know %s", t.Version, target)
	case until != "" && arch.CompareVersions(until, t.Version) <= 0:
		return fmt.Sprintf("ptxas %s no longer knows %s", t.Version, target)
	}
	return ""
}

// Result is what ptxas made of a text.
type Result struct {
	OK     bool
	Output string // its messages, without the path of the file
	Kernel string // mangled; where the first error is, empty where that is not in one
	// NotDone says why there is no answer.
	NotDone string
}

// Assemble assembles the PTX text in a file. Relocatable PTX may use what other
// files define.
func (t Tool) Assemble(ctx context.Context, path string, target arch.Target, relocatable bool) Result {
	args := []string{t.Path, "-arch=" + target.String(), filepath.Base(path), "-o", os.DevNull}
	if relocatable {
		args = append(args, "-c")
	}
	r := tool.Run(ctx, tool.Command{Args: args, Dir: filepath.Dir(path), Timeout: limit})
	out := strings.TrimSpace(strings.ReplaceAll(r.Output, "ptxas "+filepath.Base(path)+", ", ""))
	switch {
	case r.Problem != "":
		return Result{NotDone: "ptxas: " + r.Problem}
	case r.Exit == 0:
		return Result{OK: true}
	case strings.Contains(out, "is not defined for option 'gpu-name'"), strings.Contains(out, "Unsupported .version"):
		return Result{NotDone: "ptxas: " + out}
	}
	return Result{Output: out, Kernel: kernelAt(path, out)}
}

// line finds the line number of the first message.
var line = regexp.MustCompile(`(?m)^line (\d+);`)

// kernelAt gives the kernel that the line of the first message is in: the last
// .entry at or before it, unless a .func comes after that.
func kernelAt(path, messages string) string {
	m := line.FindStringSubmatch(messages)
	if m == nil {
		return ""
	}
	number, err := strconv.Atoi(m[1])
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	kernel := ""
	for n, l := range bytes.SplitN(text, []byte("\n"), number+1) {
		if n == number {
			break
		}
		if found := directive.FindSubmatch(l); found != nil {
			kernel = string(found[2])
			if string(found[1]) == "func" {
				kernel = ""
			}
		}
	}
	return kernel
}

// directive finds what begins a kernel or a function. The name of a function may
// follow a list of results, so it is not looked for.
var directive = regexp.MustCompile(`^\s*(?:\.(?:visible|extern|weak)\s+)*\.(entry|func)\b\s*([\w$.%]*)`)
