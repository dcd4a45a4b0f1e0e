package judge

import (
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// disagreements compares the output files that must not depend on the mode (C21):
// those of each mode that passed with those of the first that did.
func (s sight) disagreements(runs map[manifest.Mode]record.Run, about func(string, manifest.Mode, Finding)) {
	var first *record.Run
	for _, mode := range manifest.AllModes {
		run, ok := runs[mode]
		if !ok || !passed(s.entry, run) {
			continue
		}
		if first == nil {
			first = &run
			continue
		}
		for _, o := range s.entry.Expect.SameAcrossModes {
			if fact := disagree(o, *first, run); fact != "" {
				about("CP211", mode, Finding{
					Fact:   fact,
					Cause:  "Code depends on __CUDA_ARCH__, ptxas and the driver's compiler differ, or the result is not deterministic.",
					Action: "Compare the two files; give a result that may differ a tolerance, or leave it out of same_across_modes.",
				})
			}
		}
	}
}

// disagree says how an output of a run differs from that of the first one, empty
// where it does not.
func disagree(o manifest.Output, first, run record.Run) string {
	if o.Tolerant {
		want := "the same" + o.Tolerance.String()
		i := slices.IndexFunc(run.Comparisons, func(c record.Comparison) bool {
			return c.Output == o.Path && c.With == first.Mode && c.Want == want
		})
		switch {
		case i < 0:
			return fmt.Sprintf("%s was not compared with that of mode %s.", o.Path, first.Mode)
		case !run.Comparisons[i].OK:
			return fmt.Sprintf("%s differs between the modes, beside that of %s: %s.", o.Path, first.Mode, clause(run.Comparisons[i].Got))
		}
		return ""
	}
	hash := func(r record.Run) string {
		for _, f := range r.Outputs {
			if f.Path == o.Path {
				return f.SHA256
			}
		}
		return ""
	}
	if a, b := hash(first), hash(run); a != b {
		return fmt.Sprintf("%s differs between the modes: SHA-256 %s in %s, %s in %s.", o.Path, short(a), first.Mode, short(b), run.Mode)
	}
	return ""
}
