package judge

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Fits checks that the record is one of this manifest: its builds, and its runs
// with the command and the variables of their mode. A record that was edited,
// or made by something else, must not be judged by what it claims of itself.
func Fits(m *manifest.Manifest, r *record.Record) []Finding {
	var found []Finding
	misfit := func(entryPoint, mode, format string, args ...any) {
		found = append(found, Finding{
			ID: "CP409", EntryPoint: entryPoint, Mode: mode,
			Fact:   fmt.Sprintf(format, args...),
			Cause:  "The record was edited, or is of another manifest.",
			Action: "Run `mage verify` again.",
		})
	}
	if r.Project != m.Project {
		misfit("", "", "The record is of project %q, the manifest of %q.", r.Project, m.Project)
	}
	builds := map[string]bool{}
	for _, b := range r.Builds {
		if !slices.ContainsFunc(m.Build, func(want manifest.Build) bool { return want.Name == b.Name }) {
			misfit("", "", "The record holds a build %s that the manifest does not have.", b.Name)
		}
		if builds[b.Name] {
			misfit("", "", "The record holds build %s twice.", b.Name)
		}
		builds[b.Name] = true
	}
	type key struct{ entryPoint, mode, devices string }
	runs := map[key]bool{}
	for _, run := range r.Runs {
		i := slices.IndexFunc(m.EntryPoints, func(e manifest.EntryPoint) bool { return e.Name == run.EntryPoint })
		k := key{run.EntryPoint, run.Mode, strings.Join(run.Devices, " ")}
		switch {
		case i < 0:
			misfit(run.EntryPoint, run.Mode, "The record holds a run of an entry point that the manifest does not have.")
		case runs[k]:
			misfit(run.EntryPoint, run.Mode, "The record holds this run twice.")
		case !sameCommand(run.Command, m.EntryPoints[i].Command):
			misfit(run.EntryPoint, run.Mode, "The run's command is %q, the manifest's %q.", run.Command, m.EntryPoints[i].Command)
		case run.NotStarted == "" && !inMode(run):
			misfit(run.EntryPoint, run.Mode, "The run's environment is not that of its mode.")
		}
		runs[k] = true
	}
	return found
}

// sameCommand compares a command as it was run, with the program resolved to a
// path, with the manifest's.
func sameCommand(ran, want []string) bool {
	return len(ran) > 0 && len(ran) == len(want) && path.Base(ran[0]) == path.Base(want[0]) && slices.Equal(ran[1:], want[1:])
}

// inMode reports whether a run had its mode's variables and no other ones that
// decide about JIT.
func inMode(run record.Run) bool {
	want := manifest.Mode(run.Mode).Variables()
	for _, name := range manifest.JITVariables {
		value, set := run.Environment[name]
		if wanted, ok := want[name]; ok != set || value != wanted {
			return false
		}
	}
	return true
}
