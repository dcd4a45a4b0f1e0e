package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// Runs checks that every entry point ran in every mode on every device,
// that each run is one that its mode describes, and that it passed.
func Runs(m *manifest.Manifest, r *record.Record) []Finding {
	var found []Finding
	if buildFailed(r) {
		return nil // nothing was run, and the build says why
	}
	if len(m.EntryPoints) == 0 {
		found = append(found, Finding{
			ID:     "CP213",
			Fact:   "The manifest has no entry points, so nothing was run.",
			Action: "Add a command that exercises the artifact under entry_points.",
		})
	}
	for _, e := range m.EntryPoints {
		found = append(found, leftOut(e)...)
		for _, d := range r.Probe.Devices {
			found = append(found, judgeEntryPoint(r, e, d)...)
		}
		if len(r.Probe.Devices) == 0 {
			found = append(found, Finding{
				ID: "CP213", EntryPoint: e.Name,
				Fact:   "The entry point was not run: there is no device.",
				Action: "Run `mage verify` on a machine with the GPU.",
			})
		}
	}
	if len(r.Runs) > 0 {
		found = append(found, neverLoaded(m, r)...)
	}
	return found
}

// leftOut names the modes that the manifest does not run, with its reason.
func leftOut(e manifest.EntryPoint) []Finding {
	var found []Finding
	for _, mode := range manifest.AllModes {
		if !slices.Contains(e.Modes, mode) {
			found = append(found, Finding{
				ID: "CP216", EntryPoint: e.Name, Mode: string(mode),
				Fact: fmt.Sprintf("The mode is left out of the verification: %s.", e.ModesReason),
			})
		}
	}
	return found
}

// judgeEntryPoint judges the runs of one entry point on one device.
func judgeEntryPoint(r *record.Record, e manifest.EntryPoint, d record.Device) []Finding {
	var found []Finding
	runs := map[manifest.Mode]record.Run{}
	about := func(id string, mode manifest.Mode, f Finding) {
		f.ID, f.EntryPoint, f.Device, f.Mode = id, e.Name, deviceName(d), string(mode)
		found = append(found, f)
	}
	for _, mode := range e.Modes {
		i := slices.IndexFunc(r.Runs, func(run record.Run) bool {
			return run.EntryPoint == e.Name && run.Mode == string(mode) && run.Device == d.UUID
		})
		if i < 0 {
			about("CP213", mode, Finding{
				Fact:   "The record holds no such run.",
				Action: "Run `mage verify` to its end on this device.",
			})
			continue
		}
		run := r.Runs[i]
		if code, found := environmentError(e, run); found {
			about("CP210", mode, Finding{
				Fact:   fmt.Sprintf("The run ended with %s, and %s.", exitOf(run), returned(code)),
				Cause:  "Driver, driver library and device do not fit together: " + meaning(code.Code) + ".",
				Action: "Correct the driver installation or library path (libcuda" + libcudaPath(run) + "), and run again.",
			})
			continue
		}
		if run.Exit.Interrupted {
			about("CP213", mode, Finding{Fact: "The run was interrupted.", Action: "Run `mage verify` to its end."})
			continue
		}
		runs[mode] = run
		observe(e, run, mode, about)
	}
	sight{r, e, d}.outcomes(runs, about)
	return found
}

// observe adds what is to be said of one run apart from its outcome.
func observe(entry manifest.EntryPoint, run record.Run, mode manifest.Mode, about func(string, manifest.Mode, Finding)) {
	if run.Leftover > 0 {
		about("CP215", mode, Finding{
			Fact:   fmt.Sprintf("%d processes outlived the program and were killed.", run.Leftover),
			Action: "Let the entry point wait for its children.",
		})
	}
	if n := run.Stdout.Dropped + run.Stderr.Dropped; n > 0 {
		about("CP217", mode, Finding{Fact: fmt.Sprintf("%d bytes of output were not kept; lines were checked over all of it.", n)})
	}
	if !passed(entry, run) {
		return
	}
	if e, failed := firstError(run, faults); failed {
		about("CP209", mode, Finding{
			Fact:   fmt.Sprintf("The program ended as expected, but %s.", returned(e)),
			Cause:  "A kernel failed and the program did not look: " + meaning(e.Code) + ".",
			Action: "Check every CUDA call and launch (cudaGetLastError, cudaDeviceSynchronize).",
		})
		return
	}
	if e, refused := firstError(run, refusals); refused {
		about("CP209", mode, Finding{
			Fact:   fmt.Sprintf("The program ended as expected, but %s.", returned(e)),
			Cause:  "A launch or load failed and the program did not look: " + meaning(e.Code) + ".",
			Action: "Check every CUDA call and launch (cudaGetLastError), and give the device an image for every kernel.",
		})
		return // what was loaded meanwhile says nothing more
	}
	using := slices.IndexFunc(run.Processes, usesArtifact)
	if using < 0 {
		about("CP206", mode, Finding{
			Fact:   "The run passed, but " + notSeen(run) + ".",
			Cause:  "The program does not use the GPU, is linked statically, or a wrapper (env -i, sudo, a container) dropped the variables, so nothing shows that the mode was in force.",
			Action: "Run the artifact itself as the entry point, without a wrapper that clears the environment.",
		})
		return
	}
	jit := slices.ContainsFunc(run.Processes, func(p record.Process) bool { return usesArtifact(p) && p.JITCompiler })
	switch {
	case mode == manifest.PTXMode && !jit:
		about("CP207", mode, Finding{
			Fact:   "The run passed, but no process that used the artifact loaded libnvidia-ptxjitcompiler.",
			Cause:  "The program reset the variables, launched no kernel, or loads bare cubins, which CUDA_FORCE_PTX_JIT does not touch.",
			Action: "Let the entry point launch kernels from the artifact's PTX.",
		})
	case mode == manifest.NativeMode && jit:
		about("CP208", mode, Finding{
			Fact:   "The run passed with CUDA_DISABLE_PTX_JIT=1, but libnvidia-ptxjitcompiler was loaded.",
			Cause:  "Relocatable code was linked by the driver at load time, or the program reset the variables.",
			Action: "Link the device code at build time, with the -gencode options of the compile step.",
		})
	case mode == manifest.AsShippedMode && jit && run.CacheFiles > 0:
		about("CP205", mode, Finding{
			Fact:   fmt.Sprintf("As shipped, the driver compiled PTX at start: its JIT compiler was loaded and the empty cache got %d files.", run.CacheFiles),
			Cause:  "There is no machine code for this device, so every first start compiles, silently.",
			Action: "Compile and link with -gencode for this device's capability.",
		})
	}
}

