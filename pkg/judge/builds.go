package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Builds checks that every build of the manifest was done.
func Builds(m *manifest.Manifest, r *record.Record) []Finding {
	done := map[string]record.Build{}
	for _, b := range r.Builds {
		done[b.Name] = b
	}
	var found []Finding
	for _, want := range m.Build {
		b, ok := done[want.Name]
		if !ok {
			b.Problem = "the record holds no such build"
		}
		found = append(found, buildFindings(want.Name, b)...)
	}
	for _, a := range r.Artifacts {
		if a.SHA256 == "" {
			continue
		}
		n := slices.IndexFunc(r.Builds, func(b record.Build) bool { return writes(m, b, a.Path) })
		if n < 0 {
			found = append(found, commandsUnknown(m, a.Path))
		} else if r.Builds[n].Problem == "" {
			found = append(found, askedFindings(r.Builds[n], a)...)
		}
	}
	return found
}

func buildFindings(name string, b record.Build) []Finding {
	var found []Finding
	switch {
	case len(b.MissingTargets) > 0:
		found = append(found, Finding{
			ID:     "CP302",
			Fact:   fmt.Sprintf("Build %s: %s.", name, b.Problem),
			Cause:  "The toolkit is older than the device or target, or has dropped it.",
			Action: "Install a toolkit that lists the target; no other target is put in its place.",
		})
	case b.Failed:
		fact := fmt.Sprintf("Build %s failed: %s.", name, b.Problem)
		action := "Correct what the message says."
		for _, c := range b.Commands {
			if c.Exit != 0 && c.Output != "" {
				action = "Correct what the compiler says."
				fact += "\n" + strings.TrimRight(c.Output, "\n")
			}
		}
		found = append(found, Finding{ID: "CP303", Fact: fact, Action: action})
	case b.Problem != "":
		found = append(found, Finding{
			ID:     "CP304",
			Fact:   fmt.Sprintf("Build %s was not done: %s.", name, b.Problem),
			Action: "Run on a machine that can build it, or correct what stopped it.",
		})
	}
	return append(found, environmentFindings(b)...)
}

func commandsUnknown(m *manifest.Manifest, path string) Finding {
	f := Finding{
		ID: "CP306", Artifact: path,
		Fact:   "No build of the manifest writes this file, so its compile commands are not part of the evidence.",
		Action: "Add the build that makes it.",
	}
	if slices.ContainsFunc(m.Build, func(b manifest.Build) bool { return b.Kind == manifest.External }) {
		f.Fact = "No build of the manifest is known to write this file; if an external build does, its own compile commands are not part of the evidence."
		f.Action = "Let cudaproof compile it (kind executable, shared or static), call nvcc as the command itself, or rely on the inspection alone."
	}
	return f
}

// buildFailed reports whether a build failed, which ends a verification.
func buildFailed(r *record.Record) bool {
	return slices.ContainsFunc(r.Builds, func(b record.Build) bool { return b.Failed })
}
