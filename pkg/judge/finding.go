// Package judge turns a manifest and a record into findings and a verdict. It
// is pure: it starts no process, opens no file, and gives the same answer for
// the same record on any machine.
package judge

import (
	"cmp"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Verdict is the outcome of a verification.
type Verdict string

// The verdicts. NotVerified means that something needed could not be checked;
// it is never a pass.
const (
	Passed      Verdict = "passed"
	Failed      Verdict = "failed"
	NotVerified Verdict = "not verified"
)

// Severity is how a finding is shown.
type Severity string

// The severities. Only errors change the verdict.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is one thing found. Empty fields do not apply.
type Finding struct {
	ID       string   `json:"id"` // "CP104", stable
	Severity Severity `json:"severity"`
	// Effect is what an error makes of the verdict: Failed or NotVerified.
	Effect     Verdict `json:"effect,omitempty"`
	Artifact   string  `json:"artifact,omitempty"`
	Container  string  `json:"container,omitempty"` // ".nv_fatbin+0x10"
	Kernel     string  `json:"kernel,omitempty"`
	Target     string  `json:"target,omitempty"`
	Device     string  `json:"device,omitempty"` // "NVIDIA H200 (9.0)"
	EntryPoint string  `json:"entry_point,omitempty"`
	Mode       string  `json:"mode,omitempty"`
	Fact       string  `json:"fact"`
	Cause      string  `json:"cause,omitempty"`
	Action     string  `json:"action,omitempty"`
}

// Result is a judgement.
type Result struct {
	Verdict  Verdict   `json:"verdict"`
	Findings []Finding `json:"findings"` // failures, then what was not verified, then the rest; by ID and place
}

// Family judges one part of a record.
type Family func(*manifest.Manifest, *record.Record) []Finding

// Judge judges a record against the manifest that it was made for: the parts
// named, or all of it.
func Judge(m *manifest.Manifest, r *record.Record, families ...Family) Result {
	if len(families) == 0 {
		families = []Family{Fits, Toolkit, Devices, Builds, Files, Coverage, Libraries, Runs}
	}
	var found []Finding
	for _, family := range families {
		found = append(found, family(m, r)...)
	}
	return Conclude(found)
}

// Conclude orders findings, leaves repeats out, and draws the verdict.
func Conclude(found []Finding) Result {
	for i := range found {
		kind := catalogue[found[i].ID]
		found[i].Severity, found[i].Effect = kind.Severity, kind.Effect
	}
	rank := map[Severity]int{Error: 0, Warning: 1, Note: 2}
	effects := map[Verdict]int{Failed: 0, NotVerified: 1}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(rank[a.Severity], rank[b.Severity]),
			cmp.Compare(effects[a.Effect], effects[b.Effect]),
			cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Artifact, b.Artifact),
			cmp.Compare(a.EntryPoint, b.EntryPoint),
		)
	})
	seen := map[Finding]bool{}
	found = slices.DeleteFunc(found, func(f Finding) bool {
		repeat := seen[f]
		seen[f] = true
		return repeat
	})
	verdict := Passed
	for _, f := range found {
		if f.Effect == Failed {
			verdict = Failed
		}
		if f.Effect == NotVerified && verdict == Passed {
			verdict = NotVerified
		}
	}
	return Result{Verdict: verdict, Findings: found}
}
