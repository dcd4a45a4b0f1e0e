package judge

import (
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Release is what lies on disk now, to be compared with the evidence.
type Release struct {
	// Artifacts are the manifest's artifacts as they are read now. A pattern
	// that matches nothing is one file with a Problem.
	Artifacts []record.Artifact
	// Inputs gives the SHA-256 of each build input of the record now, empty
	// where the file is missing.
	Inputs map[string]string
	// Libraries gives the SHA-256 of each of the record's libraries inside the
	// project now, empty where the file is missing.
	Libraries map[string]string
	// Logs says what is wrong with the bundle's log files.
	Logs []string
}

// Gate judges a record again and compares it with what is released. A verdict
// stored with the record counts for nothing.
func Gate(m *manifest.Manifest, r *record.Record, now Release) Result {
	found := Judge(m, r).Findings
	if r.Manifest.SHA256 != m.SHA256 {
		found = append(found, Finding{
			ID:     "CP404",
			Fact:   fmt.Sprintf("The evidence was made with a manifest of SHA-256 %s; the manifest is now %s.", short(r.Manifest.SHA256), short(m.SHA256)),
			Cause:  "The manifest was changed after the verification.",
			Action: "Run `mage verify` again.",
		})
	}
	found = append(found, compareArtifacts(r, now)...)
	for _, input := range r.Source.Inputs {
		if how := differs(input.SHA256, now.Inputs[input.Path]); how != "" {
			found = append(found, inputDiffers(input.Path, how))
		}
	}
	for _, source := range sources(m) {
		if !slices.ContainsFunc(r.Source.Inputs, func(f record.File) bool { return f.Path == source }) {
			found = append(found, inputDiffers(source, "is a source now and was none at the verification"))
		}
	}
	for _, l := range r.Libraries {
		hash, ours := now.Libraries[l.Path]
		if how := differs(l.SHA256, hash); ours && how != "" {
			found = append(found, Finding{
				ID: "CP402", Artifact: l.Path,
				Fact:   fmt.Sprintf("The project's library %s.", how),
				Cause:  "It was built again after the verification, or removed.",
				Action: "Release the library that was loaded then, or run `mage verify` again.",
			})
		}
	}
	found = append(found, changedLogs(now.Logs, "The bundle was copied incompletely, or changed.", "Copy the bundle again, or run `mage verify` again.")...)
	if r.Source.Commit == "" || len(r.Source.Changed) > 0 {
		found = append(found, sourceFinding(r.Source))
	}
	return Conclude(found)
}

// Verified judges a record just made. logs says what is wrong with the bundle's log
// files: a program may have written into it.
func Verified(m *manifest.Manifest, r *record.Record, logs []string) Result {
	return Conclude(append(Judge(m, r).Findings,
		changedLogs(logs, "An entry point wrote into the evidence of another run.", "Let entry points write into folders of their own.")...))
}

func changedLogs(problems []string, cause, action string) []Finding {
	var found []Finding
	for _, text := range problems {
		found = append(found, Finding{ID: "CP406", Fact: text + ".", Cause: cause, Action: action})
	}
	return found
}

// differs says how a file changed, "" where it did not.
func differs(was, is string) string {
	switch is {
	case was:
		return ""
	case "":
		return "is missing or cannot be read now"
	}
	return fmt.Sprintf("had SHA-256 %s at the verification and has %s now", short(was), short(is))
}

// sources gives the sources of the builds that we do ourselves, as the record
// names them.
func sources(m *manifest.Manifest) []string {
	var list []string
	for _, b := range m.Build {
		for _, source := range b.Sources {
			list = append(list, m.Rel(source))
		}
	}
	return list
}

func inputDiffers(path, how string) Finding {
	return Finding{
		ID: "CP403", Artifact: path,
		Fact:   fmt.Sprintf("Build input %s %s.", path, how),
		Cause:  "The source was changed after the verification.",
		Action: "Run `mage verify` again.",
	}
}

func sourceFinding(s record.Source) Finding {
	f := Finding{ID: "CP408", Action: "Verify from a clean checkout where the revision matters."}
	switch {
	case s.Problem != "":
		f.Fact = "The evidence names no source revision: " + s.Problem + "."
	case s.Commit == "":
		f.Fact = "The evidence names no source revision."
	default:
		f.Fact = fmt.Sprintf("The evidence was made with %d changed files on top of commit %s, %s first.", len(s.Changed), short(s.Commit), s.Changed[0])
	}
	return f
}

// compareArtifacts compares the files on disk with those of the record, and
// reads of their content what the record claims.
func compareArtifacts(r *record.Record, now Release) []Finding {
	var found []Finding
	if buildFailed(r) {
		return nil // the record says that nothing was inspected
	}
	current, known := map[string]record.Artifact{}, map[string]bool{}
	for _, a := range now.Artifacts {
		current[a.Path] = a
	}
	for _, was := range r.Artifacts {
		is, ok := current[was.Path]
		known[was.Path] = true
		switch {
		case !ok || is.SHA256 == "":
			found = append(found, Finding{
				ID: "CP402", Artifact: was.Path,
				Fact:   "The file that was verified is not there now.",
				Action: "Put the verified file in its place, or correct the manifest.",
			})
		case is.SHA256 != was.SHA256:
			found = append(found, Finding{
				ID: "CP402", Artifact: was.Path,
				Fact:   fmt.Sprintf("The file had SHA-256 %s at the verification and has %s now.", short(was.SHA256), short(is.SHA256)),
				Cause:  "It was built or linked again after the verification, or damaged.",
				Action: "Release the verified file, or run `mage verify` again.",
			})
		case !sameReading(is, was):
			found = append(found, Finding{
				ID: "CP407", Artifact: was.Path,
				Fact:   "The file is the verified one, but its device code is read differently now.",
				Cause:  "The record was edited, or was made by another version of cudaproof.",
				Action: "Run `mage verify` again with this version.",
			})
		}
	}
	for _, a := range now.Artifacts {
		if !known[a.Path] {
			found = append(found, Finding{
				ID: "CP405", Artifact: a.Path,
				Fact:   "The manifest names this file, and the evidence does not.",
				Cause:  "It was added after the verification.",
				Action: "Run `mage verify` again, or remove the file from the release.",
			})
		}
	}
	return found
}
