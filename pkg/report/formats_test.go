package report

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/joshdk/go-junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/xeipuuv/gojsonschema"

	"github.com/cudaproof/cudaproof/pkg/bundle"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// recordedCase is a verification that was recorded on an H200
// (testdata/h200/README.md), judged again.
type recordedCase struct {
	name   string
	record *record.Record
	result judge.Result
	o      Options
}

func recordedCases(t *testing.T) []recordedCase {
	t.Helper()
	const recorded = "../../testdata/h200/"
	manifests, err := filepath.Glob(recorded + "*.yaml")
	if err != nil || len(manifests) < 12 {
		t.Fatalf("found %d manifests, %v", len(manifests), err)
	}
	var cases []recordedCase
	for _, path := range manifests {
		name := filepath.Base(path[:len(path)-len(".yaml")])
		m, err := manifest.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		newest, err := bundle.Newest(filepath.Join(recorded, "evidence", name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := bundle.Read(newest)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, recordedCase{name, r, judge.Judge(m, r), Options{Matrix: judge.Matrix(m, r)}})
	}
	return cases
}

func hostileCase() recordedCase {
	r, result := hostileRecord()
	return recordedCase{"hostile", r, result, Options{Bundle: hostile}}
}

func written(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(b.Bytes()) {
		t.Error("not valid UTF-8")
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Error("control characters are left in")
	}
	return b.Bytes()
}

// JUnit is read by a parser of another project: all cases are there, no two have a
// name in common, and what fails in the verdict fails there.
func TestJUnit(t *testing.T) {
	for _, c := range append(recordedCases(t), hostileCase()) {
		t.Run(c.name, func(t *testing.T) {
			suites, err := junit.Ingest(written(t, func(w io.Writer) error { return JUnit(w, c.record, c.result, c.o) }))
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			bad := map[junit.Status]int{}
			for _, s := range suites {
				for _, test := range s.Tests {
					if names[test.Name] || !strings.HasPrefix(test.Name, s.Name+"/") {
						t.Errorf("name %q", test.Name)
					}
					names[test.Name] = true
					bad[test.Status]++
					if test.Error != nil && test.Error.Error() == "" {
						t.Errorf("%s says nothing", test.Name)
					}
				}
			}
			if len(names) < 20 {
				t.Errorf("%d cases", len(names))
			}
			if want := c.result.Verdict == judge.Failed; (bad[junit.StatusFailed] > 0) != want {
				t.Errorf("%s, but %d failures", c.result.Verdict, bad[junit.StatusFailed])
			}
			if c.result.Verdict == judge.NotVerified && bad[junit.StatusError] == 0 || c.result.Verdict == judge.Passed && len(bad) != 1 {
				t.Errorf("%s, but %v", c.result.Verdict, bad)
			}
		})
	}
}

// sarifSchema gives the schema of OASIS (2.1.0, errata 01), which go-sarif keeps in
// its source.
func sarifSchema(t *testing.T) *gojsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", reflect.TypeFor[sarif.Report]().PkgPath()).Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "schema" {
			text = strings.Trim(v.Values[0].(*ast.BasicLit).Value, "`")
		}
		return true
	})
	schema, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSARIF(t *testing.T) {
	schema := sarifSchema(t)
	for _, c := range append(recordedCases(t), hostileCase()) {
		t.Run(c.name, func(t *testing.T) {
			data := written(t, func(w io.Writer) error { return SARIF(w, c.record, c.result, c.o) })
			fit, err := schema.Validate(gojsonschema.NewBytesLoader(data))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range fit.Errors() {
				t.Error(e)
			}
			parsed, err := sarif.FromBytes(data)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(parsed.Runs[0].Results), len(c.result.Findings); got != want {
				t.Errorf("%d results, want %d", got, want)
			}
		})
	}
	if fit, err := schema.Validate(gojsonschema.NewStringLoader(`{"version": "2.1.0", "runs": [{}]}`)); err != nil || fit.Valid() {
		t.Errorf("the schema takes a run without a tool: %v", err)
	}
}

