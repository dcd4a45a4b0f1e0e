package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Options say what a report is about.
type Options struct {
	// Part names the target ("compile") where only a part was done; a report
	// of a part gives no verdict.
	Part string
	// Matrix says what devices take for the kernels, nil for none.
	Matrix *coverage.Matrix
	// Bundle is where the evidence lies, empty for none.
	Bundle string
	// Recorded says that the record was made earlier, and maybe elsewhere.
	Recorded bool
	Style    Style
}

// Text writes the report for people: the verdict, what is wrong and what to
// do, then the evidence.
func Text(w io.Writer, r *record.Record, result judge.Result, o Options) error {
	p := &printer{w: w, style: o.Style}
	p.text(0, "", Sentence(r, result, o.Part))
	if o.Part == "" {
		parts(p, r, result.Findings)
	}
	findings(p, result.Findings)
	if r.Probe.Host.Machine != "" {
		p.title(machineTitle(o))
		machine(p, r.Probe)
	}
	builds(p, r.Builds)
	if len(r.Artifacts) > 0 {
		p.title("Final files")
		for _, a := range r.Artifacts {
			file(p, a, false)
		}
	}
	if o.Matrix != nil {
		matrix(p, o.Matrix)
	}
	libraries(p, r.Libraries)
	runs(p, r)
	if o.Part == "" {
		source(p, r.Source)
	}
	if o.Bundle != "" {
		p.title("Evidence")
		p.text(2, "", o.Bundle)
	}
	return p.err
}

// Findings writes findings alone.
func Findings(w io.Writer, list []judge.Finding, style Style) error {
	p := &printer{w: w, style: style}
	findings(p, list)
	return p.err
}

// findings writes what was found, errors first.
func findings(p *printer, list []judge.Finding) {
	colors := map[judge.Severity]string{judge.Error: "1;31", judge.Warning: "1;33", judge.Note: "1;36"}
	for _, f := range fold(list) {
		head := string(f.Severity)
		if f.Effect == judge.NotVerified {
			head = "not verified"
		}
		p.line("")
		p.line(p.paint(colors[f.Severity], head+" "+f.ID) + " " + f.Title())
		if where := where(f); where != "" {
			p.text(2, "", where)
		}
		p.text(2, "", f.Fact)
		if f.Cause != "" {
			p.text(2, "Cause: ", f.Cause)
		}
		if f.Action != "" {
			p.text(2, "Do: ", f.Action)
		}
	}
}

// fold makes one finding of neighbours that differ in the mode alone.
func fold(list []judge.Finding) []judge.Finding {
	var folded []judge.Finding
	for _, f := range list {
		if n := len(folded); n > 0 && f.Mode != "" {
			same := folded[n-1]
			same.Mode = f.Mode
			if same == f {
				folded[n-1].Mode += ", " + f.Mode
				continue
			}
		}
		folded = append(folded, f)
	}
	return folded
}

// where says what a finding is about.
func where(f judge.Finding) string {
	var parts []string
	for _, part := range []struct{ label, value string }{
		{"", f.Artifact}, {"", f.Container}, {"kernel ", f.Kernel}, {"target ", f.Target},
		{"entry point ", f.EntryPoint}, {"mode ", f.Mode}, {"device ", f.Device},
	} {
		if part.value != "" {
			parts = append(parts, part.label+part.value)
		}
	}
	return strings.Join(parts, ", ")
}

func machineTitle(o Options) string {
	if o.Recorded {
		return "Machine that the evidence is from"
	}
	return "Machine"
}

func machine(p *printer, probe record.Probe) {
	p.text(2, "Host     ", fmt.Sprintf("%s %s (says nothing about GPU code)", probe.Host.OS, probe.Host.Machine))
	driver := orText(probe.Driver.Version, "no kernel driver found")
	if probe.Driver.CUDA != "" {
		driver += "; its library supports CUDA " + probe.Driver.CUDA + " (which is not the toolkit's version)"
	}
	p.text(2, "Driver   ", driver)
	toolkit := "none: " + probe.Toolkit.Problem
	if probe.Toolkit.Release != "" {
		toolkit = fmt.Sprintf("nvcc %s, %s", probe.Toolkit.Release, probe.Toolkit.NVCC)
	}
	p.text(2, "Toolkit  ", toolkit)
	if len(probe.Devices) == 0 {
		p.text(2, "Device   ", "none")
	}
	for _, d := range probe.Devices {
		p.text(2, "Device   ", fmt.Sprintf("%d: %s, compute capability %s, %s", d.Index, d.Name, d.Capability, d.UUID))
	}
}

func builds(p *printer, list []record.Build) {
	if len(list) == 0 {
		return
	}
	p.title("Compile commands")
	for _, b := range list {
		state := "done"
		if b.Problem != "" {
			state = b.Problem
		}
		p.text(2, "", fmt.Sprintf("%s (%s): %s", b.Name, b.Kind, state))
		for _, c := range b.Commands {
			p.text(4, "", commandLine(c.Args))
		}
	}
}

