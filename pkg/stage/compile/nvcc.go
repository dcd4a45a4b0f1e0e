package compile

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// compileAndLink runs the commands of a build and records what it read.
func (r *runner) compileAndLink(ctx context.Context, c commands, done *record.Build) error {
	before, err := r.inputs.snapshot(c.units)
	if err != nil {
		return err
	}
	if err := r.compileAll(ctx, c.units, done); err != nil {
		return err
	}
	r.steps.begin(c.output)
	defer r.steps.end()
	err = r.command(ctx, c.link, "nvcc linking "+c.output, func(c record.Command) { done.Commands = append(done.Commands, c) })
	if err != nil {
		return err
	}
	if err := r.written(c.output); err != nil {
		return err
	}
	return r.inputs.add(c.units, before)
}

// compileAll compiles the sources in parallel. After a failure no further one
// is started; the commands run are recorded in the order of the sources, and
// the first error in that order is given.
func (r *runner) compileAll(ctx context.Context, units []unit, done *record.Build) error {
	ran := make([]*record.Command, len(units))
	errs := make([]error, len(units))
	var next atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(units)) {
		wg.Go(func() {
			for !stop.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				errs[i] = r.compileOne(ctx, units[i], func(c record.Command) { ran[i] = &c })
				if errs[i] != nil {
					stop.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, c := range ran {
		if c != nil {
			done.Commands = append(done.Commands, *c)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) compileOne(ctx context.Context, u unit, keep func(record.Command)) error {
	r.steps.begin(u.source)
	defer r.steps.end()
	for _, old := range []string{u.object, u.deps} {
		if err := removeFile(r.m.Abs(old)); err != nil {
			return err
		}
	}
	if err := r.command(ctx, u.args, "nvcc compiling "+u.source, keep); err != nil {
		return err
	}
	return r.written(u.object)
}

// written checks that nvcc wrote a file: its exit code alone proves nothing.
func (r *runner) written(name string) error {
	info, err := os.Stat(r.m.Abs(name))
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return failf("nvcc ended with exit code 0 but did not write %s", name)
	}
	return nil
}
