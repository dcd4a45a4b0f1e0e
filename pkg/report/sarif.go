package report

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// The objects of SARIF 2.1.0 (OASIS standard, 27 March 2020) that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Name    string    `json:"name"`
		Short   sarifText `json:"shortDescription"`
		HelpURI string    `json:"helpUri"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful bool `json:"executionSuccessful"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   sarifProperties   `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifProperties struct {
		Effect string `json:"effect,omitempty"` // what the finding makes of the verdict
	}
)

const (
	home         = "https://github.com/cudaproof/cudaproof"
	findingsPage = home + "/blob/main/docs/findings.md#"
)

// SARIF writes the findings as SARIF 2.1.0. A finding about a file points at it,
// another at the manifest, because GitHub shows no result without a place; binary
// files have no lines, so the line is 1.
func SARIF(w io.Writer, r *record.Record, result judge.Result, o Options) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "cudaproof", Version: r.Tool, URI: home}},
		Invocations: []sarifInvocation{{Successful: result.Verdict != judge.NotVerified}},
		Results:     []sarifResult{},
	}
	index := map[string]int{}
	for n, id := range slices.Sorted(maps.Keys(catalogue)) {
		index[id] = n
		title := catalogue[id].Title
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: id, Name: title, Short: sarifText{title + "."},
			HelpURI: findingsPage + anchor(id+" "+title),
		})
	}
	levels := map[judge.Severity]string{judge.Error: "error", judge.Warning: "warning", judge.Note: "note"}
	for _, f := range result.Findings {
		run.Results = append(run.Results, sarifResult{
			RuleID: f.ID, RuleIndex: index[f.ID], Level: levels[f.Severity],
			Message:      sarifText{sentences(f)},
			Locations:    []sarifLocation{{sarifPhysical{sarifArtifact{uri(r, f)}, sarifRegion{1}}}},
			Fingerprints: map[string]string{"finding/v1": fingerprint(f)},
			Properties:   sarifProperties{string(f.Effect)},
		})
	}
	return Value(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// uri gives the file that a finding is about, as a relative reference where it is
// in the project.
func uri(r *record.Record, f judge.Finding) string {
	file := f.Artifact
	if file == "" {
		file = r.Manifest.Path
	}
	if file == "" {
		file = "."
	}
	if path.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: strings.ToValidUTF8(file, "\uFFFD")}).String()
	}
	return (&url.URL{Path: strings.ToValidUTF8(file, "\uFFFD")}).String()
}

// fingerprint tells the same finding in two reports, whatever its sentences say.
func fingerprint(f judge.Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.ID, f.Artifact, f.Kernel, f.Target, f.Device, f.EntryPoint, f.Mode}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// anchor gives the fragment that GitHub makes of a heading.
func anchor(heading string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(heading) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '-' || c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		}
	}
	return b.String()
}
