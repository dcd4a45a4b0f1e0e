// Package report turns a record and its findings into text and JSON. It is
// pure: it starts no process and opens no file.
package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Sentence is the verdict in one sentence. Where only a part was done there is
// no verdict, and it says how that part went. A pass names the driver, devices,
// files and entry points that were proven, and claims nothing else.
func Sentence(r *record.Record, result judge.Result, part string) string {
	failed, unverified := 0, 0
	subject := r.Project
	if part != "" {
		subject = strings.TrimSuffix(part+" of "+r.Project, " of ")
	}
	for _, f := range result.Findings {
		switch f.Effect {
		case judge.Failed:
			failed++
		case judge.NotVerified:
			unverified++
		}
	}
	switch result.Verdict {
	case judge.Failed:
		s := fmt.Sprintf("FAILED: %s: %s failed", subject, count(failed, "check", "checks"))
		if unverified > 0 {
			s += fmt.Sprintf(", %d could not be made", unverified)
		}
		return s + "."
	case judge.NotVerified:
		return fmt.Sprintf("NOT VERIFIED: %s: %s could not be made; none of the others failed.", subject, count(unverified, "check", "checks"))
	}
	if part != "" {
		return fmt.Sprintf("%s: done, and nothing failed. This is a part: only verify gives a verdict.", subject)
	}
	return "PASSED: " + proven(r)
}

// proven says what a passing record proves.
func proven(r *record.Record) string {
	var devices, files []string
	for _, d := range r.Probe.Devices {
		devices = append(devices, fmt.Sprintf("%s (%s)", d.Name, d.Capability))
	}
	for _, a := range r.Artifacts {
		files = append(files, fmt.Sprintf("%s (SHA-256 %.12s)", a.Path, a.SHA256))
	}
	entries := map[string][]string{}
	for _, run := range r.Runs {
		if !slices.Contains(entries[run.EntryPoint], run.Mode) {
			entries[run.EntryPoint] = append(entries[run.EntryPoint], run.Mode)
		}
	}
	var ran []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		ran = append(ran, fmt.Sprintf("%s (%s)", name, strings.Join(entries[name], ", ")))
	}
	driver := "driver " + r.Probe.Driver.Version
	if r.Probe.Driver.Version == "" { // some Jetsons do not tell
		driver = "a driver of unknown version for CUDA " + r.Probe.Driver.CUDA
	}
	return fmt.Sprintf("%s: with %s on %s, entry point %s passed for %s. Nothing is said of other drivers, devices, files or entry points.",
		r.Project, driver, strings.Join(devices, ", "), strings.Join(ran, ", "), strings.Join(files, ", "))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
