package coverage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// image makes an image of "sm_90:k,l" or "compute_80/8.4:k"; "*" is a variable.
func image(t testing.TB, s string) devicecode.Image {
	t.Helper()
	head, kernels, _ := strings.Cut(s, ":")
	head, compression, _ := strings.Cut(head, " ")
	name, version, _ := strings.Cut(head, "/")
	target, err := arch.ParseTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	i := devicecode.Image{Kind: devicecode.Cubin, Target: target, Toolkit: version, Compression: compression}
	switch target.Class {
	case arch.Compute:
		i.Kind, i.PTXVersion, i.Toolkit = devicecode.PTX, version, ""
		if version == "" {
			i.PTXVersion = "7.8"
		}
	case arch.LTO:
		i.Kind = devicecode.LTOIR
	}
	for k := range strings.SplitSeq(kernels, ",") {
		switch k {
		case "":
		case "*":
			i.Variables = 1
		default:
			i.Kernels = append(i.Kernels, devicecode.Kernel{Mangled: k, Name: k})
		}
	}
	return i
}

func container(t testing.TB, role devicecode.Role, images ...string) devicecode.Container {
	c := devicecode.Container{Section: ".nv_fatbin", Role: role}
	for _, s := range images {
		c.Images = append(c.Images, image(t, s))
	}
	return c
}

func program(containers ...devicecode.Container) artifact.File {
	for n := range containers {
		containers[n].Offset = int64(0x10 * (n + 1))
	}
	return artifact.File{
		Path: "app", Format: artifact.Executable, SHA256: "0",
		Objects: []artifact.Object{{Code: devicecode.Code{Containers: containers}}},
	}
}

