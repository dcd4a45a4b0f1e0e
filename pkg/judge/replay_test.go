package judge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/bundle"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

const recorded = "../../testdata/h200/"

// replay reads a manifest and the evidence that was recorded for it on an H200
// (driver 580.159.04, CUDA 13.0; testdata/h200/README.md).
func replay(t *testing.T, name string) (*manifest.Manifest, *record.Record) {
	t.Helper()
	m, err := manifest.Load(recorded + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	path, err := bundle.Newest(filepath.Join(recorded, "evidence", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := bundle.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// seen says in a few words how a mode went: "pass", or the driver's error, then
// what was seen of the JIT.
func seen(m *manifest.Manifest, r *record.Record, mode manifest.Mode) string {
	for _, run := range r.Runs {
		if run.Mode != string(mode) {
			continue
		}
		words := []string{"pass"}
		if !passed(m.EntryPoints[0], run) {
			words[0] = "fail"
		}
		for _, e := range run.DriverErrors {
			words = append(words, fmt.Sprint(e.Code))
		}
		if run.CacheFiles > 0 {
			words = append(words, fmt.Sprintf("cache %d", run.CacheFiles))
		}
		return strings.Join(words, " ")
	}
	return "not run"
}

// TestRecorded judges every recorded build: each mode went as measured before
// by hand, and the verdict is right.
func TestRecorded(t *testing.T) {
	for _, test := range []struct {
		name                 string
		native, ptx, shipped string
		verdict              Verdict
		findings             []string
	}{
		{"sm90_ptx90", "pass", "pass", "pass", Passed, nil},
		{"sm90", "pass", "fail 209", "pass", Failed, []string{"CP105", "CP202"}},
		{"ptx90", "fail 223", "pass", "pass cache 2", Failed, []string{"CP104", "CP201", "CP205"}},
		{"sm80_ptx80", "fail 223", "pass", "pass cache 2", Failed, []string{"CP104", "CP105", "CP201", "CP205"}},
		{"sm80", "fail 209", "fail 209", "fail 209", Failed, []string{"CP104", "CP105", "CP203", "CP204"}},
		{"no_gencode", "fail 223", "pass", "pass cache 2", Failed, []string{"CP104", "CP105", "CP201", "CP205"}},
		{"rdc_sm90_ptx90", "pass", "pass", "pass", Passed, nil},
		{"rdc_lost_link", "pass", "pass", "pass", Failed, []string{"CP107", "CP208"}},
		{"rdc_ptx90", "fail 223", "pass", "pass cache 3", Failed, []string{"CP104", "CP201", "CP205"}},
		{"c20_unchecked", "pass 209", "pass 209", "pass 209", Failed, []string{"CP104", "CP105", "CP209"}},
		{"torch", "pass 201 223", "fail 201 209", "pass 201 cache 2", NotVerified, []string{"CP219"}},
		{"c06_newer_ptx", "fail 223", "fail 222", "fail 222", Failed, []string{"CP109", "CP203", "CP204"}},
		{"c26_ptx_text", "fail 223", "pass", "pass cache 2", Failed, []string{"CP201", "CP205"}},
		{"c07_refused_ptx", "pass", "fail 218", "pass", Failed, []string{"CP202"}},
		{"c08_nvrtc_ptx", "fail 223 cache 2", "pass", "pass cache 3", Failed, []string{"CP201"}},
		{"c08_nvrtc_cubin", "pass cache 3", "pass", "pass cache 3", Passed, nil},
		{"c21_disagree", "fail", "pass", "fail", Failed, []string{"CP201", "CP204"}},
		{"c30_env_i", "pass", "pass", "pass", NotVerified, []string{"CP206", "CP214"}},
		{"c22_stub", "fail 803", "fail 803", "fail 803", NotVerified, []string{"CP210"}},
		{"load_cubin90", "pass", "pass", "pass", NotVerified, []string{"CP207", "CP225"}},
		{"load_cubin80", "fail 209", "fail 209", "fail 209", Failed, []string{"CP104", "CP203", "CP204", "CP214"}},
		{"load_ptx90", "fail 223", "pass", "pass cache 2", Failed, []string{"CP201", "CP205"}},
		{"load_fatbin90", "pass", "pass", "pass", Passed, nil},
		{"load_fatbin80_ptx75", "fail 223", "pass", "pass cache 2", Failed, []string{"CP104", "CP201", "CP205"}},
		{"load_fatbin80", "fail 209", "fail 209", "fail 209", Failed, []string{"CP104", "CP203", "CP204", "CP214"}},
		{"load_ptx120", "fail 223", "fail 218", "fail 218", Failed, []string{"CP108", "CP203", "CP204", "CP214"}},
		{"c30_echo", "pass", "pass", "pass", NotVerified, []string{"CP206", "CP214"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, r := replay(t, test.name)
			for mode, want := range map[manifest.Mode]string{
				manifest.NativeMode: test.native, manifest.PTXMode: test.ptx, manifest.AsShippedMode: test.shipped,
			} {
				if got := seen(m, r, mode); got != want {
					t.Errorf("%s: %s, want %s", mode, got, want)
				}
			}
			result := Judge(m, r)
			if result.Verdict != test.verdict {
				t.Errorf("verdict %q, want %q", result.Verdict, test.verdict)
			}
			var errors []Finding
			for _, f := range result.Findings {
				if f.Severity == Error {
					errors = append(errors, f)
				}
			}
			equal(t, "errors", ids(errors), test.findings)
		})
	}
}

// The build without -gencode fails with the compiler's default target named,
// although it works as shipped: the case that a release record gets wrong.
func TestRecordedDefaultTarget(t *testing.T) {
	m, r := replay(t, "no_gencode")
	for _, f := range Judge(m, r).Findings {
		if f.ID == "CP104" && f.Cause == "Compiler default suspected: sm_75 is what nvcc takes when no -arch or -gencode reaches it." {
			return
		}
	}
	t.Error("the default target sm_75 is not named")
}

// What the driver returned is joined with what inspection saw.
func TestRecordedDiagnosis(t *testing.T) {
	for _, test := range []struct{ name, id, cause, action string }{
		{"sm90", "CP202", "The driver found no image that capability 9.0 can use in this mode; the inspected files have sm_90.", "Add PTX: -gencode arch=compute_90,code=compute_90."},
		{"ptx90", "CP201", "Only PTX fits capability 9.0, and compiling it was disabled; the inspected files have compute_90.", "Add machine code: -gencode arch=compute_90,code=[sm_90,compute_90] (in CMAKE_CUDA_ARCHITECTURES: 90; CUDA 11.8 or newer), at compile and link."},
		{"sm80", "CP203", "Native: the driver found no image that capability 9.0 can use in this mode; the inspected files have sm_80; PTX: the driver found no image that capability 9.0 can use in this mode; the inspected files have sm_80.", "Add machine code: -gencode arch=compute_90,code=[sm_90,compute_90] (in CMAKE_CUDA_ARCHITECTURES: 90; CUDA 11.8 or newer), at compile and link. Add PTX: -gencode arch=compute_90,code=compute_90."},
		{"c06_newer_ptx", "CP204", "The PTX (ISA 9.9) is newer than the driver, which supports CUDA 13.0.", "Use an older toolkit for the PTX, or state the newer driver as a requirement."},
		{"c07_refused_ptx", "CP202", "The driver refused to compile the PTX, although its .target fits capability 9.0: an instruction does not exist there.", "Check the PTX with ptxas for every target."},
		{"load_ptx120", "CP204", "The driver refused to compile the PTX: it is of compute_120, above capability 9.0.", "Lower the virtual architecture."},
		{"load_ptx120", "CP203", "Native: there is no machine code for capability 9.0, and compiling PTX was disabled; it would not help, for the PTX is of compute_120, above the device; PTX: the driver refused to compile the PTX: it is of compute_120, above capability 9.0.", "Add machine code: -gencode arch=compute_90,code=[sm_90,compute_90] (in CMAKE_CUDA_ARCHITECTURES: 90; CUDA 11.8 or newer), at compile and link. Lower the virtual architecture."},
		{"load_cubin90", "CP225", "The program loads bare cubins, which CUDA_FORCE_PTX_JIT does not touch, so their PTX was not tested.", "Load these kernels from a fatbin with PTX, or leave the mode out with this reason."},
		{"load_fatbin80_ptx75", "CP201", "Only PTX fits capability 9.0, and compiling it was disabled; the inspected files have compute_75, sm_80.", "Add machine code: -gencode arch=compute_90,code=[sm_90,compute_90] (in CMAKE_CUDA_ARCHITECTURES: 90; CUDA 11.8 or newer), at compile and link."},
		{"rdc_lost_link", "CP208", "The device link was left out, or did not get the targets, so the driver links at every start.", "Link the device code at build time, with the -gencode options of the compile step."},
		{"c22_stub", "CP210", "Driver, driver library and device do not fit together: the driver library does not fit the kernel driver.", "Correct the driver installation or library path (libcuda: build/c22/libcuda.so.1), and run again."},
		{"c20_unchecked", "CP209", "A launch or load failed and the program did not look: no image in the file fits the device.", "Check every CUDA call and launch (cudaGetLastError), and give the device an image for every kernel."},
		{"c08_nvrtc_ptx", "CP201", "Every inspected kernel has machine code for capability 9.0, so PTX made at run time (NVRTC) or in a library that was not inspected was refused.", "Compile run-time code to a cubin for the device, or leave the mode out with a reason."},
		{"c08_nvrtc_cubin", "CP230", "Device code is made at run time (NVRTC, nvJitLink), so inspection does not see all that runs.", "Test this code in entry points of its own, for every device that it is made for."},
		{"c21_disagree", "CP201", "No driver error was seen; the program's results or its own checks differ in this mode.", "Read the run's stdout and stderr in the evidence."},
		{"rdc_ptx90", "CP201", "Only PTX fits capability 9.0, and compiling it was disabled; the inspected files have compute_90.", "Add machine code: -gencode arch=compute_90,code=[sm_90,compute_90] (in CMAKE_CUDA_ARCHITECTURES: 90; CUDA 11.8 or newer), at compile and link."},
	} {
		m, r := replay(t, test.name)
		found := false
		for _, f := range Judge(m, r).Findings {
			if f.ID == test.id {
				found = true
				if f.Cause != test.cause || f.Action != test.action {
					t.Errorf("%s:\ngot  %s\n     %s\nwant %s\n     %s", test.name, f.Cause, f.Action, test.cause, test.action)
				}
			}
		}
		if !found {
			t.Errorf("%s: no finding %s", test.name, test.id)
		}
	}
}

// TestRecordedTrace has where the images of the launched kernels came from, by
// mode: from the final files (f), from a library (l), from no file (-).
func TestRecordedTrace(t *testing.T) {
	letters := map[Origin]string{Shipped: "f", InLibrary: "l", Nowhere: "-"}
	for name, want := range map[string][3]string{
		"sm90_ptx90":      {"f", "-", "f"},
		"rdc_sm90_ptx90":  {"f", "-", "f"},
		"rdc_lost_link":   {"-", "-", "-"}, // linked by the driver
		"sm90":            {"f", "", "f"},
		"sm80_ptx80":      {"", "-", "-"},
		"c08_nvrtc_cubin": {"-f", "--", "-f"},
		"c20_unchecked":   {"", "", ""},
		"torch":           {"fllllllllllllll" + "l", "", "fllllllllllllll" + "l"},
		"c30_env_i":       {"", "", ""},
		"load_cubin90":    {"f", "f", "f"},
		"load_fatbin90":   {"f", "-", "f"},
		"load_ptx90":      {"", "-", "-"},
	} {
		_, r := replay(t, name)
		for n, mode := range manifest.AllModes {
			var got []string
			for _, run := range r.Runs {
				if run.Mode != string(mode) {
					continue
				}
				for _, l := range Launches(r, run) {
					for _, o := range l.Origins {
						got = append(got, letters[o])
					}
				}
			}
			slices.Sort(got)
			if strings.Join(got, "") != want[n] {
				t.Errorf("%s, %s: %q, want %q", name, mode, strings.Join(got, ""), want[n])
			}
		}
	}
}

// TestRecordedImages matches every image that PyTorch loaded natively to ours or to
// a library; as shipped, one more was compiled, which equals none.
func TestRecordedImages(t *testing.T) {
	_, r := replay(t, "torch")
	origins := originsOf(r)
	for _, run := range r.Runs {
		counts := map[Origin]int{}
		for _, p := range run.Trace.Processes {
			for _, m := range p.Modules {
				counts[origins[m.SHA256]]++
			}
		}
		s := sight{record: r, devices: devicesOf(r, run)}
		switch unknown := s.unknown(run); run.Mode {
		case native:
			if counts[Shipped] != 1 || counts[InLibrary] != 14 || counts[Nowhere] != 0 {
				t.Errorf("native: %v", counts)
			}
		case shipped:
			if counts[InLibrary] != 14 || len(unknown) != 1 || unknown[0].Size != 3688 || unknown[0].Loads != 2 {
				t.Errorf("as shipped: %v, unknown %+v", counts, unknown)
			}
		}
	}
}