func usesArtifact(p record.Process) bool { return p.Libcuda != "" && len(p.Artifacts) > 0 }

// notSeen says what was missing for a process to count.
func notSeen(run record.Run) string {
	if run.LoaderProblem != "" {
		return "the loader's record is missing: " + run.LoaderProblem
	}
	var cuda, mapped bool
	for _, p := range run.Processes {
		cuda = cuda || p.Libcuda != ""
		mapped = mapped || len(p.Artifacts) > 0
	}
	switch {
	case !cuda && !mapped:
		return "no process was seen that loads libcuda or maps an artifact"
	case !cuda:
		return "no process was seen that loads libcuda"
	case !mapped:
		return "no process was seen that maps an artifact"
	}
	return "no one process was seen that both loads libcuda and maps an artifact"
}

// neverLoaded names the artifacts that no run proves anything about: in every
// mode of the entry points that use it, a process must have loaded it together
// with the driver.
func neverLoaded(m *manifest.Manifest, r *record.Record) []Finding {
	var found []Finding
	for _, a := range r.Artifacts {
		if a.Format != artifact.Executable && a.Format != artifact.SharedLibrary {
			continue
		}
		users := slices.DeleteFunc(slices.Clone(m.EntryPoints), func(e manifest.EntryPoint) bool {
			return !slices.ContainsFunc(r.Runs, func(run record.Run) bool { return run.EntryPoint == e.Name && loaded(run, a.Path) })
		})
		if len(users) == 0 {
			found = append(found, Finding{
				ID: "CP214", Artifact: a.Path,
				Fact:   "No process of a run was seen to load the file together with libcuda, so the runs say nothing about it.",
				Cause:  "No entry point uses it, or the program that does could not be followed.",
				Action: "Add an entry point that uses it.",
			})
		}
		for _, e := range users {
			for _, run := range r.Runs {
				attributed := slices.ContainsFunc(run.Processes, usesArtifact) // else CP206 says so
				if run.EntryPoint == e.Name && passed(e, run) && attributed && !loaded(run, a.Path) {
					found = append(found, Finding{
						ID: "CP214", Artifact: a.Path, EntryPoint: e.Name, Mode: run.Mode, Device: run.Device,
						Fact:   "The entry point loads the file together with libcuda in another of its runs, but not in this one.",
						Cause:  "The program takes another path in this mode, so this run says nothing about the file.",
						Action: "Let the entry point do the same in every mode.",
					})
				}
			}
		}
	}
	return found
}

// loaded reports whether a process of the run loaded the artifact together with
// the driver.
func loaded(run record.Run, path string) bool {
	return slices.ContainsFunc(run.Processes, func(p record.Process) bool { return usesArtifact(p) && slices.Contains(p.Artifacts, path) })
}

// passed reports whether a run ended as the manifest expects. What the record
// says of itself is not taken: each expectation of the manifest needs a check
// that was met.
func passed(e manifest.EntryPoint, run record.Run) bool {
	if run.NotStarted != "" || run.Exit != (record.Exit{Code: e.Expect.Exit}) {
		return false
	}
	want := []record.Check{{What: "exit code", Want: fmt.Sprint(e.Expect.Exit)}}
	for _, line := range e.Expect.Stdout {
		want = append(want, record.Check{What: "stdout line", Want: line})
	}
	for output := range e.Expect.Files {
		want = append(want, record.Check{What: "file " + output})
	}
	for _, output := range e.Expect.SameAcrossModes {
		want = append(want, record.Check{What: "output " + output})
	}
	for _, w := range want {
		met := slices.ContainsFunc(run.Checks, func(c record.Check) bool {
			return c.OK && c.What == w.What && (w.Want == "" || c.Want == w.Want)
		})
		if !met {
			return false
		}
	}
	return !slices.ContainsFunc(run.Checks, func(c record.Check) bool { return !c.OK })
}

// exitOf says in a few words how a run's program ended.
func exitOf(run record.Run) string {
	switch {
	case run.NotStarted != "":
		return "not started: " + run.NotStarted
	case run.Exit.TimedOut:
		return "killed after its timeout"
	case run.Exit.Signal != "" && run.Exit.CoreDumped:
		return "died by " + run.Exit.Signal + " with a core dump"
	case run.Exit.Signal != "":
		return "died by " + run.Exit.Signal
	}
	return fmt.Sprintf("exit code %d", run.Exit.Code)
}

// ending says how a run ended, which expectations it missed, and what the
// driver returned first.
func ending(run record.Run) string {
	words := []string{exitOf(run)}
	for _, c := range run.Checks {
		if !c.OK && c.What != "exit code" {
			words = append(words, fmt.Sprintf("%s: want %s, got %s", c.What, c.Want, c.Got))
		}
	}
	if len(run.DriverErrors) > 0 {
		words = append(words, returned(run.DriverErrors[0]))
	}
	return strings.Join(words, "; ")
}
