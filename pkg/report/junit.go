package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// The elements of JUnit's XML that GitLab, Jenkins and GitHub's actions read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the report as JUnit XML: a suite per subject, a case per check,
// named "build/app/CP104 Native image missing". What failed is a failure, what
// could not be checked an error; warnings and notes are no cases.
func JUnit(w io.Writer, r *record.Record, result judge.Result, o Options) error {
	all := junitSuites{Name: "cudaproof " + escape(r.Project, false)}
	at := map[string]int{}
	for _, c := range checks(r, result, o.Recorded) {
		n, known := at[c.subject]
		if !known {
			n = len(all.Suites)
			at[c.subject] = n
			all.Suites = append(all.Suites, junitSuite{Name: escape(c.subject, false)})
		}
		all.Suites[n].add(c)
	}
	for _, s := range all.Suites {
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c check) {
	t := junitCase{Class: s.Name, Name: s.Name + "/" + escape(c.name, false), Time: fmt.Sprintf("%.3f", c.seconds)}
	s.Tests++
	switch c.failed() {
	case judge.Failed:
		s.Failures++
		t.Failure = problemOf(c)
	case judge.NotVerified:
		s.Errors++
		t.Error = problemOf(c)
	}
	s.Cases = append(s.Cases, t)
}

func problemOf(c check) *junitProblem {
	var b strings.Builder
	for _, f := range c.findings {
		b.WriteString(sentences(f) + "\n\n")
	}
	first := c.findings[0]
	return &junitProblem{Message: first.ID + ": " + oneLine(first.Fact), Type: string(first.Effect), Text: strings.TrimSpace(b.String())}
}

// sentences gives a finding as plain lines: title, place, fact, cause, action.
func sentences(f judge.Finding) string {
	lines := []string{kindName(f)}
	if at := where(f); at != "" {
		lines = append(lines, at)
	}
	lines = append(lines, f.Fact)
	if f.Cause != "" {
		lines = append(lines, "Cause: "+f.Cause)
	}
	if f.Action != "" {
		lines = append(lines, "Do: "+f.Action)
	}
	return Plain(strings.Join(lines, "\n"))
}

// oneLine makes text fit where a line break ends it.
func oneLine(s string) string {
	return escape(strings.Join(strings.Fields(s), " "), false)
}
