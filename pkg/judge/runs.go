package judge

import (
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
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
		groups := manifest.Groups(e, r.Probe.Devices, func(d record.Device) arch.Capability { return d.Capability })
		for _, devices := range groups {
			found = append(found, judgeEntryPoint(r, e, devices)...)
		}
		if len(groups) == 0 {
			found = append(found, Finding{
				ID: "CP213", EntryPoint: e.Name,
				Fact:   "The entry point was not run: " + tooFew(e, len(r.Probe.Devices)) + ".",
				Action: "Run `mage verify` on a machine with the GPU.",
			})
		}
	}
	if len(r.Runs) > 0 {
		found = append(found, neverLoaded(m, r)...)
		found = append(found, launchedTooFew(m, r)...)
	}
	return found
}

func tooFew(e manifest.EntryPoint, visible int) string {
	if visible == 0 {
		return "there is no device"
	}
	return fmt.Sprintf("it needs %d devices, and %d are visible", e.Devices.Count, visible)
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

// judgeEntryPoint judges the runs of one entry point on one device, or on several
// together.
func judgeEntryPoint(r *record.Record, e manifest.EntryPoint, devices []record.Device) []Finding {
	var found []Finding
	runs := map[manifest.Mode]record.Run{}
	s := sight{r, e, devices}
	about := func(id string, mode manifest.Mode, f Finding) {
		f.ID, f.EntryPoint, f.Device, f.Mode = id, e.Name, s.deviceNames(), string(mode)
		found = append(found, f)
	}
	for _, mode := range e.Modes {
		i := slices.IndexFunc(r.Runs, func(run record.Run) bool {
			return run.EntryPoint == e.Name && run.Mode == string(mode) && slices.Equal(run.Devices, s.uuids())
		})
		if i < 0 {
			about("CP213", mode, Finding{
				Fact:   "The record holds no such run.",
				Action: "Run `mage verify` to its end on this device.",
			})
			continue
		}
		run := r.Runs[i]
		if e.NoGPU != "" {
			runs[mode] = run
			remarks(run, mode, about)
			s.withoutGPU(run, about)
			continue
		}
		if code, found := environmentError(e, run); found {
			about("CP210", mode, Finding{
				Fact:   fmt.Sprintf("The run ended with %s, and %s.", Ended(run), returned(code)),
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
		remarks(run, mode, about)
		if e, refused := firstError(logged(run), refusals); refused && passed(s.entry, run) && s.excused(run, e) {
			about("CP218", mode, Finding{
				Fact:   fmt.Sprintf("The run passed; meanwhile %s.", returned(e)),
				Cause:  "Every inspected kernel has what this mode needs, so the code refused is a library's or was made at run time (" + some(s.foreign(run)) + "), and the program went on without it.",
				Action: "Look at these libraries with `mage inspect -path`.",
			})
		}
		if passed(e, run) {
			f := s.attribution(run)
			if f.ID != "" {
				about(f.ID, mode, f)
			}
			if !slices.Contains([]string{"CP205", "CP206", "CP209", "CP220"}, f.ID) { // which say as much
				s.traced(run, about)
			}
		}
	}
	s.outcomes(runs, about)
	return found
}

// withoutGPU judges a run of an entry point that says that it uses no GPU.
func (s sight) withoutGPU(run record.Run, about func(string, manifest.Mode, Finding)) {
	kernels := map[string]string{}
	for _, l := range Launches(s.record, run) {
		kernels[l.Mangled] = l.Name
	}
	if len(kernels) > 0 {
		about("CP234", manifest.Mode(run.Mode), Finding{
			Kernel: only(kernels),
			Fact:   fmt.Sprintf("The manifest says that the entry point uses no GPU, and the run launched %s.", list(kernels)),
			Action: "Take no_gpu away, so that it is run natively and through PTX.",
		})
	}
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
		want = append(want, record.Check{What: line.What(), Want: line.Text})
	}
	for output, golden := range e.Expect.Files {
		want = append(want, record.Check{What: "file " + output, Want: golden.Wanted()})
	}
	for _, output := range e.Expect.SameAcrossModes {
		want = append(want, record.Check{What: "output " + output.Path})
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

// remarks adds what is to be said of a run however it ended.
func remarks(run record.Run, mode manifest.Mode, about func(string, manifest.Mode, Finding)) {
	if run.Leftover > 0 {
		about("CP215", mode, Finding{
			Fact:   fmt.Sprintf("%d processes outlived the program and were killed.", run.Leftover),
			Action: "Let the entry point wait for its children.",
		})
	}
	if w := run.Warm; w != nil && slices.ContainsFunc(w.Checks, func(c record.Check) bool { return !c.OK }) {
		again := record.Run{Exit: w.Exit, Checks: w.Checks}
		about("CP231", mode, Finding{
			Fact:   fmt.Sprintf("The first start passed; the second, with the cache that the first left (%d files), ended otherwise: %s.", w.CacheFiles, ending(again)),
			Cause:  "The program left something behind that disturbs it, or what was cached is not used as it was compiled.",
			Action: "Start the program twice with one CUDA_CACHE_PATH, and compare.",
		})
	}
	if n := run.Stdout.Dropped + run.Stderr.Dropped; n > 0 {
		about("CP217", mode, Finding{Fact: fmt.Sprintf("%d bytes of output were not kept; lines were checked over all of it.", n)})
	}
}
