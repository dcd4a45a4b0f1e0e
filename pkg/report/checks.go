package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// check is one thing that was looked at, and what was found wrong with it. Its two
// names together are unique, and the same for the same thing in every report.
type check struct {
	subject  string // an artifact, a library, "entry point f32", "machine and build", "evidence"
	name     string // "CP104 Native image missing", "native on NVIDIA H200 (9.0)"
	findings []judge.Finding
	seconds  float64 // of a run
}

// The subjects that are no file and no entry point.
const (
	machineSubject  = "machine and build"
	evidenceSubject = "evidence"
)

// checks gives everything that was looked at, in a fixed order: what can be found
// wrong with each final file, with the machine and the builds, each run, and with
// recorded evidence; then what was found of anything else.
func checks(r *record.Record, result judge.Result, recorded bool) []check {
	l := checkList{at: map[[2]string]int{}}
	for _, a := range r.Artifacts {
		l.kinds(a.Path, judge.FilesPart)
	}
	l.kinds(machineSubject, judge.MachinePart)
	if recorded {
		l.kinds(evidenceSubject, judge.GatePart)
	}
	for _, run := range r.Runs {
		n := l.position("entry point "+run.EntryPoint, runName(r, run))
		l.checks[n].seconds = r.Volatile.Seconds[run.ID]
	}
	for _, f := range result.Findings {
		if f.Effect != "" {
			l.add(r, f)
		}
	}
	return l.checks
}

// runName names a run within its entry point.
func runName(r *record.Record, run record.Run) string {
	return fmt.Sprintf("%s on %s", run.Mode, devicesOf(r, run))
}

// checkList gathers checks and finds them by their names.
type checkList struct {
	checks []check
	at     map[[2]string]int
}

func (l *checkList) position(subject, name string) int {
	key := [2]string{subject, name}
	n, known := l.at[key]
	if !known {
		n = len(l.checks)
		l.at[key] = n
		l.checks = append(l.checks, check{subject: subject, name: name})
	}
	return n
}

// kinds adds the checks of a part that can change a verdict.
func (l *checkList) kinds(subject string, part judge.Part) {
	for _, id := range slices.Sorted(maps.Keys(catalogue)) {
		if f := (judge.Finding{ID: id}); f.Part() == part && catalogue[id].Effect != "" {
			l.position(subject, kindName(f))
		}
	}
}

var catalogue = judge.Catalogue()

func kindName(f judge.Finding) string { return f.ID + " " + f.Title() }

// add puts a finding where it belongs: with the runs that it is about, else with
// its kind.
func (l *checkList) add(r *record.Record, f judge.Finding) {
	matched := false
	for _, run := range r.Runs {
		if f.EntryPoint != run.EntryPoint || f.Mode != "" && !slices.Contains(strings.Split(f.Mode, ", "), run.Mode) {
			continue
		}
		if f.Device == "" || strings.Contains(f.Device, devicesOf(r, run)) {
			matched = true
			n := l.position("entry point "+run.EntryPoint, runName(r, run))
			l.checks[n].findings = append(l.checks[n].findings, f)
		}
	}
	if matched {
		return
	}
	n := l.position(subject(f), kindName(f))
	l.checks[n].findings = append(l.checks[n].findings, f)
}

func subject(f judge.Finding) string {
	switch {
	case f.EntryPoint != "":
		return "entry point " + f.EntryPoint
	case f.Part() == judge.MachinePart:
		return machineSubject
	case f.Artifact != "":
		return f.Artifact
	case f.Part() == judge.GatePart:
		return evidenceSubject
	}
	return machineSubject
}

// failed tells the worst of a check's findings, empty where it passed.
func (c check) failed() judge.Verdict {
	for _, f := range c.findings {
		if f.Effect == judge.Failed {
			return judge.Failed
		}
	}
	if len(c.findings) > 0 {
		return judge.NotVerified
	}
	return ""
}
