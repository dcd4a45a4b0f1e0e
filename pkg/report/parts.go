package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// parts says, kind of evidence by kind, what was done here and how it went, so
// that "not verified" leaves no doubt about what is known.
func parts(p *printer, r *record.Record, list []judge.Finding) {
	p.title("What was verified")
	for _, row := range evidence(r, list) {
		p.text(2, fmt.Sprintf("%-12s", row[0]), row[1])
	}
}

// evidence gives the kinds of evidence, each with how it went.
func evidence(r *record.Record, list []judge.Finding) [][2]string {
	return [][2]string{
		{"Compile", buildState(r.Builds)},
		{"Inspection", inspectionState(r, list)},
		{"Native", runState(r.Runs, "native", list)},
		{"PTX", runState(r.Runs, "ptx", list)},
		{"As shipped", runState(r.Runs, "as-shipped", list)},
	}
}

func buildState(list []record.Build) string {
	if len(list) == 0 {
		return "not done: there are no builds"
	}
	for _, b := range list {
		switch {
		case b.Failed:
			return "failed: " + b.Name
		case b.Problem != "":
			return "not done: " + b.Name
		}
	}
	return "done: " + count(len(list), "build", "builds")
}

func inspectionState(r *record.Record, list []judge.Finding) string {
	if len(r.Artifacts) == 0 {
		return "not done"
	}
	errors := 0
	for _, f := range list {
		if f.Part() == judge.FilesPart && f.Severity == judge.Error {
			errors++
		}
	}
	files := count(len(r.Artifacts), "file", "files")
	if errors > 0 {
		return fmt.Sprintf("%s, %s", files, count(errors, "error", "errors"))
	}
	return files + ", as required"
}

func runState(list []record.Run, mode string, findings []judge.Finding) string {
	runs := 0
	for _, run := range list {
		if run.Mode == mode {
			runs++
		}
	}
	if runs == 0 {
		return "not run"
	}
	bad := slices.ContainsFunc(findings, func(f judge.Finding) bool {
		// One finding may be about several modes.
		return f.Part() == judge.RunsPart && f.Severity == judge.Error && slices.Contains(strings.Split(f.Mode, ", "), mode)
	})
	if bad {
		return count(runs, "run", "runs") + ", not all proven"
	}
	return count(runs, "run", "runs") + ", passed"
}
