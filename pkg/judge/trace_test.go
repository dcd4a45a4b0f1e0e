package judge

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// TestTraced changes the traces of three good runs on a faked device.
func TestTraced(t *testing.T) {
	const (
		nativeRun = iota
		ptxRun
		shippedRun
	)
	for _, test := range []struct {
		name   string
		change func(m *manifest.Manifest, r *record.Record)
		want   []string
		says   string // of one of the findings
	}{
		{"proven", func(*manifest.Manifest, *record.Record) {}, nil, ""},
		{"no trace", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[nativeRun].Trace = record.Trace{Problem: "CUPTI is missing."}
		}, []string{"CP221"}, "or not of all: CUPTI is missing. The judgement rests"},
		{"incomplete trace", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[nativeRun].Trace.Processes[0].Notices = []string{"no room"}
		}, []string{"CP221"}, "The trace of app is not complete: no room."},
		{"C30 one variable dropped", func(_ *manifest.Manifest, r *record.Record) {
			delete(r.Runs[nativeRun].Trace.Processes[0].Variables, "CUDA_DISABLE_PTX_JIT")
		}, []string{"CP222"}, "saw CUDA_DISABLE_PTX_JIT not set, the mode sets it as 1"},
		{"another variable", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[shippedRun].Trace.Processes[0].Variables["CUDA_FORCE_JIT"] = "1"
		}, []string{"CP222"}, "saw CUDA_FORCE_JIT as 1, the mode sets it not set"},
		{"native from an image in no file, on an H200", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[nativeRun].Trace = traceOf(native, "other", "k")
		}, []string{"CP223"}, "kernel k ran from an image that equals none"},
		{"native from an image in no file, where bytes may change", func(_ *manifest.Manifest, r *record.Record) {
			r.Probe.Devices[0].Capability = arch.Capability{Major: 12, Minor: 1}
			r.Artifacts[0] = program(container(t, devicecode.WholeProgram, "sm_121:k", "compute_90:k"))
			r.Runs[nativeRun].Trace, r.Runs[shippedRun].Trace = traceOf(native, "changed", "k"), traceOf(shipped, "changed", "k")
		}, []string{"CP224"}, "kernel k ran from an image that equals none"},
		{"and something was compiled", func(_ *manifest.Manifest, r *record.Record) {
			r.Probe.Devices[0].Capability = arch.Capability{Major: 12, Minor: 1}
			r.Runs[nativeRun].CacheFiles = 2
			r.Runs[nativeRun].Trace, r.Runs[shippedRun].Trace = traceOf(native, "changed", "k"), traceOf(shipped, "changed", "k")
		}, []string{"CP232"}, "kernel k ran from an image that equals none"},
		{"native from an image in no file, where another shows that bytes are kept", func(_ *manifest.Manifest, r *record.Record) {
			r.Probe.Devices[0].Capability = arch.Capability{Major: 8, Minor: 6}
			r.Artifacts[0] = program(container(t, devicecode.WholeProgram, "sm_86:k", "compute_80:k"), container(t, devicecode.WholeProgram, "sm_86:l", "compute_80:l"))
			r.Runs[nativeRun].Trace, r.Runs[shippedRun].Trace = traceOf(native, "other", "k"), traceOf(shipped, "sm_86:k", "k")
			kept := traceOf(native, "sm_86:l", "l").Processes[0]
			r.Runs[nativeRun].Trace.Processes = append(r.Runs[nativeRun].Trace.Processes, kept)
		}, []string{"CP223"}, "kernel k ran from an image that equals none"},
		{"C08 another kernel, made at run time", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[nativeRun].Trace.Processes[0].Kernels = append(r.Runs[nativeRun].Trace.Processes[0].Kernels,
				record.TracedKernel{Mangled: "made", Name: "made", Launches: 1, Modules: []string{"made at run time"}})
		}, []string{"CP230"}, "The run launched kernel made, from images that are in no inspected file."},
		{"a library has a kernel of the name", func(_ *manifest.Manifest, r *record.Record) {
			r.Libraries = []record.Library{library(t, "/lib/libk.so", "sm_90:k", r)}
			r.Libraries[0].Traced = []string{"in the library"}
			r.Runs[nativeRun].Trace = traceOf(native, "in the library", "k")
		}, []string{"CP226"}, "no kernel of an artifact was launched"},
		{"C10 linked at load", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0] = program(container(t, devicecode.DeviceLinked, "sm_75"), container(t, devicecode.Relocatable, "sm_90:k", "compute_90:k"))
			r.Runs[nativeRun].Trace = traceOf(native, "linked by the driver", "k")
			r.Runs[shippedRun].Trace = traceOf(shipped, "linked by the driver", "k")
		}, nil, ""},
		{"PTX run from shipped machine code", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[ptxRun].Trace = traceOf(viaPTX, "sm_90:k", "k")
		}, []string{"CP225"}, "kernel k ran from the machine code in the files"},
		{"C09 JIT as shipped, without a cache", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[shippedRun].Trace = traceOf(shipped, "compiled", "k")
		}, []string{"CP205"}, "it was compiled at start"},
		{"no launch", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[nativeRun].Trace = traceOf(native, "sm_90:k")
		}, []string{"CP226"}, "no kernel was launched"},
		{"required and launched", func(m *manifest.Manifest, _ *record.Record) { m.EntryPoints[0].Kernels = []string{" k "} }, nil, ""},
		{"required and not launched", func(m *manifest.Manifest, _ *record.Record) { m.EntryPoints[0].Kernels = []string{"ns::k<1>"} },
			[]string{"CP228"}, "launched no kernel ns::k<1>"},
		{"required without a trace", func(m *manifest.Manifest, r *record.Record) {
			m.EntryPoints[0].Kernels = []string{"k"}
			r.Runs[nativeRun].Trace = record.Trace{Problem: "CUPTI is missing"}
		}, []string{"CP221", "CP229"}, "Whether the run launched kernel k is not known"},
		{"a kernel never launched", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0] = program(container(t, devicecode.WholeProgram, "sm_90:k", "compute_90:k"), container(t, devicecode.WholeProgram, "sm_90:l", "compute_90:l"))
		}, []string{"CP227"}, "Of 2 kernels the runs launched 1 natively and 1 through PTX; never natively l."},
		{"enough kernels launched", func(m *manifest.Manifest, _ *record.Record) { m.Artifacts[0].Kernels.MinLaunched = 100 }, nil, ""},
		{"too few kernels launched", func(m *manifest.Manifest, r *record.Record) {
			m.Artifacts[0].Kernels.MinLaunched = 51
			r.Artifacts[0] = program(container(t, devicecode.WholeProgram, "sm_90:k", "compute_90:k"), container(t, devicecode.WholeProgram, "sm_90:l", "compute_90:l"))
		}, []string{"CP227", "CP235"}, "launched 1 of 2 kernels, which is less than the 51 %"},
		{"how many kernels were launched is not known", func(m *manifest.Manifest, r *record.Record) {
			m.Artifacts[0].Kernels.MinLaunched = 1
			r.Runs[nativeRun].Trace = record.Trace{Problem: "CUPTI is missing"}
		}, []string{"CP221", "CP236"}, "launched 1 % of the kernels is not known"},
		{"an image of no file, not launched", func(_ *manifest.Manifest, r *record.Record) {
			p := &r.Runs[nativeRun].Trace.Processes[0]
			p.Modules = append(p.Modules, record.TracedModule{SHA256: "unknown", Size: 1, Loads: 1})
		}, []string{"CP237"}, "The run loaded an image of 1 bytes that equals none in the inspected files, and launched no kernel of it."},
		{"another device", func(_ *manifest.Manifest, r *record.Record) {
			r.Runs[nativeRun].Trace.Processes[0].Devices = []string{"GPU-9"}
		}, []string{"CP233"}, "app used device GPU-9, which is not one of those that the run is about (GPU-1)."},
		{"C10 linked at load, as the JIT compiler's library shows", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0] = program(container(t, devicecode.DeviceLinked, "sm_75"), container(t, devicecode.Relocatable, "sm_90:k", "compute_90:k"))
			r.Runs[nativeRun].Processes[0].JITCompiler = true
			r.Runs[nativeRun].Trace = traceOf(native, "linked by the driver", "k")
			r.Runs[shippedRun].Trace = traceOf(shipped, "linked by the driver", "k")
		}, []string{"CP208"}, "kernel k ran from an image that the driver linked at load time"},
		{"a file of device code, read and not mapped", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts[0].Format = artifact.Fatbin
			for i := range r.Runs {
				r.Runs[i].Processes[0].Artifacts = nil
			}
		}, nil, ""},
		{"a file of device code that no run reads", func(_ *manifest.Manifest, r *record.Record) {
			r.Artifacts = append(r.Artifacts, program(container(t, devicecode.WholeProgram, "sm_90:l", "compute_90:l")))
			r.Artifacts[1].Path, r.Artifacts[1].Format = "l.cubin", artifact.CubinFile
		}, []string{"CP214", "CP227"}, "No run was seen to launch a kernel of the file"},
	} {
		m, r := goodRuns(t)
		test.change(m, r)
		found := Runs(m, r)
		equal(t, test.name, ids(found), test.want)
		var facts []string
		for _, f := range found {
			facts = append(facts, f.Fact)
		}
		if got := strings.Join(facts, "\n"); !strings.Contains(got, test.says) {
			t.Errorf("%s: %q does not say %q", test.name, got, test.says)
		}
	}
}
