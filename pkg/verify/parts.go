package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
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
		inspect.Assemble(ctx, w.manifest, w.record.Artifacts, nil, w.inspection(false))
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

// LookOptions say what to look for in files without a manifest.
type LookOptions struct {
	CrossCheck bool   // compare with cuobjdump
	Kernels    bool   // list them
	Full       bool   // give the SHA-256 of each image's decoded bytes
	Devices    string // capabilities, "8.6,9.0", or "all": say what they take for each kernel
	Driver     string // with that driver: a CUDA version or a driver's; empty: one that is new enough
}

// looked is the JSON of [Look] where devices are asked about.
type looked struct {
	Files  []record.Artifact `json:"files"`
	Matrix *coverage.Matrix  `json:"matrix"`
}

// Look reads the files that a path or glob names, without a manifest.
func Look(ctx context.Context, o Options, path string, look LookOptions) error {
	paths, members, err := glob(path)
	if err != nil {
		return &ExitError{ExitFailed, "cudaproof: " + err.Error()}
	}
	matrix, err := look.matrix()
	if err != nil {
		return &ExitError{ExitManifest, "cudaproof: " + err.Error()}
	}
	return withManifest(ctx, o.withDefaults(), &manifest.Manifest{}, func(ctx context.Context, w *work) error {
		o := w.inspection(look.CrossCheck)
		o.Digests = look.Full
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
		if matrix != nil {
			for _, f := range files {
				matrix.AddFile(f.File)
			}
			matrix.Sort()
		}
		switch {
		case w.options.JSON && matrix != nil:
			err = report.Value(w.options.Stdout, looked{files, matrix})
		case w.options.JSON:
			err = report.Value(w.options.Stdout, files)
		default:
			err = report.Files(w.options.Stdout, files, look.Kernels, style(w.options.Stdout))
			if matrix != nil {
				err = errors.Join(err, report.Matrix(w.options.Stdout, matrix, style(w.options.Stdout)))
			}
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

// matrix begins the matrix of the devices asked about, nil for none.
func (l LookOptions) matrix() (*coverage.Matrix, error) {
	var driver arch.Driver
	if l.Driver != "" {
		var err error
		if driver, err = arch.ParseDriver(l.Driver); err != nil {
			return nil, err
		}
	}
	switch l.Devices {
	case "":
		if l.Driver != "" {
			return nil, errors.New("-driver says nothing without -devices: add -devices=9.0,12.1 or -devices=all")
		}
		return nil, nil
	case "all":
		return coverage.NewMatrix(arch.Known(), driver), nil
	}
	var devices []arch.Capability
	for s := range strings.SplitSeq(l.Devices, ",") {
		c, err := arch.ParseCapability(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("-devices: %w", err)
		}
		if slices.Contains(devices, c) {
			return nil, fmt.Errorf("-devices: %s is there twice", c)
		}
		devices = append(devices, c)
	}
	return coverage.NewMatrix(devices, driver), nil
}

// errorsOf gives the findings that decide the exit code; the rest shows in the
// list of files.
func errorsOf(result judge.Result) []judge.Finding {
	return slices.DeleteFunc(slices.Clone(result.Findings), func(f judge.Finding) bool { return f.Severity != judge.Error })
}
