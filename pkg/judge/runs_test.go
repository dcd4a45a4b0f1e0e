package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

const (
	native  = string(manifest.NativeMode)
	viaPTX  = string(manifest.PTXMode)
	shipped = string(manifest.AsShippedMode)
)

// goodRuns is a record of three good runs on a faked device, and its manifest.
func goodRuns(t *testing.T) (*manifest.Manifest, *record.Record) {
	m := wanting(t, nil, nil)
	m.EntryPoints = []manifest.EntryPoint{{
		Name: "e", Command: []string{"./app", "-x"},
		Modes: []manifest.Mode{manifest.NativeMode, manifest.PTXMode, manifest.AsShippedMode},
	}}
	r := &record.Record{
		Probe:     record.Probe{Devices: []record.Device{{UUID: "GPU-1", Name: "GPU", Capability: arch.Capability{Major: 9}}}},
		Artifacts: []record.Artifact{program(container(t, devicecode.WholeProgram, "sm_90:k", "compute_90:k"))},
	}
	r.Probe.Driver.CUDA = "13.0"
	for _, mode := range []string{native, viaPTX, shipped} {
		r.Runs = append(r.Runs, record.Run{
			ID: "e/" + mode, EntryPoint: "e", Mode: mode, Devices: []string{"GPU-1"},
			Command: []string{"app", "-x"}, Environment: manifest.Mode(mode).Variables(),
			Checks: []record.Check{{What: "exit code", Want: "0", Got: "0", OK: true}},
			Processes: []record.Process{{
				Program: "/project/app", Artifacts: []string{"app"}, Libcuda: "/lib/libcuda.so.1", JITCompiler: mode == viaPTX,
			}},
			Trace: traceOf(mode, map[string]string{native: "sm_90:k", shipped: "sm_90:k", viaPTX: "compiled"}[mode], "k"),
		})
	}
	return m, r
}

// traceOf is the trace of a process that launched kernels from one module.
func traceOf(mode, module string, kernels ...string) record.Trace {
	p := record.TracedProcess{
		Program: "app", Variables: manifest.Mode(mode).Variables(), Devices: []string{"GPU-1"},
		Modules: []record.TracedModule{{SHA256: module, Size: 1, Loads: 1}},
	}
	for _, k := range kernels {
		p.Kernels = append(p.Kernels, record.TracedKernel{Mangled: k, Name: k, Launches: 1, Modules: []string{module}})
	}
	return record.Trace{Processes: []record.TracedProcess{p}}
}

// fail makes a run fail with a driver error.
func fail(run *record.Run, code int) {
	run.Exit.Code = 1
	run.Checks[0].OK, run.Checks[0].Got = false, "1"
	if code != 0 {
		run.DriverErrors = []record.DriverError{{Code: code, Name: "CUDA_ERROR", From: "driver log"}}
	}
}

// library makes a library with device code that all runs loaded.
func library(t *testing.T, path, content string, r *record.Record) record.Library {
	i := image(t, content)
	l := record.Library{
		File:   record.File{Path: path, SHA256: "a"},
		Images: []record.ImageCount{{Kind: i.Kind, Target: i.Target, Images: 1, Kernels: len(i.Kernels)}},
	}
	for _, run := range r.Runs {
		l.LoadedBy = append(l.LoadedBy, run.ID)
	}
	return l
}

// writing lets the runs write an output, the same in all modes.
func writing(m *manifest.Manifest, r *record.Record, o manifest.Output) {
	m.EntryPoints[0].Expect.SameAcrossModes = []manifest.Output{o}
	for i := range r.Runs {
		r.Runs[i].Checks = append(r.Runs[i].Checks, record.Check{What: "output " + o.Path, Want: "written", Got: "written", OK: true})
		r.Runs[i].Outputs = []record.File{{Path: o.Path, SHA256: "a"}}
	}
}

// together makes the runs ones on two devices.
func together(m *manifest.Manifest, r *record.Record) {
	m.EntryPoints[0].Devices.Kind = manifest.AllDevices
	second := r.Probe.Devices[0]
	second.UUID = "GPU-2"
	r.Probe.Devices = append(r.Probe.Devices, second)
	for i := range r.Runs {
		r.Runs[i].Devices = []string{"GPU-1", "GPU-2"}
	}
}

