package report

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/cudaproof/cudaproof/pkg/coverage"
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
	// Kernels says for each artifact which kernels the runs launched.
	Kernels []judge.KernelCoverage `json:"kernels,omitempty"`
	// Matrix says what the required devices take for each kernel, by rule.
	Matrix *coverage.Matrix `json:"matrix,omitempty"`
	Bundle string           `json:"bundle,omitempty"`
	Record *record.Record   `json:"record"`
}

// JSON writes the report for programs, indented, with everything in it.
func JSON(w io.Writer, r *record.Record, result judge.Result, o Options) error {
	findings := result.Findings
	if findings == nil {
		findings = []judge.Finding{}
	}
	return Value(w, Document{o.Part, result.Verdict, Sentence(r, result, o.Part), findings, judge.Kernels(r), o.Matrix, o.Bundle, r})
}

// Value writes any part of a record as indented JSON, as encoding/json would,
// but piece by piece: the list of a large library's kernels has tens of
// megabytes. The characters < and > stand as they are, so that the name of a
// kernel can be copied.
func Value(w io.Writer, v any) error {
	err := json.MarshalWrite(w, v, jsonv1.DefaultOptionsV1(),
		jsontext.WithIndent("  "), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}
