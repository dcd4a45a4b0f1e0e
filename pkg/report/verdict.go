// Package report turns a record and its findings into text and JSON. It is
// pure: it starts no process and opens no file.
package report

import (
	"fmt"
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

// proven says what a passing record proves: each entry point for the files that
// it was seen to load, or to launch kernels of, and no more.
func proven(r *record.Record) string {
	var devices []string
	for _, d := range r.Probe.Devices {
		devices = append(devices, fmt.Sprintf("%s (%s)", d.Name, d.Capability))
	}
	named := map[string]bool{}
	name := func(a record.Artifact) string {
		if named[a.Path] {
			return a.Path
		}
		named[a.Path] = true
		return fmt.Sprintf("%s (SHA-256 %.12s)", a.Path, a.SHA256)
	}
	var ran []string
	for _, e := range entryPoints(r) {
		var files []string
		for _, a := range r.Artifacts {
			if e.artifacts[a.Path] {
				files = append(files, name(a))
			}
		}
		ran = append(ran, fmt.Sprintf("%s (%s) passed for %s", e.name, strings.Join(e.modes, ", "), strings.Join(files, ", ")))
	}
	driver := "driver " + r.Probe.Driver.Version
	if r.Probe.Driver.Version == "" { // some Jetsons do not tell
		driver = "a driver of unknown version for CUDA " + r.Probe.Driver.CUDA
	}
	text := fmt.Sprintf("%s: with %s on %s, entry point %s.", r.Project, driver, strings.Join(devices, ", "), strings.Join(ran, "; entry point "))
	var inspected []string
	for _, a := range r.Artifacts {
		if !named[a.Path] {
			inspected = append(inspected, name(a))
		}
	}
	if len(inspected) > 0 { // static libraries and the like: nothing loads them
		text += " Inspected only: " + strings.Join(inspected, ", ") + "."
	}
	return text + " Nothing is said of other drivers, devices, files or entry points."
}

// entryPoint is what runs show of one entry point.
type entryPoint struct {
	name      string
	modes     []string
	artifacts map[string]bool // that its processes loaded, or launched kernels of
}

// entryPoints gathers the runs by entry point, in their order.
func entryPoints(r *record.Record) []entryPoint {
	var list []entryPoint
	for _, run := range r.Runs {
		i := slices.IndexFunc(list, func(e entryPoint) bool { return e.name == run.EntryPoint })
		if i < 0 {
			i = len(list)
			list = append(list, entryPoint{name: run.EntryPoint, artifacts: map[string]bool{}})
		}
		if !slices.Contains(list[i].modes, run.Mode) {
			list[i].modes = append(list[i].modes, run.Mode)
		}
		for _, p := range run.Processes {
			for _, path := range p.Artifacts {
				list[i].artifacts[path] = true
			}
		}
		for _, a := range r.Artifacts { // of a file that is read as data, the loader shows nothing
			if judge.LaunchedFrom(r, run, a) {
				list[i].artifacts[a.Path] = true
			}
		}
	}
	return list
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
