package report

import (
	"encoding/json"
	"io"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Document is the JSON report of a target.
type Document struct {
	// Part names the target where only a part was done ("compile"). Verdict is
	// then that of the part's checks, and none of the build.
	Part     string          `json:"part,omitempty"`
	Verdict  judge.Verdict   `json:"verdict"`
	Sentence string          `json:"sentence"`
	Findings []judge.Finding `json:"findings"`
	Bundle   string          `json:"bundle,omitempty"`
	Record   *record.Record  `json:"record"`
}

// JSON writes the report for programs, indented, with everything in it.
func JSON(w io.Writer, r *record.Record, result judge.Result, o Options) error {
	findings := result.Findings
	if findings == nil {
		findings = []judge.Finding{}
	}
	return Value(w, Document{o.Part, result.Verdict, Sentence(r, result, o.Part), findings, o.Bundle, r})
}

// Value writes any part of a record as indented JSON. The characters < and >
// stand as they are, so that the name of a kernel can be copied.
func Value(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