// A rule's address is that of its heading in docs/findings.md.
func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		"CP104 Native image missing": "cp104-native-image-missing",
		"CP224 Native, weaker proof": "cp224-native-weaker-proof",
		"CP222 Mode's variables":     "cp222-modes-variables",
	} {
		if got := anchor(heading); got != want {
			t.Errorf("%s: %s, want %s", heading, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for _, c := range append(recordedCases(t), hostileCase()) {
		t.Run(c.name, func(t *testing.T) {
			text := string(written(t, func(w io.Writer) error { return Markdown(w, c.record, c.result, c.o) }))
			if !strings.Contains(text, map[judge.Verdict]string{judge.Passed: "✅", judge.Failed: "❌", judge.NotVerified: "❓"}[c.result.Verdict]) {
				t.Errorf("no verdict in %.100q", text)
			}
			if strings.Contains(text, "<script") || strings.Count(text, "<details") != strings.Count(text, "</details>") {
				t.Errorf("markup in %s", text)
			}
			for _, f := range c.result.Findings {
				if f.Effect != "" && !strings.Contains(text, "<b>"+f.ID+"</b>") {
					t.Errorf("%s is missing", f.ID)
				}
			}
		})
	}
	if got, want := md("a|b `c` <b>&*_[x](y) @you #1"), "a&#124;b &#96;c&#96; &lt;b&gt;&amp;&#42;&#95;&#91;x&#93;(y) &#64;\u2060you &num;\u20601"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// GitHub shows no summary of more than 1 MiB.
func TestMarkdownLimit(t *testing.T) {
	var found []judge.Finding
	for n := range 10_000 {
		found = append(found, judge.Finding{ID: "CP104", Artifact: fmt.Sprint("app", n), Fact: strings.Repeat("x", 100_000)})
	}
	text := written(t, func(w io.Writer) error {
		return Markdown(w, &record.Record{}, judge.Conclude(found), Options{})
	})
	if len(text) > 1<<20 || !bytes.Contains(text, []byte("cut off")) {
		t.Errorf("%d bytes", len(text))
	}
}

func TestAnnotations(t *testing.T) {
	r, result := hostileRecord()
	_ = r
	text := string(written(t, func(w io.Writer) error { return Annotations(w, result) }))
	if lines := strings.Count(text, "\n"); lines != 1 {
		t.Errorf("%d lines for one finding:\n%s", lines, text)
	}
	if !regexp.MustCompile(`^::error title=CP104 Native image missing,file=a[^,:]*::`).MatchString(text) {
		t.Errorf("got %s", text)
	}
	var found []judge.Finding
	for n := range 25 {
		found = append(found, judge.Finding{ID: "CP104", Artifact: fmt.Sprint("app", n), Fact: "100%\nof"}, judge.Finding{ID: "CP306", Artifact: fmt.Sprint("app", n), Fact: "w"})
	}
	text = string(written(t, func(w io.Writer) error { return Annotations(w, judge.Conclude(found)) }))
	if e, w := strings.Count(text, "::error "), strings.Count(text, "::warning "); e != maxAnnotations || w != maxAnnotations {
		t.Errorf("%d errors, %d warnings", e, w)
	}
	if !strings.Contains(text, "app0%0A100%25%0Aof\n") {
		t.Errorf("not escaped: %.200s", text)
	}
}

// The page has no address but the documentation's, no markup from outside, and the
// same bytes for the same record.
func TestHTML(t *testing.T) {
	cases := append(recordedCases(t), hostileCase())
	for n, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			was := &Previous{"earlier", cases[(n+1)%len(cases)].record, cases[(n+1)%len(cases)].result}
			text := string(written(t, func(w io.Writer) error { return HTML(w, c.record, c.result, c.o, was) }))
			if strings.Count(text, "<script") != 1 || strings.Contains(text, "ZgotmplZ") {
				t.Error("markup from outside, or a value that the template refused")
			}
			for _, address := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
				if !strings.HasPrefix(address[1], findingsPage) {
					t.Errorf("address %s", address[1])
				}
			}
			for _, f := range c.result.Findings {
				if !strings.Contains(text, f.ID+" "+f.Title()) && !strings.Contains(text, strings.ReplaceAll(f.ID+" "+f.Title(), "'", "&#39;")) {
					t.Errorf("%s is missing", f.ID)
				}
			}
			again := string(written(t, func(w io.Writer) error { return HTML(w, c.record, c.result, c.o, was) }))
			if again != text {
				t.Error("another page for the same record")
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	cases := recordedCases(t)
	find := func(name string) recordedCase {
		return cases[slices.IndexFunc(cases, func(c recordedCase) bool { return c.name == name })]
	}
	both, ptx := find("sm90_ptx90"), find("ptx90")
	if got := differences(Previous{Record: both.record, Result: both.result}, both.record, both.result); len(got) > 0 {
		t.Errorf("a record differs from itself: %v", got)
	}
	got := map[string]difference{}
	for _, d := range differences(Previous{Record: both.record, Result: both.result}, ptx.record, ptx.result) {
		got[d.What] = d
	}
	for what, want := range map[string][2]string{
		"verdict":                             {"passed", "failed"},
		"findings CP104 Native image missing": {"none", "1"},
		"targets in build/ptx90":              {"none", "compute_90"},
		"kernels in build/sm90_ptx90":         {"1", "none"},
	} {
		if d := got[what]; d.Was != want[0] || d.Is != want[1] {
			t.Errorf("%s: %q, %q, want %q", what, d.Was, d.Is, want)
		}
	}
}
