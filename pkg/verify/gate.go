package verify

import (
	"context"
	"os"
	"path/filepath"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/bundle"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/report"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect"
)

// Gate compares what lies on disk with recorded evidence and judges that
// evidence again. It needs neither GPU nor toolkit.
func Gate(ctx context.Context, o Options) error {
	flag := o.Evidence
	o.Evidence = ""
	return with(ctx, o, func(ctx context.Context, w *work) error {
		path, err := findBundle(flag, w.manifest.Abs(w.manifest.Evidence.Dir))
		if err != nil {
			return w.unusable(err)
		}
		r, err := bundle.Read(path)
		if err != nil {
			return w.unusable(err)
		}
		w.record = r
		now := w.release(ctx, path)
		if ctx.Err() != nil {
			return notVerified("interrupted")
		}
		return w.conclude(judge.Gate(w.manifest, r, now), report.Options{Bundle: w.manifest.Rel(path), Recorded: true})
	})
}

// findBundle gives the bundle that the flag names, or the newest one of the
// evidence folder.
func findBundle(flag, dir string) (string, error) {
	if flag != "" {
		if _, err := os.Stat(filepath.Join(flag, bundle.RecordName)); err == nil {
			return flag, nil
		}
		dir = flag
	}
	return bundle.Newest(dir)
}

// unusable reports that there is no evidence to judge.
func (w *work) unusable(err error) error {
	return w.conclude(judge.Conclude([]judge.Finding{{
		ID:     "CP401",
		Fact:   "There is no evidence that can be used: " + err.Error() + ".",
		Action: "Run `mage verify` on a machine with the GPU, and bring its evidence folder here.",
	}}), report.Options{Part: "gate"})
}

// release reads what is on disk now of everything that the evidence is about.
func (w *work) release(ctx context.Context, path string) judge.Release {
	now := judge.Release{
		Artifacts: inspect.Artifacts(ctx, w.manifest, inspect.Options{}),
		Inputs:    map[string]string{},
		Libraries: map[string]string{},
		Logs:      bundle.CheckLogs(path, w.record),
	}
	for _, input := range w.record.Source.Inputs {
		now.Inputs[input.Path] = hashFile(ctx, w.manifest.Abs(input.Path))
	}
	for _, l := range w.record.Libraries {
		if filepath.IsAbs(l.Path) {
			continue // the system's, which may differ from machine to machine
		}
		now.Libraries[l.Path] = hashFile(ctx, w.manifest.Abs(l.Path))
	}
	return now
}

// hashFile gives a file's SHA-256, empty where there is no such regular file
// that can be read.
func hashFile(ctx context.Context, path string) string {
	if ctx.Err() != nil {
		return ""
	}
	sum, _, err := artifact.HashFile(path)
	if err != nil {
		return ""
	}
	return sum
}
