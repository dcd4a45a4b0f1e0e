// Package inspect reads final files and the shared libraries that they need or
// that runs loaded, and compares its reading with cuobjdump's.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/linkage"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage"
)

// Options say how to inspect.
type Options struct {
	// CrossCheck compares each file with what cuobjdump lists.
	CrossCheck bool
	// Digests gives each image's SHA-256 after decoding. [Artifacts] always does:
	// the evidence names images by it.
	Digests bool
	// NVCC is the compiler beside which cuobjdump is looked for first.
	NVCC string
	// Observer is told of each file that is done.
	Observer stage.Observer
}

// Files inspects files without a manifest. The record names them as paths does,
// in that order.
func Files(ctx context.Context, paths []string, o Options) []record.Artifact {
	artifacts := make([]record.Artifact, len(paths))
	for n, path := range paths {
		artifacts[n].Pattern, artifacts[n].Path = path, path
	}
	here := func(path string) string { return path }
	inspectAll(ctx, artifacts, place{"", here, here}, o)
	return artifacts
}

// Artifacts inspects the files that the manifest's artifacts name, in the
// manifest's order and sorted within a pattern. A pattern that names no file
// gives one artifact whose Problem says so.
func Artifacts(ctx context.Context, m *manifest.Manifest, o Options) []record.Artifact {
	var artifacts []record.Artifact
	for _, a := range m.Artifacts {
		paths, err := m.Files(a.Path)
		if err == nil && len(paths) == 0 {
			err = fmt.Errorf("no such file: nothing matches %s", a.Path)
		}
		if err != nil {
			artifacts = append(artifacts, record.Artifact{
				Pattern: a.Path,
				File:    artifact.File{Path: a.Path, Format: artifact.Unknown, Problem: err.Error()},
			})
		}
		for _, path := range paths {
			artifacts = append(artifacts, record.Artifact{Pattern: a.Path, File: artifact.File{Path: path}})
		}
	}
	o.Digests = true
	inspectAll(ctx, artifacts, place{m.Dir, m.Abs, m.Rel}, o)
	return artifacts
}

// place says where the record's paths lead.
type place struct {
	dir  string              // the working folder of the programs; empty: ours
	find func(string) string // the file of a path of the record
	name func(string) string // the path that the record gives a file
}

// inspectAll fills the artifacts that have no problem yet.
func inspectAll(ctx context.Context, artifacts []record.Artifact, p place, o Options) {
	var c checker
	if o.CrossCheck {
		c = newChecker(ctx, o.NVCC)
	}
	paths := make([]string, len(artifacts)) // while they are worked on
	for n, a := range artifacts {
		paths[n] = a.Path
	}
	each(len(artifacts), o.Observer, func(n int) string { return paths[n] }, func(n int) {
		a := &artifacts[n]
		if a.Problem != "" {
			return
		}
		a.File = open(ctx, p.find(a.Path), a.Path, devicecode.Options{Digests: o.Digests})
		if a.SHA256 == "" {
			return // it could not be opened
		}
		resolve(a, p)
		if o.CrossCheck {
			a.CrossCheck = c.check(ctx, p.find(a.Path), a.File)
		}
	})
}

// open reads a file and gives it the record's path.
func open(ctx context.Context, path, name string, o devicecode.Options) artifact.File {
	if err := ctx.Err(); err != nil {
		return artifact.File{Path: name, Format: artifact.Unknown, Problem: problem(err)}
	}
	f, err := artifact.Open(path, o)
	f.Path = name
	if err != nil {
		f.Format, f.Problem = artifact.Unknown, problem(err)
	}
	return f
}

// problem says why a file was not read, without its path, which the record
// gives in its own way.
func problem(err error) string {
	var withPath *fs.PathError
	if errors.As(err, &withPath) {
		err = withPath.Err
	}
	return err.Error()
}

// resolve finds the shared libraries of a dynamically linked file.
func resolve(a *record.Artifact, p place) {
	if a.IsArchive() || len(a.Objects) != 1 || a.Objects[0].Dynamic == nil {
		return
	}
	env := linkage.CurrentEnvironment()
	env.Dir = p.dir
	dependencies, err := linkage.Resolve(p.find(a.Path), env)
	if err != nil {
		a.LinkageProblem = err.Error()
	}
	for n, d := range dependencies {
		dependencies[n].NeededBy = p.name(d.NeededBy)
		if d.Path != "" {
			dependencies[n].Path = p.name(d.Path)
		}
	}
	a.Dependencies = dependencies
}

// each calls work for 0 to n-1, as many at once as there are processors. The
// observer is told the name of what is done, and meanwhile of what was begun
// last.
func each(n int, o stage.Observer, name func(int) string, work func(int)) {
	var (
		workers           sync.WaitGroup
		next, done, begun atomic.Int64
	)
	tell := func(i int, underway bool) {
		o.Tell(stage.Event{Stage: "inspect", What: name(i), Done: int(done.Load()), Total: n, Underway: underway})
	}
	stop := ticking(o, func() { tell(int(begun.Load()), true) })
	defer stop()
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				begun.Store(int64(i))
				work(i)
				done.Add(1)
				tell(i, false)
			}
		})
	}
	workers.Wait()
}

// tick is how often the observer is told what goes on.
const tick = 200 * time.Millisecond

// ticking calls do from time to time until it is stopped.
func ticking(o stage.Observer, do func()) (stop func()) {
	if o == nil {
		return func() {}
	}
	t, stopped, ended := time.NewTicker(tick), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stopped:
				return
			case <-t.C:
				do()
			}
		}
	}()
	return func() {
		t.Stop()
		close(stopped)
		<-ended
	}
}

// realPath follows the symbolic links of a path as far as it leads.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
