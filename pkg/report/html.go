package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"plain": Plain,
	"join":  func(list []string) string { return strings.Join(list, ", ") },
	"class": func(s any) string { return strings.ReplaceAll(fmt.Sprint(s), " ", "-") },
}).Parse(pageText))

// page is what the template shows. Its strings are not safe to print yet: the
// template passes each through Plain.
type page struct {
	Project     string
	Verdict     judge.Verdict
	Sentence    string
	Evidence    [][2]string
	Findings    []findingView
	Matrix      *matrixView
	Runs        []runGroup
	Kernels     []judge.KernelCoverage
	Previous    string
	Compared    bool
	Differences []difference
	Sections    []section
}

type findingView struct {
	judge.Finding
	Label, Where, Anchor string
}

// section is a part of the text report.
type section struct{ Title, Text string }

// runGroup is the runs of an entry point on the same devices, side by side.
type runGroup struct {
	EntryPoint, Devices string
	Runs                []runView
}

type runView struct {
	Mode, Outcome, Starts, Proof string
	Good                         bool
	Checks                       []record.Check
	Output                       []section
}

type matrixView struct {
	Title   string
	Columns int // of the grid
	Devices []deviceView
	Rows    []rowView
	Bare    int
	Options string // that add what is missing
	Notes   string
}

type deviceView struct {
	Device   arch.Capability
	Products string
	Summary  string
	Shares   []share
}

// share is a part of a device's kernels, in per mille of them.
type share struct {
	Fit   arch.Fit
	Width int
}

type rowView struct {
	Title  string
	Cells  []cellView
	Places []placeView
	More   int // places left out
}

type cellView struct {
	Sign, Text string
	Fit        arch.Fit
}

type placeView struct {
	Place string
	Names []string
	More  int // names left out
}

// maxPlaces and maxNames are how many modules of a row, and names of a module, a
// page holds, so that it stays quick with a hundred thousand kernels.
const maxPlaces, maxNames = 300, 100

// signs are shown in the matrix beside the colours.
var signs = map[arch.Fit]string{
	arch.Native: "N", coverage.LoadTimeLink: "L", arch.JIT: "J", arch.NotGuaranteed: "?", arch.Unknown: "?", arch.None: "–",
}

// HTML writes the report as one page that needs nothing else. was is the
// verification before, nil for none.
func HTML(w io.Writer, r *record.Record, result judge.Result, o Options, was *Previous) error {
	v := page{
		Project: r.Project, Verdict: result.Verdict, Sentence: Sentence(r, result, o.Part),
		Evidence: evidence(r, result.Findings), Runs: runGroups(r, result.Findings), Kernels: judge.Kernels(r),
	}
	for _, f := range fold(result.Findings) {
		label := string(f.Severity)
		if f.Effect == judge.NotVerified {
			label = "not verified"
		}
		v.Findings = append(v.Findings, findingView{f, label, where(f), findingsPage + anchor(kindName(f))})
	}
	if o.Matrix != nil && len(o.Matrix.Rows) > 0 {
		v.Matrix = newMatrixView(o.Matrix)
	}
	if was != nil {
		v.Previous, v.Compared, v.Differences = was.Bundle, true, differences(*was, r, result)
	}
	v.Sections = sections(r, o)
	return pageTemplate.Execute(w, v)
}

// sections gives the parts that are the same as text.
func sections(r *record.Record, o Options) []section {
	var list []section
	add := func(title string, write func(*printer)) {
		var b strings.Builder
		p := &printer{w: &b}
		write(p)
		text := strings.TrimPrefix(strings.TrimLeft(b.String(), "\n"), title+"\n")
		if strings.TrimSpace(text) != "" {
			list = append(list, section{title, text})
		}
	}
	if r.Probe.Host.Machine != "" {
		add(machineTitle(o), func(p *printer) { machine(p, r.Probe) })
	}
	add("Compile commands", func(p *printer) { builds(p, r.Builds) })
	add("Final files", func(p *printer) {
		for _, a := range r.Artifacts {
			file(p, a, false)
		}
	})
	add("Shared libraries", func(p *printer) { libraries(p, r.Libraries) })
	if o.Part == "" {
		add("Source", func(p *printer) { source(p, r.Source) })
	}
	if o.Bundle != "" {
		add("Evidence", func(p *printer) { p.text(2, "", o.Bundle) })
	}
	return list
}

func runGroups(r *record.Record, findings []judge.Finding) []runGroup {
	var groups []runGroup
	for _, run := range r.Runs {
		devices := devicesOf(r, run)
		n := slices.IndexFunc(groups, func(g runGroup) bool { return g.EntryPoint == run.EntryPoint && g.Devices == devices })
		if n < 0 {
			n = len(groups)
			groups = append(groups, runGroup{EntryPoint: run.EntryPoint, Devices: devices})
		}
		good := !slices.ContainsFunc(findings, func(f judge.Finding) bool {
			return f.Effect != "" && f.EntryPoint == run.EntryPoint && slices.Contains(strings.Split(f.Mode, ", "), run.Mode)
		})
		view := runView{Mode: run.Mode, Outcome: outcome(run), Starts: starts(r, run), Proof: proof(r, run), Good: good, Checks: run.Checks}
		for _, s := range []section{{"standard output", run.Stdout.Tail}, {"standard error", run.Stderr.Tail}} {
			if strings.TrimSpace(s.Text) != "" {
				view.Output = append(view.Output, s)
			}
		}
		groups[n].Runs = append(groups[n].Runs, view)
	}
	return groups
}

func newMatrixView(m *coverage.Matrix) *matrixView {
	v := &matrixView{Title: "By the rules of CUDA: a prediction, nothing was run for it", Columns: len(m.Devices) + 1}
	if m.Driver != "" {
		v.Title += fmt.Sprintf(", with %s", arch.Driver{CUDA: m.Driver})
	}
	var missing []arch.Target
	for _, s := range m.Summary {
		d := deviceView{Device: s.Device, Products: s.Products, Summary: summary(s)}
		for _, fit := range fits {
			if n := s.By[fit]; n > 0 {
				d.Shares = append(d.Shares, share{fit, max(n*1000/s.Kernels, 4)})
			}
		}
		v.Devices = append(v.Devices, d)
		if unserved(s) > 0 {
			missing = append(missing, s.Device.Target(arch.SM))
		}
	}
	if len(missing) > 0 && len(missing) <= maxAdded {
		v.Options, v.Notes = judge.Options(missing...)
	}
	for _, r := range m.Rows {
		v.Bare += r.Bare
		v.Rows = append(v.Rows, newRowView(r))
	}
	return v
}

func newRowView(r coverage.Row) rowView {
	v := rowView{Title: fmt.Sprintf("%s in %s", count(r.Kernels, "kernel", "kernels"), count(r.Modules, "module", "modules"))}
	for _, c := range r.Choices {
		v.Cells = append(v.Cells, cellView{Sign: signs[c.Fit], Text: c.String(), Fit: c.Fit})
	}
	for n, place := range r.Places {
		if n == maxPlaces {
			v.More = len(r.Places) - n
			break
		}
		p := placeView{Place: strings.TrimSpace(place.File + " " + place.Container), Names: place.Names[:min(len(place.Names), maxNames)]}
		p.More = place.Kernels - len(p.Names)
		v.Places = append(v.Places, p)
	}
	return v
}
