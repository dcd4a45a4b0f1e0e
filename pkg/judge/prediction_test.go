package judge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/coverage"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

var hopper = arch.Capability{Major: 9}

// TestPredictLoads has the table of loads by the driver API, and that of builds, as
// they were measured on an H200 (driver 580.159.04, CUDA 13.0): nothing set,
// CUDA_DISABLE_PTX_JIT=1, CUDA_FORCE_PTX_JIT=1, both.
func TestPredictLoads(t *testing.T) {
	set := func(images ...string) coverage.Set {
		c := container(t, devicecode.WholeProgram, images...)
		for n, i := range c.Images {
			if version, ok := strings.CutPrefix(images[n], i.Target.String()+":k@"); ok {
				c.Images[n].PTXVersion = version
			} else if i.Kind == devicecode.PTX {
				c.Images[n].PTXVersion = "9.0"
			}
		}
		return coverage.Module{Loaded: c.Images, Kernels: coverage.Names(c.Images)}.Groups()[0].Set
	}
	relocatable := func(s coverage.Set) coverage.Set {
		for n := range s.Images {
			s.Images[n].Input = true
		}
		return s
	}
	for _, test := range []struct {
		name string
		set  coverage.Set
		lone bool
		want string
	}{
		{"bare sm_90 cubin", set("sm_90:k"), true, "sm_90 sm_90 sm_90 sm_90"},
		{"bare sm_80 cubin", set("sm_80:k"), true, "209 209 209 209"},
		{"PTX text 9.0", set("compute_90:k"), true, "compute_90 223 compute_90 223"},
		{"fatbin sm_90 + PTX", set("sm_90:k", "compute_90:k"), false, "sm_90 sm_90 compute_90 223"},
		{"fatbin sm_80 + compute_70 PTX", set("sm_80:k", "compute_70:k"), false, "compute_70 223 compute_70 223"},
		{"fatbin sm_80 only", set("sm_80:k"), false, "209 209 209 209"},
		{"PTX with a too new .version", set("compute_90:k@9.9"), true, "222 223 222 223"},
		{"PTX with .target sm_120", set("compute_120:k"), true, "218 223 218 223"},

		{"sm_90 + compute_90", set("sm_90:k", "compute_90:k"), false, "sm_90 sm_90 compute_90 223"},
		{"sm_90 only", set("sm_90:k"), false, "sm_90 sm_90 209 209"},
		{"compute_90 only", set("compute_90:k"), false, "compute_90 223 compute_90 223"},
		{"sm_80 + compute_80", set("sm_80:k", "compute_80:k"), false, "compute_80 223 compute_80 223"},
		{"no -gencode", set("sm_75:k", "compute_75:k"), false, "compute_75 223 compute_75 223"},
		{"-rdc, device link without target", relocatable(set("sm_90:k", "compute_90:k")), false, "sm_90 sm_90 compute_90 223"},
		{"-rdc, compute_90 only", relocatable(set("compute_90:k")), false, "compute_90 223 compute_90 223"},
	} {
		var got []string
		for _, j := range []jit{{}, {disabled: true}, {forced: true}, {disabled: true, forced: true}} {
			p := predict(test.set, test.lone, j, hopper, arch.Driver{CUDA: "13.0"})
			words := p.image
			for _, e := range p.errors {
				words += fmt.Sprint(e)
			}
			got = append(got, words)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// unpredictable are the recorded runs that show something else than the files'
// device code, by name and mode, with the reason.
var unpredictable = map[string]string{
	"c07_refused_ptx/ptx":        "the PTX has an instruction that the compiler refuses: ptxas tells, the rules do not",
	"c08_nvrtc_ptx/native":       "the device code is made at run time",
	"c08_nvrtc_ptx/ptx":          "the device code is made at run time",
	"c08_nvrtc_ptx/as-shipped":   "the device code is made at run time",
	"c08_nvrtc_cubin/native":     "the device code is made at run time",
	"c08_nvrtc_cubin/ptx":        "the device code is made at run time",
	"c08_nvrtc_cubin/as-shipped": "the device code is made at run time",
	"c22_stub/native":            "the environment is not fit: error 803",
	"c22_stub/ptx":               "the environment is not fit: error 803",
	"c22_stub/as-shipped":        "the environment is not fit: error 803",
	"c30_echo/native":            "no process uses CUDA",
	"c30_echo/ptx":               "no process uses CUDA",
	"c30_echo/as-shipped":        "no process uses CUDA",
	"c30_env_i/native":           "the mode's variables do not reach the program",
	"c30_env_i/ptx":              "the mode's variables do not reach the program",
	"c30_env_i/as-shipped":       "the mode's variables do not reach the program",
	"torch/ptx":                  "a library without PTX ends the run before ours is loaded",
}

// TestPredictRecorded compares the prediction for every recorded run with what
// happened: the image that the kernels ran from, or the driver's error.
func TestPredictRecorded(t *testing.T) {
	paths, err := filepath.Glob(recorded + "*.yaml")
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	compared, unused := 0, map[string]bool{}
	for name := range unpredictable {
		unused[name] = true
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		_, r := replay(t, name)
		for _, run := range r.Runs {
			key := name + "/" + run.Mode
			if unpredictable[key] != "" {
				delete(unused, key)
				continue
			}
			compared++
			want := predictions(t, r, run)
			got := happened(r, run)
			if !slices.Equal(got, want) {
				t.Errorf("%s: predicted %q, happened %q", key, want, got)
			}
		}
	}
	if compared < 60 {
		t.Errorf("only %d runs were compared", compared)
	}
	if len(unused) > 0 {
		t.Errorf("no such run: %v", unused)
	}
}

// predictions gives what is said of the run's artifacts: "image sm_90", "error 209".
func predictions(t *testing.T, r *record.Record, run record.Run) (list []string) {
	t.Helper()
	if len(r.Probe.Devices) != 1 || r.Probe.Driver.CUDA != "13.0" {
		t.Fatalf("not the machine that was recorded: %+v", r.Probe)
	}
	for _, a := range r.Artifacts {
		for _, o := range a.Objects {
			for _, mod := range coverage.Modules(a.FormatOf(o), o) {
				for _, g := range mod.Groups() {
					p := predict(g.Set, loneImage(mod), jitOf(manifest.Mode(run.Mode)), r.Probe.Devices[0].Capability, arch.Driver{CUDA: r.Probe.Driver.CUDA})
					if p.open || len(p.errors) > 1 {
						t.Errorf("nothing is predicted: %+v", p)
					}
					if p.image != "" {
						list = append(list, "image "+p.image)
					}
					for _, e := range p.errors {
						list = append(list, fmt.Sprint("error ", e))
					}
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// happened gives the same of a run as it was recorded. An image that equals none of
// the files was compiled from their PTX, or linked at load from their relocatable
// code: which, the JIT variables and the device tell apart, so that the one target
// that is possible is named.
func happened(r *record.Record, run record.Run) (list []string) {
	targets := map[string]string{}
	relocatable, ptx := "", ""
	var images []devicecode.Image
	for _, a := range r.Artifacts {
		for _, o := range a.Objects {
			for _, c := range o.Code.Containers {
				if !coverage.DeviceRuntime(c) {
					images = append(images, c.Images...)
				}
			}
		}
	}
	for _, i := range images {
		switch {
		case i.Kind == devicecode.Cubin && i.Relocatable && len(i.Kernels) > 0:
			relocatable = i.Target.String()
		case i.Kind == devicecode.Cubin:
			targets[i.SHA256] = i.Target.String()
		case len(i.Kernels) > 0:
			ptx = i.Target.String()
		}
	}
	for _, l := range Launches(r, run) {
		if !l.Ours {
			continue
		}
		for _, hash := range l.Modules {
			switch target := targets[hash]; {
			case target != "":
				list = append(list, "image "+target)
			case run.CacheFiles == 0 && relocatable != "" && run.Mode != string(manifest.PTXMode):
				list = append(list, "image "+relocatable)
			default:
				list = append(list, "image "+ptx)
			}
		}
	}
	for _, e := range run.DriverErrors {
		if slices.Contains([]int{209, 218, 222, 223, 300}, e.Code) && len(list) == 0 {
			list = append(list, fmt.Sprint("error ", e.Code))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A kernel that ran from an image that the rules do not name is a finding.
func TestContradicted(t *testing.T) {
	m, r := replay(t, "sm90_ptx90")
	if got := ids(Runs(m, r)); slices.Contains(got, "CP238") {
		t.Fatalf("as recorded: %v", got)
	}
	// The same record, but the image that ran is said to be of another target.
	for _, o := range r.Artifacts[0].Objects {
		for _, c := range o.Code.Containers {
			for n, i := range c.Images {
				if i.Kind == devicecode.Cubin && len(i.Kernels) > 0 {
					c.Images[n].Target = target(t, "sm_80")
				}
			}
		}
	}
	found := Runs(m, r)
	var facts []string
	for _, f := range found {
		if f.ID == "CP238" {
			facts = append(facts, f.Mode+": "+f.Fact)
		}
	}
	want := []string{
		"native: In this mode kernel write_answer ran from the sm_80 image; by the rules capability 9.0 refuses it with error 223.",
		"as-shipped: In this mode kernel write_answer ran from the sm_80 image; by the rules capability 9.0 takes compute_90.",
	}
	equal(t, "contradictions", facts, want)
}
