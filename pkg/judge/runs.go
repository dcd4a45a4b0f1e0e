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
		found = append(found, neverLoaded(r)...)
	}
	return found
}

// leftOut names the modes that the manifest does not run, with its reason.
func leftOut(e manifest.EntryPoint) []Finding {
	var found []Finding
	for _, mode := range []manifest.Mode{manifest.NativeMode, manifest.PTXMode, manifest.AsShippedMode} {
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
		if code, text := environmentError(run); text != "" {
			about("CP210", mode, Finding{
				Fact:   fmt.Sprintf("The driver returned %d: %s.", code, text),
				Cause:  "Driver, driver library and device do not fit together; the code under test was not reached.",
				Action: "Correct the driver installation or library path (libcuda" + libcudaPath(run) + "), and run again.",
			})
			continue
		}
		if run.Exit.Interrupted {
			about("CP213", mode, Finding{Fact: "The run was interrupted.", Action: "Run `mage verify` to its end."})
			continue
		}
		runs[mode] = run
		observe(run, mode, about)
	}
	judgeOutcomes(r, d, runs, about)
	return found
}

// observe adds what is to be said of one run apart from its outcome.
func observe(run record.Run, mode manifest.Mode, about func(string, manifest.Mode, Finding)) {
	if run.Leftover > 0 {
		about("CP215", mode, Finding{
			Fact:   fmt.Sprintf("%d processes outlived the program and were killed.", run.Leftover),
			Action: "Let the entry point wait for its children.",
		})
	}
	if n := run.Stdout.Dropped + run.Stderr.Dropped; n > 0 {
		about("CP217", mode, Finding{Fact: fmt.Sprintf("%d bytes of output were not kept; lines were checked over all of it.", n)})
	}
	if run.NotStarted != "" || !passed(run) {
		return
	}
	if e, refused := refusal(run); refused {
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

// neverLoaded names artifacts that could be loaded and were not.
func neverLoaded(r *record.Record) []Finding {
	var found []Finding
	for _, a := range r.Artifacts {
		if a.Format != artifact.Executable && a.Format != artifact.SharedLibrary {
			continue
		}
		seen := slices.ContainsFunc(r.Runs, func(run record.Run) bool {
			return slices.ContainsFunc(run.Processes, func(p record.Process) bool { return slices.Contains(p.Artifacts, a.Path) })
		})
		if !seen {
			found = append(found, Finding{
				ID: "CP214", Artifact: a.Path,
				Fact:   "No run was seen to load the file, so the runs say nothing about it.",
				Cause:  "No entry point uses it, or the program that does could not be followed.",
				Action: "Add an entry point that uses it.",
			})
		}
	}
	return found
}

// passed reports whether a run ended as the manifest expects.
func passed(run record.Run) bool {
	return run.NotStarted == "" && run.Exit.Signal == "" && !run.Exit.TimedOut && !run.Exit.Interrupted &&
		len(run.Checks) > 0 && !slices.ContainsFunc(run.Checks, func(c record.Check) bool { return !c.OK })
}

// ending says in a few words how a run ended.
func ending(run record.Run) string {
	var words []string
	switch {
	case run.NotStarted != "":
		return "not started: " + run.NotStarted
	case run.Exit.TimedOut:
		words = append(words, "killed after its timeout")
	case run.Exit.Signal != "" && run.Exit.CoreDumped:
		words = append(words, "died by "+run.Exit.Signal+" with a core dump")
	case run.Exit.Signal != "":
		words = append(words, "died by "+run.Exit.Signal)
	default:
		words = append(words, fmt.Sprintf("exit code %d", run.Exit.Code))
	}
	for _, c := range run.Checks {
		if !c.OK && c.What != "exit code" {
			words = append(words, fmt.Sprintf("%s: want %s, got %s", c.What, c.Want, c.Got))
		}
	}
	for _, e := range run.DriverErrors {
		words = append(words, returned(e))
		break
	}
	return strings.Join(words, "; ")
}
