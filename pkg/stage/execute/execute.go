// Package execute runs the entry points of a manifest: each in every mode and
// on every device, one after another, each time in a fresh process whose
// variables, cache folder and logs are its own.
//
// It needs Linux with /proc.
package execute

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage"
	"github.com/cudaproof/cudaproof/pkg/stage/execute/trace"
)

// Options says what to run on and where the logs go.
type Options struct {
	Devices []record.Device
	// Artifacts are the files to recognise in the processes; paths are absolute
	// or relative to the manifest's folder.
	Artifacts []record.Artifact
	// BundleDir is the evidence folder in the making. Each run gets
	// runs/<entry point>-<mode>-<device index>/ in it.
	BundleDir string
	// Trace is the library that shows what the processes do with CUDA; NoTrace
	// says why there is none.
	Trace    trace.Library
	NoTrace  string
	Observer stage.Observer
}

// Run runs every entry point of the manifest and gives one record for each
// entry point, mode and group of devices, in that order, and how many seconds each
// took by Run.ID. What cannot be started is a record too, and so is every run that
// was not begun because the context ended. An entry point that uses the GPU is
// not run where there are too few devices for it.
//
// A program that runs over its time is ended with SIGKILL, and so is whatever
// it leaves behind: Run makes this process the one that orphans come back to
// (prctl(2), PR_SET_CHILD_SUBREAPER) and, when the program has ended, ends all
// new children of this process that are in another session. A caller that
// starts daemons beside Run would lose them. Several Runs in one process take
// turns.
func Run(ctx context.Context, m *manifest.Manifest, o Options) ([]record.Run, map[string]float64) {
	var runs []record.Run
	seconds := map[string]float64{}
	total := 0
	for _, e := range m.EntryPoints {
		total += len(e.Modes) * len(o.groups(e))
	}
	x := executor{Options: o, manifest: m}
	for _, e := range m.EntryPoints {
		groups := o.groups(e)
		same := make([]*sameOutputs, len(groups))
		for _, mode := range e.Modes {
			for n, devices := range groups {
				r := record.Run{EntryPoint: e.Name, Mode: string(mode), Checks: []record.Check{}}
				for _, d := range devices {
					r.Devices = append(r.Devices, d.UUID)
				}
				r.ID = strings.Join(append([]string{e.Name, r.Mode}, r.Devices...), "/")
				o.Observer.Tell(stage.Event{Stage: "execute", What: r.ID, Done: len(runs), Total: total})
				seconds[r.ID] = 0 // until it is started
				x.run(ctx, e, mode, devices, &r, seconds)
				if same[n] == nil {
					same[n] = &sameOutputs{manifest: m, dir: o.BundleDir}
				}
				r.Comparisons = same[n].compare(e, r)
				runs = append(runs, r)
			}
		}
		for _, s := range same {
			s.clean()
		}
	}
	return runs, seconds
}

// groups gives the devices of each run of an entry point.
func (o Options) groups(e manifest.EntryPoint) [][]record.Device {
	return manifest.Groups(e, o.Devices, func(d record.Device) arch.Capability { return d.Capability })
}

type executor struct {
	Options
	manifest *manifest.Manifest
}

// run fills the record of one run, and says how long it took.
func (x *executor) run(ctx context.Context, e manifest.EntryPoint, mode manifest.Mode, devices []record.Device, r *record.Run, seconds map[string]float64) {
	r.Command = e.Command
	if ctx.Err() != nil {
		r.NotStarted = "the verification was stopped before this run"
		r.Exit.Interrupted = true
		return
	}
	program, err := x.program(e)
	if err != nil {
		r.NotStarted = err.Error()
		return
	}
	r.Command = append([]string{x.manifest.Rel(program)}, e.Command[1:]...)
	f, err := newFolder(x.BundleDir, folderName(e, mode, devices))
	if err != nil {
		r.NotStarted = "evidence folder: " + err.Error()
		return
	}
	defer f.clean()

	env := environment{mode: mode, folder: f, trace: x.Trace}
	if e.NoTrace != "" {
		env.trace = trace.Library{}
	}
	if len(devices) < len(x.Devices) {
		env.devices = strings.Join(r.Devices, ",")
	}
	var variables []string
	variables, r.Environment, r.Removed = env.apply(os.Environ())

	command := func(variables []string) *exec.Cmd {
		cmd := exec.Command(program, e.Command[1:]...)
		cmd.Dir, cmd.Env = x.manifest.Dir, variables
		return cmd
	}
	seconds[r.ID] = x.observe(ctx, command(variables), e, f, r)
	if mode == manifest.AsShippedMode && allOK(r.Checks) && e.NoGPU == "" {
		var took float64
		if r.Warm, took = warmRun(ctx, command(env.warm(variables)), e, f); r.Warm != nil {
			seconds[r.ID+"/warm"] = took
		}
	}
}

