package judge

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

func TestGate(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*manifest.Manifest, *record.Record, *Release)
		want   []string
	}{
		{"fits", func(*manifest.Manifest, *record.Record, *Release) {}, nil},
		{"re-linked", func(_ *manifest.Manifest, _ *record.Record, now *Release) { now.Artifacts[0].SHA256 = "b" }, []string{"CP402"}},
		{"gone", func(_ *manifest.Manifest, _ *record.Record, now *Release) { now.Artifacts = nil }, []string{"CP402"}},
		{"new file", func(_ *manifest.Manifest, _ *record.Record, now *Release) {
			extra := now.Artifacts[0]
			extra.Path = "other"
			now.Artifacts = append(now.Artifacts, extra)
		}, []string{"CP405"}},
		{"record edited", func(_ *manifest.Manifest, r *record.Record, _ *Release) {
			r.Artifacts[0].Objects[0].Code.Containers[0].Offset++
		}, []string{"CP407"}},
		{"input changed", func(_ *manifest.Manifest, _ *record.Record, now *Release) { now.Inputs["k.cu"] = "other" }, []string{"CP403"}},
		{"input gone", func(_ *manifest.Manifest, _ *record.Record, now *Release) { now.Inputs["k.cu"] = "" }, []string{"CP403"}},
		{"manifest changed", func(m *manifest.Manifest, _ *record.Record, _ *Release) { m.SHA256 = "other" }, []string{"CP404"}},
		{"source added", func(m *manifest.Manifest, _ *record.Record, _ *Release) {
			m.Build = []manifest.Build{{Name: "b", Kind: manifest.Executable, Sources: []string{"k.cu", "new.cu"}}}
		}, []string{"CP304", "CP403"}},
		{"the project's library replaced", func(_ *manifest.Manifest, r *record.Record, now *Release) {
			r.Libraries = []record.Library{{File: record.File{Path: "lib/libh.so", SHA256: "a"}}}
			now.Libraries = map[string]string{"lib/libh.so": "b"}
		}, []string{"CP402"}},
		{"a system library", func(_ *manifest.Manifest, r *record.Record, now *Release) {
			r.Libraries = []record.Library{{File: record.File{Path: "/lib/libc.so.6", SHA256: "a"}}}
		}, nil},
		{"format edited", func(_ *manifest.Manifest, r *record.Record, _ *Release) {
			r.Artifacts[0].Format = artifact.StaticLibrary
		}, []string{"CP407"}},
		{"build of another manifest", func(_ *manifest.Manifest, r *record.Record, _ *Release) {
			r.Builds, r.Runs = []record.Build{{Name: "ghost", Failed: true}}, nil
		}, []string{"CP409"}},
		{"run twice", func(_ *manifest.Manifest, r *record.Record, _ *Release) { r.Runs = append(r.Runs, r.Runs[0]) }, []string{"CP409"}},
		{"another command", func(_ *manifest.Manifest, r *record.Record, _ *Release) { r.Runs[0].Command = []string{"/bin/true"} }, []string{"CP409"}},
		{"another mode's variables", func(_ *manifest.Manifest, r *record.Record, _ *Release) { r.Runs[0].Environment = nil }, []string{"CP409"}},
		{"another project", func(_ *manifest.Manifest, r *record.Record, _ *Release) { r.Project = "other" }, []string{"CP409"}},
		{"log damaged", func(_ *manifest.Manifest, _ *record.Record, now *Release) { now.Logs = []string{"runs/x: gone"} }, []string{"CP406"}},
		{"dirty tree", func(_ *manifest.Manifest, r *record.Record, _ *Release) { r.Source.Changed = []string{"k.cu"} }, []string{"CP408"}},
		{"failed run", func(_ *manifest.Manifest, r *record.Record, _ *Release) { fail(&r.Runs[0], 209) }, []string{"CP201"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, r := goodRuns(t)
			m.SHA256, r.Manifest.SHA256 = "m", "m"
			r.Source = record.Source{Commit: "c", Inputs: []record.File{{Path: "k.cu", SHA256: "k"}}}
			r.Artifacts[0].AfterRuns = r.Artifacts[0].SHA256
			now := Release{Artifacts: cloned(t, r.Artifacts), Inputs: map[string]string{"k.cu": "k"}}
			test.change(m, r, &now)
			result := Gate(m, r, now)
			got := slices.DeleteFunc(ids(result.Findings), func(id string) bool { return id == "CP306" })
			equal(t, "findings", got, test.want)
			if passed := result.Verdict == Passed; passed != (len(test.want) == 0 || test.name == "dirty tree") {
				t.Errorf("verdict %q", result.Verdict)
			}
		})
	}
}

// cloned makes a deep copy, as a second reading of the same files gives.
func cloned(t *testing.T, list []record.Artifact) (out []record.Artifact) {
	b, err := json.Marshal(list)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