// commandLine writes an argument vector so that a shell would read it back.
func commandLine(args []string) string {
	quoted := slices.Clone(args)
	for i, a := range quoted {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func libraries(p *printer, list []record.Library) {
	if len(list) == 0 {
		return
	}
	p.title("Shared libraries")
	for _, l := range list {
		what := "no device code"
		switch {
		case l.Problem != "":
			what = l.Problem
		case l.DriverOrTool:
			what = "driver and tools"
		case l.HasDeviceCode():
			what = contents(l)
		}
		p.text(2, "", fmt.Sprintf("%s  %.12s  %s", l.Path, l.SHA256, what))
	}
}

// contents says what device code a library has.
func contents(l record.Library) string {
	var targets []string
	kernels := 0
	for _, i := range l.Images {
		targets = append(targets, i.Target.String())
		kernels += i.Kernels
	}
	var parts []string
	if len(targets) > 0 {
		parts = append(parts, fmt.Sprintf("%s: %s", count(kernels, "kernel", "kernels"), strings.Join(targets, " ")))
	}
	if l.Unread > 0 {
		parts = append(parts, fmt.Sprintf("%d unread", l.Unread))
	}
	return strings.Join(parts, "; ")
}

func runs(p *printer, r *record.Record) {
	if len(r.Runs) == 0 {
		return
	}
	p.title("Runs")
	for _, run := range r.Runs {
		p.text(2, "", fmt.Sprintf("%s, %s, %s", run.EntryPoint, run.Mode, devicesOf(r, run)))
		p.text(4, "", outcome(run))
		if line := starts(r, run); line != "" {
			p.text(4, "", line)
		}
		if line := proof(r, run); line != "" {
			p.text(4, "", line)
		}
		if met(run) < len(run.Checks) {
			tails(p, run)
		}
	}
	for _, line := range comparisons(r.Runs) {
		p.text(2, "", line)
	}
	for _, c := range judge.Kernels(r) {
		p.text(2, "", fmt.Sprintf("%s: of %s launched natively %d, through PTX %d, never %d",
			c.Artifact, count(c.Kernels, "kernel", "kernels"), c.Native, c.PTX, len(c.Never)))
	}
}

// starts says how long the first start took and how long the second, with the
// cache that the first left.
func starts(r *record.Record, run record.Run) string {
	if run.Warm == nil {
		return ""
	}
	return fmt.Sprintf("first start %.2f s, %s in the cache; second start %.2f s, %s",
		r.Volatile.Seconds[run.ID], count(run.CacheFiles, "file", "files"), r.Volatile.Seconds[run.ID+"/warm"], count(run.Warm.CacheFiles, "file", "files"))
}

// comparisons says of each entry point and device whether its runs wrote the
// same to standard output. That is shown and not judged: times and addresses
// may differ. Files that must not differ stand in the manifest.
func comparisons(list []record.Run) []string {
	type key struct{ entryPoint, devices string }
	var order []key
	modes, hashes := map[key][]string{}, map[key][]string{}
	for _, run := range list {
		k := key{run.EntryPoint, strings.Join(run.Devices, " ")}
		if modes[k] == nil {
			order = append(order, k)
		}
		modes[k] = append(modes[k], run.Mode)
		if !slices.Contains(hashes[k], run.Stdout.SHA256) {
			hashes[k] = append(hashes[k], run.Stdout.SHA256)
		}
	}
	var lines []string
	for _, k := range order {
		if len(modes[k]) > 1 {
			said := "is the same"
			if len(hashes[k]) > 1 {
				said = "differs"
			}
			lines = append(lines, fmt.Sprintf("standard output of %s %s in %s", k.entryPoint, said, strings.Join(modes[k], ", ")))
		}
	}
	return lines
}

// outcome says how a run ended and what was seen of it.
func outcome(run record.Run) string {
	words := []string{judge.Ended(run)}
	if run.NotStarted != "" {
		return words[0]
	}
	words = append(words, fmt.Sprintf("%d of %d expectations met", met(run), len(run.Checks)))
	for _, e := range run.DriverErrors {
		words = append(words, fmt.Sprintf("driver error %d %s", e.Code, e.Name))
	}
	if slices.ContainsFunc(run.Processes, func(p record.Process) bool { return p.JITCompiler }) {
		words = append(words, "JIT compiler loaded")
	}
	if run.CacheFiles > 0 {
		words = append(words, count(run.CacheFiles, "file in the cache", "files in the cache"))
	}
	return strings.Join(words, ", ")
}

// met counts the expectations that a run met.
func met(run record.Run) int {
	n := 0
	for _, c := range run.Checks {
		if c.OK {
			n++
		}
	}
	return n
}

func devicesOf(r *record.Record, run record.Run) string {
	if len(run.Devices) == 0 {
		return "no GPU"
	}
	var names []string
	for _, uuid := range run.Devices {
		name := uuid
		for _, d := range r.Probe.Devices {
			if d.UUID == uuid {
				name = fmt.Sprintf("%s (%s)", d.Name, d.Capability)
			}
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func source(p *printer, s record.Source) {
	p.title("Source")
	switch {
	case s.Commit == "":
		p.text(2, "", "no revision: "+orText(s.Problem, "none was recorded"))
	case len(s.Changed) > 0:
		p.text(2, "", fmt.Sprintf("commit %s with %s", s.Commit, count(len(s.Changed), "changed file", "changed files")))
	default:
		p.text(2, "", "commit "+s.Commit+", clean")
	}
	p.text(2, "", count(len(s.Inputs), "build input", "build inputs")+" hashed")
}

// tails shows the end of what a failed run printed: the report must stand alone
// where the bundle is not at hand.
func tails(p *printer, run record.Run) {
	for _, stream := range []struct {
		name string
		log  record.Log
	}{{"stdout", run.Stdout}, {"stderr", run.Stderr}} {
		if tail := strings.TrimSpace(stream.log.Tail); tail != "" {
			p.text(4, stream.name+": ", tail)
		}
	}
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