// folderName names a run's folder: entry point, mode, and the devices' numbers.
func folderName(e manifest.EntryPoint, mode manifest.Mode, devices []record.Device) string {
	name := e.Name + "-" + string(mode)
	for _, d := range devices {
		name += fmt.Sprintf("-%d", d.Index)
	}
	return name
}

// observe runs the command, fills in all that it did, and says how many seconds
// the program took.
func (x *executor) observe(ctx context.Context, cmd *exec.Cmd, e manifest.EntryPoint, f folder, r *record.Run) float64 {
	stdout, stderr := newStream(f.path("stdout.txt"), e.Expect.Stdout), newStream(f.path("stderr.txt"), nil)
	files := watch(x.manifest, e.Expect)
	begun := time.Now()
	end, err := runWithOutput(ctx, cmd, e.Timeout, stdout, stderr)
	took := time.Since(begun).Seconds()
	if err != nil {
		r.NotStarted = startProblem(cmd.Path, err)
		return took
	}
	r.Exit, r.Leftover = end.exit, end.leftover
	r.Stdout, r.Stderr = stdout.log(f), stderr.log(f)
	r.Trace = x.traced(e, f)
	r.DriverErrors, r.DriverLog = f.driverLog()
	if len(r.DriverErrors) == 0 { // drivers before 580 write no log
		r.DriverErrors = tracedErrors(r.Trace)
	}
	if len(r.DriverErrors) == 0 {
		r.DriverErrors = append(printedErrors(stdout.path, "stdout"), printedErrors(stderr.path, "stderr")...)
	}
	r.Checks = append(r.Checks, exitCheck(e.Expect.Exit, e.Timeout, r.Exit))
	r.Checks = append(r.Checks, stdout.checks()...)
	r.Checks = append(r.Checks, files.checks()...)
	var checks []record.Check
	r.Outputs, checks = files.outputs()
	r.Checks = append(r.Checks, checks...)
	r.Processes, r.LoaderProblem = x.processes(f)
	r.Processes = x.join(r.Processes, r.Trace.Processes)
	r.CacheFiles = f.cacheFiles()
	return took
}

// traced gives the trace of a run, or why there is none.
func (x *executor) traced(e manifest.EntryPoint, f folder) record.Trace {
	switch {
	case e.NoTrace != "":
		return record.Trace{Problem: "left out by the manifest: " + e.NoTrace}
	case x.Trace.Path == "":
		return record.Trace{Problem: x.NoTrace}
	}
	t := trace.ReadFolder(f.path("trace"))
	for n := range t.Processes {
		x.rename(&t.Processes[n], f)
	}
	return t
}

// rename gives a traced process the record's names. [executor.join] does that for
// its paths.
func (x *executor) rename(p *record.TracedProcess, f folder) {
	for name, value := range p.Variables {
		p.Variables[name] = f.named(value)
	}
}

// program gives the absolute path of an entry point's program.
func (x *executor) program(e manifest.EntryPoint) (string, error) {
	name := e.Command[0]
	if filepath.Base(name) == name {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%s: not found in PATH: install it, or write a path with a slash for a file of the project", name)
		}
		return filepath.Abs(path)
	}
	path := x.manifest.Abs(name)
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return "", fmt.Errorf("%s: no such file: build it, or correct the command of entry point %s", name, e.Name)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s: not a regular file: correct the command of entry point %s", name, e.Name)
	}
	return path, nil
}