// withoutGPU adds an entry point that uses no GPU, and its run.
func withoutGPU(m *manifest.Manifest, r *record.Record) {
	m.EntryPoints = append(m.EntryPoints, manifest.EntryPoint{
		Name: "help", Command: []string{"./app", "--help"}, NoGPU: "it prints its options",
		Modes: []manifest.Mode{manifest.AsShippedMode}, ModesReason: "it uses no GPU: it prints its options",
	})
	r.Runs = append(r.Runs, record.Run{
		ID: "help/as-shipped", EntryPoint: "help", Mode: shipped, Command: []string{"app", "--help"},
		Environment: map[string]string{}, Checks: []record.Check{{What: "exit code", Want: "0", Got: "0", OK: true}},
	})
}

func TestRuns(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(m *manifest.Manifest, r *record.Record)
		want   []string
		says   string
	}{
		{"good", func(*manifest.Manifest, *record.Record) {}, nil, ""},
		{"native fails", func(_ *manifest.Manifest, r *record.Record) { fail(&r.Runs[0], 223) }, []string{"CP201"}, "returned 223"},
		{"PTX fails", func(_ *manifest.Manifest, r *record.Record) { fail(&r.Runs[1], 209) }, []string{"CP202"}, "returned 209"},
		{"both fail", func(_ *manifest.Manifest, r *record.Record) { fail(&r.Runs[0], 209); fail(&r.Runs[1], 222) }, []string{"CP203"}, "Both fail."},
		{"as shipped fails", func(_ *manifest.Manifest, r *record.Record) { fail(&r.Runs[2], 0) }, []string{"CP204"}, "exit code 1"},
		{"only mode fails", func(m *manifest.Manifest, r *record.Record) {
			m.EntryPoints[0].Modes, m.EntryPoints[0].ModesReason = m.EntryPoints[0].Modes[:1], "why"
			fail(&r.Runs[0], 0)
		}, []string{"CP204", "CP216"}, "exit code 1"},
		{"C09 silent JIT", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[2].CacheFiles, r.Runs[2].Processes[0].JITCompiler = 2, true
		}, []string{"CP205"}, "2 files"},
		{"second start fails", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[2].Warm = &record.WarmRun{Exit: record.Exit{Code: 7}, CacheFiles: 2, Checks: []record.Check{{What: "exit code", Want: "0", Got: "7"}}}
		}, []string{"CP231"}, "with the cache that the first left (2 files), ended otherwise: exit code 7"},
		{"C20 exit 0 without an image", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].DriverErrors = []record.DriverError{{Code: 209, Name: "CUDA_ERROR_NO_BINARY_FOR_GPU", From: record.DriverLog}}
		}, []string{"CP209"}, "the driver returned 209"},
		{"C22 stub libcuda", func(_ *manifest.Manifest, r *record.Record) {
			for i := range r.Runs {
				fail(&r.Runs[i], 803)
			}
		}, []string{"CP210"}, "returned 803"},
		{"C22 a program that does not look", func(_ *manifest.Manifest, r *record.Record) {
			for i := range r.Runs {
				r.Runs[i].DriverErrors = []record.DriverError{{Code: 803, Name: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", From: record.DriverLog}}
			}
		}, []string{"CP210"}, "exit code 0, and the driver returned 803"},
		{"old driver tried by a library", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].DriverErrors = []record.DriverError{{Code: 36, Name: "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", From: record.DriverLog}}
		}, nil, ""},
		{"a kernel fails and nobody looks", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].DriverErrors = []record.DriverError{{Code: 700, Name: "CUDA_ERROR_ILLEGAL_ADDRESS", From: record.DriverLog}}
		}, []string{"CP209"}, "returned 700"},
		// As seen of PyTorch 2.11 on an H200 (driver 580.159.04).
		{"a library's PTX is refused natively", func(_ *manifest.Manifest, r *record.Record) {
			r.Libraries = []record.Library{library(t, "/torch/libtorch_cuda.so", "sm_90:k", r)}
			r.Runs[0].DriverErrors = []record.DriverError{
				{Code: 201, Name: "CUDA_ERROR_INVALID_CONTEXT", Call: "cuCtxGetDevice_v2", From: record.DriverLog},
				{Code: 223, Name: "CUDA_ERROR_JIT_COMPILATION_DISABLED", Call: "cuModuleLoadData", From: record.DriverLog},
			}
		}, []string{"CP218"}, "the driver returned 223"},
		{"C31 a library without PTX", func(_ *manifest.Manifest, r *record.Record) {
			r.Libraries = []record.Library{library(t, "/torch/libtorch_cuda.so", "sm_90:k", r)}
			fail(&r.Runs[1], 209)
			r.Runs[1].DriverErrors = append([]record.DriverError{{Code: 201, Name: "CUDA_ERROR_INVALID_CONTEXT", From: record.DriverLog}}, r.Runs[1].DriverErrors...)
		}, []string{"CP219"}, "returned 209 (CUDA_ERROR). Every inspected kernel has PTX for capability 9.0; of the libraries loaded, libtorch_cuda.so has machine code and no PTX."},
		{"C31 does not excuse our own missing PTX", func(_ *manifest.Manifest, r *record.Record) {
			r.Libraries = []record.Library{library(t, "/torch/libtorch_cuda.so", "sm_90:k", r)}
			r.Artifacts[0] = program(container(t, devicecode.WholeProgram, "sm_90:k"))
			fail(&r.Runs[1], 209)
		}, []string{"CP202"}, "returned 209"},
		{"a library's PTX is compiled as shipped", func(_ *manifest.Manifest, r *record.Record) {
			r.Libraries = []record.Library{library(t, "/torch/libtorch_cuda.so", "compute_80:k", r)}
			r.Runs[2].CacheFiles, r.Runs[2].Processes[0].JITCompiler = 2, true
		}, []string{"CP220"}, "although every inspected kernel has machine code"},
		{"an error that the program has dealt with and prints", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].DriverErrors = []record.DriverError{{Code: 209, Name: "cudaErrorNoKernelImageForDevice", From: "stdout"}}
		}, nil, ""},
		{"stored checks are not taken", func(m *manifest.Manifest, r *record.Record) {
			m.EntryPoints[0].Expect.Stdout = []manifest.Line{{Text: "PASS"}}
		}, []string{"CP203", "CP204"}, ""},
		{"stored exit code is not taken", func(_ *manifest.Manifest, r *record.Record) { r.Runs[0].Exit.Code = 1 }, []string{"CP201"}, "exit code 1"},
		{"loaded by another process than the driver", func(_ *manifest.Manifest, r *record.Record) {
			b := program(container(t, devicecode.WholeProgram, "sm_90:k"))
			b.Path = "b"
			r.Artifacts = append(r.Artifacts, b)
			for i := range r.Runs {
				r.Runs[i].Processes = append(r.Runs[i].Processes, record.Process{Program: "b", Artifacts: []string{"b"}})
			}
		}, []string{"CP214"}, "together with libcuda"},
		{"loaded in one mode only", func(_ *manifest.Manifest, r *record.Record) {
			b := program(container(t, devicecode.WholeProgram, "sm_90:k"))
			b.Path = "b"
			r.Artifacts = append(r.Artifacts, b)
			r.Runs[2].Processes[0].Artifacts = []string{"app", "b"}
		}, []string{"CP214"}, "not in this one"},
		{"C30 nothing seen", func(_ *manifest.Manifest, r *record.Record) {
			for i := range r.Runs {
				r.Runs[i].Processes = []record.Process{{Program: "/usr/bin/env"}}
				r.Runs[i].Trace = record.Trace{Problem: "no process wrote a trace"}
			}
		}, []string{"CP206", "CP214"}, "no process was seen that loads libcuda or maps an artifact"},
		{"C30 no loader record", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].Processes, r.Runs[0].LoaderProblem = nil, "no file was written"
			r.Runs[0].Trace = record.Trace{Problem: "no process wrote a trace"}
		}, []string{"CP206"}, "the loader's record is missing"},
		{"driver and artifact in different processes", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].Processes = []record.Process{{Artifacts: []string{"app"}}, {Libcuda: "/lib/libcuda.so.1"}}
			r.Runs[0].Trace = record.Trace{Problem: "no process wrote a trace"}
		}, []string{"CP206"}, "no one process"},
		{"PTX run without the JIT compiler", func(_ *manifest.Manifest, r *record.Record) { r.Runs[1].Processes[0].JITCompiler = false }, []string{"CP207"}, ""},
		{"C10 native by load-time link", func(_ *manifest.Manifest, r *record.Record) { r.Runs[0].Processes[0].JITCompiler = true }, []string{"CP208"}, ""},
		{"C21 modes disagree", func(m *manifest.Manifest, r *record.Record) {
			writing(m, r, manifest.Output{Path: "out.bin"})
			r.Runs[1].Outputs[0].SHA256 = "b"
		}, []string{"CP211"}, "out.bin differs between the modes: SHA-256 a in native, b in ptx."},
		{"modes agree", func(m *manifest.Manifest, r *record.Record) { writing(m, r, manifest.Output{Path: "out.bin"}) }, nil, ""},
		{"C21 modes disagree beyond the tolerance", func(m *manifest.Manifest, r *record.Record) {
			writing(m, r, manifest.Output{Path: "out.npy", Tolerance: manifest.Tolerance{Tolerant: true, Rtol: 1e-3}})
			c := record.Comparison{Output: "out.npy", With: "native", Want: "the same within rtol 0.001, atol 0", Got: "the same", OK: true}
			r.Runs[1].Comparisons = []record.Comparison{c}
			c.Got, c.OK = "element 3 differs", false
			r.Runs[2].Comparisons = []record.Comparison{c}
		}, []string{"CP211"}, "out.npy differs between the modes, beside that of native: element 3 differs."},
		{"modes not compared", func(m *manifest.Manifest, r *record.Record) {
			writing(m, r, manifest.Output{Path: "out.npy", Tolerance: manifest.Tolerance{Tolerant: true}})
		}, []string{"CP211"}, "out.npy was not compared with that of mode native."},
		{"a line matches", func(m *manifest.Manifest, r *record.Record) {
			m.EntryPoints[0].Expect.Stdout = []manifest.Line{{Text: "P.*", Regexp: true}}
			for i := range r.Runs {
				r.Runs[i].Checks = append(r.Runs[i].Checks, record.Check{What: "stdout line matching", Want: "P.*", Got: "printed", OK: true})
			}
		}, nil, ""},
		{"errors that only the trace shows", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].DriverErrors = []record.DriverError{{Code: 209, Name: "CUDA_ERROR_NO_BINARY_FOR_GPU", Call: "cuLibraryGetKernel", From: record.FromTrace}}
		}, []string{"CP209"}, "returned 209"},
		{"two devices together", func(m *manifest.Manifest, r *record.Record) {
			together(m, r)
			for i := range r.Runs {
				r.Runs[i].Trace.Processes[0].Devices = []string{"GPU-1", "GPU-2"}
			}
		}, nil, ""},
		{"one of two devices not used", func(m *manifest.Manifest, r *record.Record) { together(m, r) },
			[]string{"CP233"}, "No process made a context on device GPU-2"},
		{"too few devices", func(m *manifest.Manifest, r *record.Record) {
			m.EntryPoints[0].Devices = manifest.DeviceUse{Kind: manifest.CountDevices, Count: 2}
			r.Runs = nil
		}, []string{"CP213"}, "it needs 2 devices, and 1 are visible"},
		{"no GPU needed", func(m *manifest.Manifest, r *record.Record) { withoutGPU(m, r) }, []string{"CP216"}, "it uses no GPU: it prints its options"},
		{"no GPU needed, and a kernel launched", func(m *manifest.Manifest, r *record.Record) {
			trace := r.Runs[0].Trace
			withoutGPU(m, r)
			r.Runs[len(r.Runs)-1].Trace = trace
		}, []string{"CP216", "CP234"}, "the run launched kernel k"},
		{"a run is missing", func(_ *manifest.Manifest, r *record.Record) { r.Runs = r.Runs[:2] }, []string{"CP213"}, ""},
		{"no device", func(_ *manifest.Manifest, r *record.Record) { r.Probe.Devices, r.Runs = nil, nil }, []string{"CP213"}, "there is no device"},
		{"no entry points", func(m *manifest.Manifest, r *record.Record) { m.EntryPoints, r.Runs = nil, nil }, []string{"CP213"}, "no entry points"},
		{"interrupted", func(_ *manifest.Manifest, r *record.Record) { r.Runs[2].Exit.Interrupted = true }, []string{"CP213"}, "interrupted"},
		{"an artifact no run loads", func(_ *manifest.Manifest, r *record.Record) {
			plugin := program(container(t, devicecode.WholeProgram, "sm_90:k"))
			plugin.Path = "plugin.so"
			r.Artifacts = append(r.Artifacts, plugin)
		}, []string{"CP214"}, ""},
		{"left over", func(_ *manifest.Manifest, r *record.Record) { r.Runs[0].Leftover = 1 }, []string{"CP215"}, ""},
		{"capped", func(_ *manifest.Manifest, r *record.Record) { r.Runs[0].Stdout.Dropped = 9 }, []string{"CP217"}, ""},
		{"no expectation was checked", func(_ *manifest.Manifest, r *record.Record) { r.Runs[0].Checks = nil }, []string{"CP201"}, ""},
		{"signal", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].Exit.Signal, r.Runs[0].Checks = "SIGSEGV", nil
		}, []string{"CP201"}, "died by SIGSEGV"},
		{"timeout", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].Exit.TimedOut, r.Runs[0].Checks = true, nil
		}, []string{"CP201"}, "killed after its timeout"},
		{"missing binary", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[0].NotStarted, r.Runs[0].Checks = "no such file", nil
		}, []string{"CP201"}, "not started: no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, r := goodRuns(t)
			test.change(m, r)
			found := Conclude(Runs(m, r)).Findings
			equal(t, "findings", ids(found), test.want)
			if len(found) > 0 && !strings.Contains(found[0].Fact, test.says) {
				t.Errorf("fact %q does not say %q", found[0].Fact, test.says)
			}
		})
	}
}

