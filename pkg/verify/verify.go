package verify

import (
	"context"
	"slices"
	"time"

	"github.com/cudaproof/cudaproof/pkg/bundle"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/report"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect"
	"github.com/cudaproof/cudaproof/pkg/stage/source"
)

// Verify does everything: probe, compile, inspect, execute, judge, write the
// bundle, report. The error is an [*ExitError] with the exit code.
func Verify(ctx context.Context, o Options) error {
	return with(ctx, o, verify)
}

func verify(ctx context.Context, w *work) error {
	unlock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	writer, err := bundle.Begin(w.manifest.Abs(w.manifest.Evidence.Dir))
	if err != nil {
		return notVerified("the evidence folder cannot be used: %v", err)
	}
	defer writer.Abort()

	w.probe(ctx)
	inputs := w.compile(ctx)
	if !slices.ContainsFunc(w.record.Builds, func(b record.Build) bool { return b.Failed }) {
		w.inspect(ctx, true)
		inspect.Assemble(ctx, w.manifest, w.record.Artifacts, w.record.Probe.Capabilities(), w.inspection(false))
		w.execute(ctx, writer.Dir())
		w.libraries(ctx)
	}
	w.record.Source = source.Identify(ctx, w.manifest, inputs)
	if ctx.Err() != nil {
		return notVerified("interrupted; no evidence was written")
	}
	w.record.Volatile.Finished = time.Now().UTC()
	path, err := writer.Commit(w.record)
	if err != nil {
		return notVerified("the evidence could not be written: %v", err)
	}
	return w.conclude(judge.Verified(w.manifest, w.record, bundle.CheckLogs(path, w.record)), report.Options{Bundle: w.manifest.Rel(path)})
}
