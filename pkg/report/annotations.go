package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/judge"
)

// maxAnnotations is how many of one severity are written: GitHub shows ten of each
// for a step.
const maxAnnotations = 10

// Annotations writes the findings as GitHub workflow commands, which the runner
// turns into annotations of the job: the first of each severity, failures before
// what was not verified.
func Annotations(w io.Writer, result judge.Result) error {
	commands := map[judge.Severity]string{judge.Error: "error", judge.Warning: "warning", judge.Note: "notice"}
	written := map[judge.Severity]int{}
	for _, f := range fold(result.Findings) {
		if written[f.Severity]++; written[f.Severity] > maxAnnotations {
			continue
		}
		file := ""
		if f.Artifact != "" {
			file = ",file=" + property(f.Artifact)
		}
		text := f.Fact
		if at := where(f); at != "" {
			text = at + "\n" + text
		}
		if f.Action != "" {
			text += "\nDo: " + f.Action
		}
		if _, err := fmt.Fprintf(w, "::%s title=%s%s::%s\n", commands[f.Severity], property(kindName(f)), file, data(text)); err != nil {
			return err
		}
	}
	return nil
}

// data escapes the text of a workflow command (actions/toolkit, command.ts).
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(escape(s, true))
}

// property escapes a value of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(oneLine(s)))
}