func TestDiagnosis(t *testing.T) {
	for _, test := range []struct {
		name      string
		images    []string
		run, code int
		want      string
	}{
		{"PTX only", []string{"compute_90:k"}, 0, 223, "Only PTX fits capability 9.0, and compiling it was disabled; the inspected files have compute_90."},
		{"C08 code made at run time", []string{"sm_90:k"}, 0, 223, "Every inspected kernel has machine code for capability 9.0, so PTX made at run time (NVRTC) or in a library that was not inspected was refused."},
		{"C06 PTX too new", []string{"compute_90:k"}, 1, 222, "The PTX (ISA 9.0) is newer than the driver, which supports CUDA 13.0."},
		{"no image", []string{"sm_80:k"}, 0, 209, "The driver found no image that capability 9.0 can use in this mode; the inspected files have sm_80."},
		{"C07 PTX refused", []string{"sm_90:k", "compute_80:k"}, 1, 218, "The driver refused to compile the PTX, although its .target fits capability 9.0: an instruction does not exist there."},
		{"C21 wrong result", []string{"sm_90:k", "compute_80:k"}, 0, 0, "No driver error was seen; the program's results or its own checks differ in this mode."},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, r := goodRuns(t)
			r.Artifacts[0] = program(container(t, devicecode.WholeProgram, test.images...))
			fail(&r.Runs[test.run], test.code)
			for n := range r.Runs {
				r.Runs[n].Trace = record.Trace{} // the images are not those of the trace
			}
			found := slices.DeleteFunc(Runs(m, r), func(f Finding) bool { return f.ID == "CP221" })
			if len(found) != 1 || found[0].Cause != test.want {
				t.Errorf("got %+v, want cause %q", found, test.want)
			}
			if found[0].Action == "" {
				t.Error("no action")
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		ids  []string
		want Verdict
	}{
		{nil, Passed},
		{[]string{"CP121", "CP215"}, Passed},
		{[]string{"CP307"}, NotVerified},
		{[]string{"CP307", "CP104"}, Failed},
		{[]string{"CP104", "CP307"}, Failed},
	} {
		var found []Finding
		for _, id := range test.ids {
			found = append(found, Finding{ID: id})
		}
		if got := Conclude(found).Verdict; got != test.want {
			t.Errorf("%v: got %q, want %q", test.ids, got, test.want)
		}
	}
}
