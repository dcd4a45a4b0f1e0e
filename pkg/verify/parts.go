package verify

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/report"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect"
)

// Probe looks at the machine. Where no manifest is named and there is none, it
// needs none: nvcc is then the one of CUDA_HOME or PATH.
func Probe(ctx context.Context, o Options) error {
	_, err := os.Stat(o.manifestPath())
	if errors.Is(err, fs.ErrNotExist) && o.manifestPath() == defaultManifest {
		none := &manifest.Manifest{Require: manifest.Require{PresentDevices: true}}
		return withManifest(ctx, o.withDefaults(), none, probeOnly)
	}
	return with(ctx, o, probeOnly)
}

func probeOnly(ctx context.Context, w *work) error {
	w.probe(ctx)
	return w.part(ctx, "probe", judge.Machine)
}

// Compile runs the manifest's builds.
func Compile(ctx context.Context, o Options) error {
	return with(ctx, o, func(ctx context.Context, w *work) error {
		unlock, err := w.lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		w.probe(ctx)
		w.compile(ctx)
		return w.part(ctx, "compile", judge.Toolkit, judge.Builds)
	})
}

// Inspect reads the manifest's artifacts and the libraries they need.
func Inspect(ctx context.Context, o Options, crossCheck bool) error {
	return with(ctx, o, func(ctx context.Context, w *work) error {
		w.inspect(ctx, crossCheck)
		w.libraries(ctx)
		return w.part(ctx, "inspect", judge.Files, judge.Coverage, judge.Libraries)
	})
}

// Execute runs the entry points on what is built already. Its logs are not
// kept.
func Execute(ctx context.Context, o Options) error {
	return with(ctx, o, func(ctx context.Context, w *work) error {
		unlock, err := w.lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		dir, err := os.MkdirTemp("", "cudaproof-execute-")
		if err != nil {
			return notVerified("no folder for the logs: %v", err)
		}
		defer os.RemoveAll(dir)
		w.probe(ctx)
		w.inspect(ctx, false)
		w.execute(ctx, dir)
		return w.part(ctx, "execute", judge.Devices, judge.Files, judge.Runs)
	})
}

// part concludes a target that does one part, prints, and keeps nothing.
func (w *work) part(ctx context.Context, name string, families ...judge.Family) error {
	if ctx.Err() != nil {
		return notVerified("interrupted")
	}
	return w.conclude(judge.Judge(w.manifest, w.record, families...), report.Options{Part: name})
}

// Look reads the files that a path or glob names, without a manifest. With full,
// each image has the SHA-256 of its decoded bytes.
func Look(ctx context.Context, o Options, path string, crossCheck, kernels, full bool) error {
	paths, members, err := glob(path)
	if err != nil {
		return &ExitError{ExitFailed, "cudaproof: " + err.Error()}
	}
	return withManifest(ctx, o.withDefaults(), &manifest.Manifest{}, func(ctx context.Context, w *work) error {
		o := w.inspection(crossCheck)
		o.Digests = full
		files := inspect.Files(ctx, paths, o)
		if ctx.Err() != nil {
			return notVerified("interrupted")
		}
		if members != "" {
			for n := range files {
				if err := inspect.Only(&files[n], members); err != nil {
					return &ExitError{ExitFailed, "cudaproof: " + err.Error()}
				}
			}
		}
		w.quiet()
		if w.options.JSON {
			err = report.Value(w.options.Stdout, files)
		} else {
			err = report.Files(w.options.Stdout, files, kernels, style(w.options.Stdout))
		}
		w.record.Artifacts = files
		result := judge.Judge(w.manifest, w.record, judge.Files)
		err = errors.Join(err, report.Findings(w.options.Stderr, errorsOf(result), style(w.options.Stderr)))
		if err != nil {
			return notVerified("the report could not be written: %v", err)
		}
		return exit(result.Verdict)
	})
}

// errorsOf gives the findings that decide the exit code; the rest shows in the
// list of files.
func errorsOf(result judge.Result) []judge.Finding {
	return slices.DeleteFunc(slices.Clone(result.Findings), func(f judge.Finding) bool { return f.Severity != judge.Error })
}
