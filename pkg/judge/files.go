package judge

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Files checks that every artifact is there, was read completely, and is
// for the right host.
func Files(m *manifest.Manifest, r *record.Record) []Finding {
	var found []Finding
	if buildFailed(r) {
		return nil // nothing was inspected, and the build says why
	}
	for _, rule := range m.Artifacts {
		if !slices.ContainsFunc(r.Artifacts, func(a record.Artifact) bool { return a.Pattern == rule.Path }) {
			found = append(found, missing(r, rule.Path, "the record does not hold it"))
		}
	}
	for _, a := range r.Artifacts {
		found = append(found, readFindings(r, a)...)
		if a.SHA256 == "" {
			continue
		}
		found = append(found, hostFindings(m.Require.Host, a)...)
		found = append(found, kernelFindings(m, a)...)
		found = append(found, trapFindings(m, a)...)
		found = append(found, assembledFindings(a)...)
		found = append(found, crossCheckFindings(a)...)
		if len(r.Runs) > 0 && a.AfterRuns != a.SHA256 {
			found = append(found, Finding{
				ID: "CP212", Artifact: a.Path,
				Fact:   fmt.Sprintf("The file had SHA-256 %s when it was inspected and %s after the runs.", short(a.SHA256), orText(short(a.AfterRuns), "none")),
				Cause:  "A run, or another build at the same time, wrote to the artifact.",
				Action: "Keep entry points from changing what they test, and run one build at a time.",
			})
		}
	}
	return found
}

func readFindings(r *record.Record, a record.Artifact) []Finding {
	if a.SHA256 == "" {
		return []Finding{missing(r, a.Path, a.Problem)}
	}
	var found []Finding
	damaged := func(where, fact string) {
		found = append(found, Finding{
			ID: "CP102", Artifact: a.Path, Container: where, Fact: fact,
			Cause:  "The file is cut off or damaged, or holds a form of device code that this version does not know.",
			Action: "Build the file anew; if it is whole, report the form with `mage inspect -json`.",
		})
	}
	if a.Problem != "" {
		damaged("", "The file could not be read: "+a.Problem+".")
	}
	empty := true
	for _, o := range a.Objects {
		for _, p := range o.Code.Problems {
			damaged(strings.TrimSpace(o.Name+" "+p.Section), fmt.Sprintf("At offset 0x%x: %s.", p.Offset, p.Text))
		}
		for _, c := range o.Code.Containers {
			for _, i := range c.Images {
				if i.Problem != "" {
					damaged(strings.TrimSpace(fmt.Sprintf("%s %s+0x%x", o.Name, c.Section, c.Offset)),
						fmt.Sprintf("The %s at offset 0x%x could not be read: %s.", describe(i), i.Offset, i.Problem))
				}
			}
		}
		empty = empty && len(coverage.Modules(a.FormatOf(o), o)) == 0
	}
	if empty && len(found) == 0 {
		found = append(found, Finding{
			ID: "CP103", Artifact: a.Path,
			Fact:   fmt.Sprintf("The file (%s) holds no device code.", a.Format),
			Cause:  "It was linked without the CUDA objects, or its device code is in another file.",
			Action: "List the file that holds the device code under artifacts, or correct the link step.",
		})
	}
	return found
}

// describe names an image for people.
func describe(i devicecode.Image) string {
	if t := i.Target.String(); t != "" {
		return t + " " + string(i.Kind)
	}
	return string(i.Kind)
}

// hostFindings checks the host code against the manifest, and that in a wheel
// against the platform tag of its name (C32; PyPA, "Platform compatibility tags").
func hostFindings(want []string, a record.Artifact) []Finding {
	asks := "the manifest asks for"
	if tag := wheelMachine(a.Path); tag != "" {
		if len(want) == 0 || slices.Contains(want, tag) {
			want, asks = []string{tag}, "the wheel's name says"
		}
	}
	if len(want) == 0 {
		return nil
	}
	var found []Finding
	for _, o := range a.Objects {
		if o.Host != nil && !slices.Contains(want, o.Host.Machine) {
			found = append(found, Finding{
				ID: "CP111", Artifact: a.Path, Container: o.Name,
				Fact:   fmt.Sprintf("The host code is for %s; %s %s.", o.Host.Machine, asks, strings.Join(want, ", ")),
				Cause:  "The file was built on, or for, another kind of machine. Its GPU code says nothing about this.",
				Action: "Build on, or cross-compile for, the host architecture that is released.",
			})
		}
	}
	return found
}

