package judge

import (
	"fmt"
	"slices"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// attribution says whether a run that passed is what its mode claims: code of
// an artifact, by machine code or by PTX. The zero ID says that it is.
func (s sight) attribution(run record.Run) Finding {
	run = logged(run)
	if e, failed := firstError(run, faults); failed {
		return Finding{
			ID:     "CP209",
			Fact:   fmt.Sprintf("The program ended as expected, but %s.", returned(e)),
			Cause:  "A kernel failed and the program did not look: " + meaning(e.Code) + ".",
			Action: "Check every CUDA call and launch (cudaGetLastError, cudaDeviceSynchronize).",
		}
	}
	if e, refused := firstError(run, refusals); refused && !s.excused(run, e) {
		return Finding{
			ID:     "CP209",
			Fact:   fmt.Sprintf("The program ended as expected, but %s.", returned(e)),
			Cause:  "A launch or load failed and the program did not look: " + meaning(e.Code) + ".",
			Action: "Check every CUDA call and launch (cudaGetLastError), and give the device an image for every kernel.",
		}
	}
	if !s.attributed(run) {
		return Finding{
			ID:     "CP206",
			Fact:   "The run passed, but " + notSeen(run) + ".",
			Cause:  "The program does not use the GPU, is linked statically, or a wrapper (env -i, sudo, a container) dropped the variables, so nothing shows that the mode was in force.",
			Action: "Run the artifact itself as the entry point, without a wrapper that clears the environment.",
		}
	}
	return s.signs(run)
}

// signs compares what the driver loaded with the mode.
// libnvidia-ptxjitcompiler is mapped when PTX is compiled, when relocatable
// code is linked at load time, and when no image fits (measured on an H200,
// driver 580.159.04).
func (s sight) signs(run record.Run) Finding {
	ours := s.launchesOurs(run)
	jit := slices.ContainsFunc(run.Processes, func(p record.Process) bool { return p.JITCompiler && (ours || usesArtifact(p)) })
	switch mode := manifest.Mode(run.Mode); {
	case mode == manifest.PTXMode && !jit:
		return Finding{
			ID:     "CP207",
			Fact:   "The run passed, but no process that used the artifact loaded libnvidia-ptxjitcompiler.",
			Cause:  "The program reset the variables, launched no kernel, or loads bare cubins, which CUDA_FORCE_PTX_JIT does not touch.",
			Action: "Let the entry point launch kernels from the artifact's PTX.",
		}
	case mode == manifest.NativeMode && jit && len(s.linkedAtLoad(run)) > 0:
		linked := s.linkedAtLoad(run)
		return Finding{
			ID:     "CP208",
			Kernel: only(linked),
			Fact:   fmt.Sprintf("In the native run %s ran from an image that the driver linked at load time: the files hold the code relocatable, and the image equals none in them.", list(linked)),
			Cause:  "The device link was left out, or did not get the targets, so the driver links at every start.",
			Action: "Link the device code at build time, with the -gencode options of the compile step.",
		}
	case mode == manifest.NativeMode && jit:
		return Finding{
			ID:     "CP208",
			Fact:   "The run passed with CUDA_DISABLE_PTX_JIT=1, but libnvidia-ptxjitcompiler was loaded.",
			Cause:  "Relocatable code was linked by the driver at load time, or the program reset the variables.",
			Action: "Link the device code at build time, with the -gencode options of the compile step.",
		}
	case mode == manifest.AsShippedMode && jit && run.CacheFiles > 0 && len(s.foreign(run)) > 0:
		return Finding{
			ID:     "CP220",
			Fact:   fmt.Sprintf("As shipped, the driver compiled PTX at start (the empty cache got %d files), although every inspected kernel has machine code for capability %s.%s", run.CacheFiles, s.capability(), s.unknownLoaded(run)),
			Cause:  "A library has no machine code for this device, or makes PTX at run time: " + some(s.foreign(run)) + ".",
			Action: "Look at these libraries with `mage inspect -path`.",
		}
	case mode == manifest.AsShippedMode && jit && run.CacheFiles > 0:
		return Finding{
			ID:   "CP205",
			Fact: fmt.Sprintf("As shipped, the driver compiled PTX at start: its JIT compiler was loaded and the empty cache got %d files.", run.CacheFiles),
			Cause: fmt.Sprintf("The inspected files have %s; where a kernel has no machine code for capability %s, every first start compiles, silently.",
				orNothing(s.targets()), s.capability()),
			Action: "Compile and link with -gencode for this device's capability.",
		}
	}
	return Finding{}
}

// unknownLoaded tells of the images in no file, a sentence behind another one.
func (s sight) unknownLoaded(run record.Run) string {
	list := s.unknown(run)
	if len(list) == 0 {
		return ""
	}
	return " The run loaded " + images(list) + "."
}

// excused reports whether the refusal of device code in a run that passed is of
// a library, or of code made at run time, that the program can do without.
func (s sight) excused(run record.Run, e record.DriverError) bool {
	return (e.Code == 209 || e.Code == 223) && len(s.foreign(run)) > 0
}

// attributed reports whether it was seen that a run used an artifact: a process
// mapped it together with the driver, or launched a kernel that it holds, as one
// does that reads device code from a file.
func (s sight) attributed(run record.Run) bool {
	return slices.ContainsFunc(run.Processes, usesArtifact) || s.launchesOurs(run)
}

func (s sight) launchesOurs(run record.Run) bool {
	return slices.ContainsFunc(Launches(s.record, run), func(l Launch) bool { return l.Ours && !l.from(InLibrary) })
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
		if slices.Contains([]artifact.Format{artifact.CubinFile, artifact.Fatbin, artifact.PTXFile}, a.Format) {
			found = append(found, neverRead(r, a)...)
		}
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
						ID: "CP214", Artifact: a.Path, EntryPoint: e.Name, Mode: run.Mode, Device: sight{devices: devicesOf(r, run)}.deviceNames(),
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

// neverRead names a file of device code of which no run launched a kernel.
func neverRead(r *record.Record, a record.Artifact) []Finding {
	if slices.ContainsFunc(r.Runs, func(run record.Run) bool { return LaunchedFrom(r, run, a) }) {
		return nil
	}
	return []Finding{{
		ID: "CP214", Artifact: a.Path,
		Fact:   "No run was seen to launch a kernel of the file, so the runs say nothing about it.",
		Cause:  "No entry point loads it, or there is no trace of the one that does.",
		Action: "Add an entry point that loads it and launches its kernels.",
	}}
}

// LaunchedFrom reports whether a run launched a kernel of the artifact; one of
// the same name in a library does not count.
func LaunchedFrom(r *record.Record, run record.Run, a record.Artifact) bool {
	own := coverage.Names(allImages(a))
	return slices.ContainsFunc(Launches(r, run), func(l Launch) bool {
		_, has := own[l.Mangled]
		return has && !l.from(InLibrary)
	})
}

// devicesOf gives the devices of a run as the probe found them.
func devicesOf(r *record.Record, run record.Run) []record.Device {
	return slices.DeleteFunc(slices.Clone(r.Probe.Devices), func(d record.Device) bool { return !slices.Contains(run.Devices, d.UUID) })
}

// loaded reports whether a process of the run loaded the artifact together with
// the driver.
func loaded(run record.Run, path string) bool {
	return slices.ContainsFunc(run.Processes, func(p record.Process) bool { return usesArtifact(p) && slices.Contains(p.Artifacts, path) })
}