func capabilities(t testing.TB, list string) []arch.Capability {
	var out []arch.Capability
	for s := range strings.FieldsSeq(list) {
		c, err := arch.ParseCapability(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// TestCases says, for the kernels of the field cases, what devices take.
func TestCases(t *testing.T) {
	const whole, linked, relocatable = devicecode.WholeProgram, devicecode.DeviceLinked, devicecode.Relocatable
	type containers = []devicecode.Container
	for _, test := range []struct {
		name    string
		file    containers
		driver  string
		devices string
		want    string // by device; then rows apart by " | "
	}{
		{"C01 only a", containers{container(t, whole, "sm_80:k", "sm_90a:k", "sm_100a:k")}, "", "10.0 9.0 10.3 8.6",
			"native sm_100a (CUDA 12.7); native sm_90a (CUDA 11.8); none; native sm_80 (CUDA 11.1)"},
		{"C01 with PTX", containers{container(t, whole, "sm_80:k", "sm_90a:k", "sm_100a:k", "compute_80/8.4:k")}, "", "10.3",
			"JIT from compute_80 (PTX 8.4, CUDA 12.9)"},
		{"C02 last-resort PTX is a", containers{container(t, whole, "sm_80:k", "compute_90a/8.0:k")}, "", "9.0 10.0 12.0",
			"JIT from compute_90a (PTX 8.0, CUDA 12.0); none; none"},
		{"C02 with compute_90", containers{container(t, whole, "sm_80:k", "compute_90/8.0:k")}, "", "10.0 12.0",
			"JIT from compute_90 (PTX 8.0, CUDA 12.7); JIT from compute_90 (PTX 8.0, CUDA 12.8)"},
		{"C03 old PTX behind SASS", containers{container(t, whole, "sm_80:k", "compute_80/8.8:k", "sm_121:k")}, "", "12.0 12.1",
			"JIT from compute_80 (PTX 8.8, CUDA 12.9); native sm_121 (CUDA 12.9)"},
		{"C05 Jetson", containers{container(t, whole, "sm_80:k"), container(t, whole, "sm_87:l"), container(t, whole, "compute_80/7.4:m")}, "", "8.7",
			"not guaranteed sm_80 | JIT from compute_80 (PTX 7.4, CUDA 11.4) | native sm_87 (CUDA 11.4)"},
		{"C05 Jetson, PTX beside it", containers{container(t, whole, "sm_80:k", "compute_80/7.4:k")}, "", "8.7", "JIT from compute_80 (PTX 7.4, CUDA 11.4)"},
		{"C06 PTX newer than the driver", containers{container(t, whole, "compute_75/9.0:k")}, "12.4", "7.5 9.0",
			"none: the driver is too old for compute_75 (PTX 9.0, CUDA 13.0); none: the driver is too old for compute_75 (PTX 9.0, CUDA 13.0)"},
		{"C06 with a driver", containers{container(t, whole, "compute_75/9.0:k")}, "13.0", "9.0", "JIT from compute_75 (PTX 9.0, CUDA 13.0)"},
		{"C10 device link without target", containers{container(t, linked, "sm_75"), container(t, relocatable, "sm_80:k", "sm_90:k")}, "", "8.6 9.0 12.0",
			"load-time link sm_80 (CUDA 11.1); load-time link sm_90 (CUDA 11.8); none"},
		{"C11 device link", containers{container(t, linked, "sm_90:k"), container(t, relocatable, "sm_90:k", "compute_90:k")}, "", "9.0 12.1",
			"native sm_90 (CUDA 11.8); JIT from compute_90 (PTX 7.8, CUDA 12.9)"},
		{"C12 all-virtual", containers{container(t, relocatable, "compute_90:k")}, "", "9.0", "JIT from compute_90 (PTX 7.8, CUDA 11.8)"},
		{"an input without PTX", containers{container(t, linked, "sm_80:k"), container(t, relocatable, "sm_80:k", "compute_80:k"), container(t, relocatable, "sm_80:*")}, "", "8.0 9.0",
			"native sm_80 (CUDA 11.0); none"},
		{"C15 LTO IR", containers{container(t, whole, "lto_80:k")}, "", "8.0", "none"},
		{"C16 family", containers{container(t, whole, "sm_100f:k")}, "", "10.0 10.3 11.0", "native sm_100f (CUDA 12.7); native sm_100f (CUDA 12.9); none"},
		{"C16 two of one number", containers{container(t, whole, "sm_100:k", "sm_100a:k")}, "", "10.0 10.3", "native sm_100 or sm_100a (CUDA 12.7); native sm_100 (CUDA 12.9)"},
		{"C19 zstd", containers{container(t, whole, "sm_90/12.8 zstd:k")}, "", "9.0", "native sm_90 (CUDA 12.4)"},
		{"C19 zstd, older driver", containers{container(t, whole, "sm_90/12.8 zstd:k")}, "12.2", "9.0", "none: the driver is too old for sm_90 (CUDA 12.4)"},
		{"C28 two containers", containers{container(t, whole, "sm_80:k", "sm_90:k"), container(t, whole, "sm_80:k")}, "", "9.0", "none | native sm_90 (CUDA 11.8)"},
		{"C29 variables only", containers{container(t, whole, "sm_80:*")}, "", "8.0 9.0", "native sm_80 (CUDA 11.0); none"},
		{"C24 link stub", containers{container(t, linked, "sm_52"), container(t, whole, "sm_80:k")}, "", "8.0", "native sm_80 (CUDA 11.0)"},
		{"nearest", containers{container(t, whole, "sm_80:k", "sm_86:k", "sm_89:k")}, "", "8.0 8.6 8.9", "native sm_80 (CUDA 11.0); native sm_86 (CUDA 11.1); native sm_89 (CUDA 11.8)"},
		{"minor-version compatibility", containers{container(t, whole, "sm_90/13.2:k", "compute_90/9.2:k")}, "13.0", "9.0 12.0",
			"native sm_90 (CUDA 13.0); none: the driver is too old for compute_90 (PTX 9.2, CUDA 13.2)"},
		{"older PTX beside too new", containers{container(t, whole, "compute_80/8.4:k", "compute_90/9.2:k")}, "13.0", "9.0", "not guaranteed compute_90 (PTX 9.2, CUDA 13.2)"},
		{"driver that dropped the device", containers{container(t, whole, "sm_70/12.8:k", "compute_70/8.7:k")}, "13.1", "7.0 7.5",
			"none: the driver no longer knows the device, else sm_70 (CUDA 12.0); native sm_70 (CUDA 12.0)"},
		{"PTX newer than the last driver of the device", containers{container(t, whole, "compute_50/9.1:k")}, "", "6.1 7.5",
			"none: the driver no longer knows the device, else compute_50 (PTX 9.1, CUDA 13.1); JIT from compute_50 (PTX 9.1, CUDA 13.1)"},
		{"driver older than the device", containers{container(t, whole, "compute_80/8.4:k")}, "12.4", "12.1", "none: the driver is too old for compute_80 (PTX 8.4, CUDA 12.9)"},
		{"PTX beyond the tables", containers{container(t, whole, "compute_90/9.9:k")}, "", "9.0", "unknown compute_90 (PTX 9.9, driver unknown)"},
		{"PTX beyond the tables, driver within", containers{container(t, whole, "compute_90/9.9:k")}, "13.0", "9.0", "none: the driver is too old for compute_90 (PTX 9.9, CUDA 11.8)"},
		{"device beyond the tables", containers{container(t, whole, "sm_120:k", "compute_90/9.0:k"), container(t, whole, "sm_120:l")}, "", "12.9",
			"unknown sm_120 | JIT from compute_90 (PTX 9.0, driver unknown)"},
		{"kernel of one image alone", containers{container(t, whole, "sm_80:k,l", "sm_90:k", "compute_80:k,l")}, "", "9.0",
			"JIT from compute_80 (PTX 7.8, CUDA 11.8) | native sm_90 (CUDA 11.8)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := NewMatrix(capabilities(t, test.devices), arch.Driver{CUDA: test.driver})
			m.AddFile(program(test.file...))
			m.Sort()
			var rows []string
			for _, r := range m.Rows {
				var words []string
				for _, c := range r.Choices {
					words = append(words, c.String())
				}
				rows = append(rows, strings.Join(words, "; "))
			}
			if got := strings.Join(rows, " | "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Every kernel of a module is in exactly one group, with the images that hold it.
func TestGroups(t *testing.T) {
	var sm80, sm90, ptx []string
	for n := range 500 {
		k := fmt.Sprintf("k%03d", n)
		if n%2 == 0 {
			sm80 = append(sm80, k)
		}
		if n%3 == 0 {
			sm90 = append(sm90, k)
		}
		if n%5 != 0 {
			ptx = append(ptx, k)
		}
	}
	f := program(container(t, devicecode.WholeProgram, "sm_80:"+strings.Join(sm80, ","), "sm_90:"+strings.Join(sm90, ","), "compute_90:"+strings.Join(ptx, ",")))
	seen := map[string]string{}
	for _, g := range Modules(f.Format, f.Objects[0])[0].Groups() {
		var targets []string
		for _, i := range g.Images {
			targets = append(targets, i.Target.String())
		}
		for _, k := range g.Kernels {
			if seen[k.Mangled] != "" {
				t.Errorf("%s is in two groups", k.Mangled)
			}
			seen[k.Mangled] = strings.Join(targets, " ")
		}
	}
	for _, list := range []struct {
		target  string
		kernels []string
	}{{"sm_80", sm80}, {"sm_90", sm90}, {"compute_90", ptx}} {
		for k, targets := range seen {
			if slices.Contains(list.kernels, k) != slices.Contains(strings.Fields(targets), list.target) {
				t.Errorf("%s: group %q, in %s %v", k, targets, list.target, slices.Contains(list.kernels, k))
			}
		}
	}
	if want := 500 - len(missing(sm80, sm90, ptx)); len(seen) != want {
		t.Errorf("%d kernels, want %d", len(seen), want)
	}
}

// missing gives the kernels below 500 that are in no list.
func missing(lists ...[]string) (none []string) {
	for n := range 500 {
		k := fmt.Sprintf("k%03d", n)
		if !slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, k) }) {
			none = append(none, k)
		}
	}
	return none
}

func TestSummary(t *testing.T) {
	m := NewMatrix(capabilities(t, "9.0 12.1"), arch.Driver{})
	m.AddFile(program(container(t, devicecode.WholeProgram, "sm_90/13.0:k,l,m", "compute_90/9.0:k,l"), container(t, devicecode.WholeProgram, "sm_121/12.9:n")))
	m.Sort()
	if got := m.Summary[0]; got.Kernels != 4 || got.By[arch.Native] != 3 || got.By[arch.None] != 1 || got.CUDA != "13.0" || got.Products != "H100, H200, GH200" {
		t.Errorf("9.0: %+v", got)
	}
	if got := m.Summary[1]; got.Kernels != 4 || got.By[arch.Native] != 1 || got.By[arch.JIT] != 2 || got.By[arch.None] != 1 || got.CUDA != "13.0" {
		t.Errorf("12.1: %+v", got)
	}
	if len(m.Rows) != 3 || m.Rows[2].Kernels != 2 || len(m.Rows[2].Places) != 1 || !slices.Equal(m.Rows[2].Places[0].Names, []string{"k", "l"}) {
		t.Errorf("rows %+v", m.Rows)
	}
}

// A module without a kernel counts as one, and is told apart; a library of which
// only the sets are kept counts as its file does.
func TestBare(t *testing.T) {
	file := program(container(t, devicecode.WholeProgram, "sm_90/13.0:k,l"), container(t, devicecode.WholeProgram, "sm_90/13.0:*"))
	whole, folded := NewMatrix(capabilities(t, "9.0"), arch.Driver{}), NewMatrix(capabilities(t, "9.0"), arch.Driver{})
	whole.AddFile(file)
	folded.AddFolded("lib", Fold(file))
	for name, m := range map[string]*Matrix{"whole": whole, "folded": folded} {
		if len(m.Rows) != 1 || m.Rows[0].Kernels != 3 || m.Rows[0].Bare != 1 || m.Rows[0].Modules != 2 {
			t.Errorf("%s: %+v", name, m.Rows)
		}
	}
}