// wheelMachine gives the machine that a wheel's name is for, empty for other
// files and for tags that name none.
func wheelMachine(name string) string {
	tag, isWheel := strings.CutSuffix(path.Base(name), ".whl")
	for _, machine := range []string{"x86_64", "aarch64", "ppc64le", "i686", "armv7l"} {
		if isWheel && strings.HasSuffix(tag, "_"+machine) {
			return machine
		}
	}
	return ""
}

// kernelFindings checks the kernels that the manifest names for an artifact.
func kernelFindings(m *manifest.Manifest, a record.Artifact) []Finding {
	var found []Finding
	for _, rule := range m.Artifacts {
		if rule.Path != a.Pattern {
			continue
		}
		for _, want := range rule.Kernels.Require {
			if !holds(a, want) {
				found = append(found, Finding{
					ID: "CP110", Artifact: a.Path, Kernel: want.String(),
					Fact:   fmt.Sprintf("No image holds a kernel %s.", want),
					Cause:  "The kernel was renamed, removed or not instantiated, or the pattern is wrong.",
					Action: "List the kernels with `mage inspect -json` and correct the code or the manifest.",
				})
			}
		}
	}
	return found
}

func holds(a record.Artifact, want manifest.KernelPattern) bool {
	for _, o := range a.Objects {
		for _, mod := range coverage.Modules(a.FormatOf(o), o) {
			for mangled, name := range mod.Kernels {
				if matches(want, mangled, name) {
					return true
				}
			}
		}
	}
	return false
}

func matches(p manifest.KernelPattern, mangled, name string) bool {
	switch {
	case mangled == coverage.WholeModule:
		return false
	case p.Mangled != "":
		return p.Mangled == mangled
	case p.Glob != "":
		ok, err := path.Match(p.Glob, name)
		return ok && err == nil
	}
	return devicecode.NormalizeName(p.Name) == name
}

func crossCheckFindings(a record.Artifact) []Finding {
	var found []Finding
	for _, d := range a.CrossCheck.Differences {
		found = append(found, Finding{
			ID: "CP120", Artifact: a.Path,
			Fact:   fmt.Sprintf("cuobjdump %s and cudaproof read the file differently: %s.", a.CrossCheck.Version, d),
			Cause:  "One of the two readers is wrong about this file.",
			Action: "Do not release on it; report the file, with `mage inspect -json -crosscheck`.",
		})
	}
	if a.CrossCheck.NotDone != "" && a.Format != artifact.Unknown {
		found = append(found, Finding{
			ID: "CP121", Artifact: a.Path,
			Fact: "The cross-check with cuobjdump was not done, or not completely: " + a.CrossCheck.NotDone + ".",
		})
	}
	return found
}

// short is enough of a hash to tell files apart by eye.
func short(sha256 string) string {
	if len(sha256) > 12 {
		return sha256[:12]
	}
	return sha256
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// missing says that an artifact is not there. Where a build that might have
// made it could not be done here, that proves nothing.
func missing(r *record.Record, path, why string) Finding {
	fact := "The artifact was not read: " + clause(orText(why, "no reason was recorded")) + "."
	if slices.ContainsFunc(r.Builds, func(b record.Build) bool { return b.Problem != "" }) {
		return Finding{
			ID: "CP113", Artifact: path, Fact: fact,
			Cause:  "A build of the manifest could not be done here.",
			Action: "Run on a machine that can build it.",
		}
	}
	return Finding{
		ID: "CP101", Artifact: path, Fact: fact,
		Cause:  "It was not built, or the manifest's path is not where the build puts it.",
		Action: "Build it first, or correct the path under artifacts.",
	}
}
