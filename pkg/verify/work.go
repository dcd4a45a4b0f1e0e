package verify

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cudaproof/cudaproof/pkg/judge"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/report"
	"github.com/cudaproof/cudaproof/pkg/stage"
	"github.com/cudaproof/cudaproof/pkg/stage/compile"
	"github.com/cudaproof/cudaproof/pkg/stage/execute"
	"github.com/cudaproof/cudaproof/pkg/stage/execute/trace"
	"github.com/cudaproof/cudaproof/pkg/stage/inspect"
	"github.com/cudaproof/cudaproof/pkg/stage/probe"
)

// work is one target under way: what it was asked, and what it has recorded.
type work struct {
	options  Options
	manifest *manifest.Manifest
	record   *record.Record
	observe  stage.Observer
	quiet    func() // clears the progress bar before anything is printed
}

// with loads the manifest, does a target's work, and cleans up after it. The
// context ends on SIGINT, SIGTERM and SIGHUP; mage itself heeds SIGINT only.
func with(ctx context.Context, o Options, do func(context.Context, *work) error) error {
	o = o.withDefaults()
	if err := clearReports(o.Reports); err != nil {
		return err
	}
	m, err := loadManifest(o)
	if err != nil {
		return err
	}
	if o.Evidence != "" { // a flag is relative to where it was typed
		if m.Evidence.Dir, err = filepath.Abs(o.Evidence); err != nil {
			return notVerified("the evidence folder: %v", err)
		}
	}
	return withManifest(ctx, o, m, do)
}

func withManifest(ctx context.Context, o Options, m *manifest.Manifest, do func(context.Context, *work) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := untilMageEnds(ctx)
	defer cancel()
	observe, quiet := observer(o.Stderr)
	defer quiet()
	return do(ctx, &work{options: o, manifest: m, observe: observe, quiet: quiet, record: &record.Record{
		Format:   record.Format,
		Tool:     Version(),
		Project:  m.Project,
		Manifest: record.File{Path: m.Rel(m.Path), SHA256: m.SHA256, Size: m.Size},
		Volatile: record.Volatile{Started: time.Now().UTC()},
	}})
}

func loadManifest(o Options) (*manifest.Manifest, error) {
	m, err := manifest.Load(o.manifestPath())
	if err != nil {
		return nil, &ExitError{ExitManifest, "cudaproof: the manifest is wrong:\n" + err.Error()}
	}
	return m, nil
}

// lock waits until no other target builds or runs in the project.
func (w *work) lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = lockProject(ctx, w.manifest.Dir, func() {
		logger(w.options.Stderr).Info("waiting: another cudaproof target is at work in this project")
	})
	if err != nil {
		return nil, notVerified("the project folder could not be locked: %v", err)
	}
	return unlock, nil
}

// conclude reports a judgement and gives the error that ends the target.
// Everything is written before the exit code is decided.
func (w *work) conclude(result judge.Result, o report.Options) error {
	w.quiet()
	o.Style, o.Matrix = style(w.options.Stderr), judge.Matrix(w.manifest, w.record)
	err := report.Text(w.options.Stderr, w.record, result, o)
	if w.options.JSON {
		err = errors.Join(err, report.JSON(w.options.Stdout, w.record, result, o))
	}
	err = errors.Join(err, w.reports(result, o))
	if err != nil {
		return notVerified("the report could not be written: %v", err)
	}
	return exit(result.Verdict)
}

func (w *work) probe(ctx context.Context) {
	w.record.Probe = probe.Run(ctx, probe.Options{NVCC: w.manifest.NVCC(), Observer: w.observe})
}

func (w *work) compile(ctx context.Context) (inputs []record.File) {
	w.record.Builds, inputs = compile.Run(ctx, w.manifest, w.record.Probe, w.observe)
	return inputs
}

func (w *work) inspect(ctx context.Context, crossCheck bool) {
	w.record.Artifacts = inspect.Artifacts(ctx, w.manifest, w.inspection(crossCheck))
}

func (w *work) libraries(ctx context.Context) {
	w.record.Libraries, w.record.Duplicates = inspect.Libraries(ctx, w.manifest, w.record.Artifacts, w.record.Runs, w.inspection(false))
}

// inspection looks for cuobjdump beside the manifest's nvcc.
func (w *work) inspection(crossCheck bool) inspect.Options {
	o := inspect.Options{CrossCheck: crossCheck, Observer: w.observe}
	if nvcc, err := probe.FindNVCC(w.manifest.NVCC()); err == nil {
		o.NVCC = nvcc
	}
	return o
}

func (w *work) execute(ctx context.Context, dir string) {
	library, noTrace := trace.Library{}, ""
	if len(w.record.Probe.Devices) > 0 {
		var err error
		if library, err = trace.Build(ctx, w.record.Probe.Toolkit); err != nil {
			library, noTrace = trace.Library{}, "there is no trace library: "+err.Error()
		}
	}
	w.record.Runs, w.record.Volatile.Seconds = execute.Run(ctx, w.manifest, execute.Options{
		Trace:     library,
		NoTrace:   noTrace,
		Devices:   w.record.Probe.Devices,
		Artifacts: w.record.Artifacts,
		BundleDir: dir,
		Observer:  w.observe,
	})
	inspect.Rehash(w.manifest, w.record.Artifacts)
}
