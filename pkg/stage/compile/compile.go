// Package compile does the manifest's builds and records how: the argument
// vectors really run, the variables that change nvcc, and the files read.
package compile

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/cudaproof/cudaproof/pkg/artifact/ar"
	"github.com/cudaproof/cudaproof/pkg/artifact/filemap"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage"
	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

// Run does the builds in their order and stops after one that failed. It gives
// one record per build of the manifest, also for those not started, and the
// sources and headers that nvcc read, sorted by path. What an external build
// reads is not known.
func Run(ctx context.Context, m *manifest.Manifest, p record.Probe, obs stage.Observer) (builds []record.Build, inputs []record.File) {
	r := &runner{m: m, probe: p, inputs: newInputs(m, p.Toolkit.NVCC), steps: newSteps(m, obs)}
	failed := ""
	for _, b := range m.Build {
		done := record.Build{Name: b.Name, Kind: string(b.Kind), Commands: []record.Command{}, Output: b.Output, Environment: tool.Variables(variables(b.Kind))}
		var err error
		switch {
		case failed != "":
			err = fmt.Errorf("not started, because build %s failed", failed)
		case ctx.Err() != nil:
			err = fmt.Errorf("not started: %w", ctx.Err())
		default:
			err = r.build(ctx, b, &done)
		}
		if err != nil {
			done.Problem = err.Error()
			done.Failed = errors.As(err, new(failure))
		}
		if done.Failed {
			failed = b.Name
		}
		builds = append(builds, done)
	}
	return builds, r.inputs.sorted()
}

// failure is the error of a build that was tried and failed; any other error
// means that it could not be tried.
type failure struct{ text string }

func (f failure) Error() string { return f.text }

func failf(format string, args ...any) error { return failure{fmt.Sprintf(format, args...)} }

// runner does builds one after the other.
type runner struct {
	m      *manifest.Manifest
	probe  record.Probe
	inputs *inputs
	steps  *steps
}

func (r *runner) build(ctx context.Context, b manifest.Build, done *record.Build) error {
	if b.Kind == manifest.External {
		return r.external(ctx, b, done)
	}
	if t := r.probe.Toolkit; t.NVCC == "" || t.Problem != "" {
		return fmt.Errorf("no usable CUDA toolkit: %s", t.Problem)
	}
	gencode, err := r.gencode(b, done)
	if err != nil {
		return err
	}
	if err := r.checkNames(b); err != nil {
		return err
	}
	if err := r.prepare(b); err != nil {
		return err
	}
	err = r.compileAndLink(ctx, plan(r.probe.Toolkit.NVCC, gencode, b), done)
	if err != nil {
		// What a failed build leaves must not be taken for its product.
		err = errors.Join(err, removeFile(r.m.Abs(b.Output)))
	}
	return err
}

func (r *runner) external(ctx context.Context, b manifest.Build, done *record.Build) error {
	r.steps.begin(b.Name)
	defer r.steps.end()
	return r.command(ctx, b.Command, b.Command[0], func(c record.Command) { done.Commands = append(done.Commands, c) })
}

// command runs one command of a build in the manifest's folder. what names it
// in the error.
func (r *runner) command(ctx context.Context, args []string, what string, keep func(record.Command)) error {
	result := tool.Run(ctx, tool.Command{Args: args, Dir: r.m.Dir})
	keep(record.Command{Args: args, Dir: ".", Exit: result.Exit, Output: result.Output})
	switch {
	case result.OK():
		return nil
	case ctx.Err() != nil || !result.Started:
		return fmt.Errorf("%s: %s", what, result.Failure())
	}
	return failf("%s failed: %s", what, result.Failure())
}

// These are the file names that nvcc does not take as names: it hands its
// commands to a shell, in which it quotes with " only (seen with 11.8), and it
// or the host compiler takes a leading - or @ for an option.
var (
	shell  = regexp.MustCompile("[\"$`\\\\\n]")
	option = regexp.MustCompile("^[-@]")
)

func (r *runner) checkNames(b manifest.Build) error {
	for _, name := range append([]string{b.Output}, b.Sources...) {
		if shell.MatchString(r.m.Abs(name)) || option.MatchString(name) {
			return failf("file name %q cannot be given to nvcc, which passes it through a shell: "+
				"rename what holds a quote, $, `, \\ or line feed, or begins with - or @", r.m.Abs(name))
		}
	}
	return nil
}

// prepare makes the folders and takes the old output away, so that it is
// neither added to (nvcc -lib) nor taken for the new one.
func (r *runner) prepare(b manifest.Build) error {
	if err := os.MkdirAll(r.m.Abs(ObjectFolder(b.Output)), 0o755); err != nil {
		return failf("folder for object files: %v", err)
	}
	return r.removeOutput(b.Output)
}

// removeOutput removes what an earlier build left. A file that no build makes
// is not touched: it may have been written by hand, and named by mistake.
func (r *runner) removeOutput(output string) error {
	f, err := filemap.OpenRegular(r.m.Abs(output), os.O_RDONLY)
	if err != nil {
		return removeFile(r.m.Abs(output))
	}
	defer f.Close()
	start := make([]byte, 8)
	n, err := io.ReadFull(f, start)
	product := n == 0 || bytes.HasPrefix(start, []byte(elf.ELFMAG)) || bytes.HasPrefix(start, []byte(ar.Magic)) || bytes.HasPrefix(start, []byte(ar.ThinMagic))
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return failf("old output: %v", err)
	}
	if !product {
		return failf("output %s exists and is no product of a build (neither ELF nor an archive), so it is not overwritten: correct output, or move the file away", output)
	}
	return removeFile(r.m.Abs(output))
}

func removeFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err == nil && info.IsDir():
		return failf("output %s is a folder: name a file, or remove it", path)
	case err == nil:
		err = os.Remove(path)
	}
	if err != nil {
		return failf("old output: %v", err)
	}
	return nil
}

// ObjectFolder is where the object files of an output go, a path of the
// manifest like the output.
func ObjectFolder(output string) string {
	return filepath.ToSlash(filepath.Join(filepath.Dir(output), "."+filepath.Base(output)+".objects"))
}
