package judge

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
	"github.com/cudaproof/cudaproof/pkg/record"
)

func TestCoverage(t *testing.T) {
	const whole, linked, relocatable = devicecode.WholeProgram, devicecode.DeviceLinked, devicecode.Relocatable
	type containers = []devicecode.Container
	for _, test := range []struct {
		name        string
		file        containers
		native, ptx []string
		devices     []string
		want        []string
		says        string // of the first finding
	}{
		{"both", containers{container(t, whole, "sm_90:k", "compute_90:k")}, []string{"sm_90"}, []string{"compute_90"}, nil, nil, ""},
		{"no PTX", containers{container(t, whole, "sm_90:k")}, []string{"sm_90"}, []string{"compute_90"}, nil, []string{"CP105"}, "No compute_90 PTX for kernel k; the module has sm_90."},
		{"PTX only", containers{container(t, whole, "compute_90:k")}, []string{"sm_90"}, []string{"compute_90"}, nil, []string{"CP104"}, "No sm_90 machine code for kernel k; the module has compute_90."},
		{"compatible is not exact", containers{container(t, whole, "sm_80:k")}, []string{"sm_86"}, nil, nil, []string{"CP104"}, ""},
		{"suffix is not plain", containers{container(t, whole, "sm_90a:k")}, []string{"sm_90"}, nil, nil, []string{"CP104"}, ""},
		{"kernel missing from one target", containers{container(t, whole, "sm_80:k,l", "sm_90:k")}, []string{"sm_80", "sm_90"}, nil, nil, []string{"CP106"}, "The sm_90 machine code lacks kernel l"},
		{"kernel missing from PTX", containers{container(t, whole, "sm_90:k,l", "compute_90:k")}, nil, []string{"compute_90"}, nil, []string{"CP106"}, "The compute_90 PTX lacks kernel l"},
		{"C24 link stub", containers{container(t, linked, "sm_52"), container(t, whole, "sm_80:k", "compute_80:k")}, []string{"sm_80"}, []string{"compute_80"}, []string{"8.0"}, nil, ""},
		{"C23 default target", containers{container(t, linked, "sm_75"), container(t, whole, "sm_75:k", "compute_75:k")}, []string{"sm_90"}, nil, nil, []string{"CP104"}, ""},
		{"C28 same kernel, two containers", containers{container(t, whole, "sm_80:k", "sm_90:k"), container(t, whole, "sm_80:k")}, []string{"sm_90"}, nil, nil, []string{"CP104"}, ""},
		{"C29 variables only", containers{container(t, whole, "sm_80:*")}, []string{"sm_90"}, nil, nil, []string{"CP104"}, ""},
		{"C29 variables covered", containers{container(t, whole, "sm_90:*")}, []string{"sm_90"}, nil, []string{"9.0"}, nil, ""},
		{"C11 device link", containers{container(t, linked, "sm_90:k"), container(t, relocatable, "sm_90:k", "compute_90:k")}, []string{"sm_90"}, []string{"compute_90"}, nil, nil, ""},
		{"C10 device link without target", containers{container(t, linked, "sm_75"), container(t, relocatable, "sm_80:k", "sm_90:k")}, []string{"sm_90"}, nil, nil, []string{"CP107"}, "never device-linked"},
		{"C10 by device", containers{container(t, linked, "sm_75"), container(t, relocatable, "sm_80:k", "sm_90:k")}, nil, nil, []string{"8.6"}, []string{"CP107"}, "never device-linked"},
		{"C12 all-virtual device link", containers{container(t, relocatable, "compute_90:k")}, nil, []string{"compute_90"}, []string{"9.0"}, []string{"CP112"}, "compiled from PTX"},
		{"device function without PTX", containers{container(t, linked, "sm_80:k"), container(t, relocatable, "sm_80:k", "compute_80:k"), container(t, relocatable, "sm_80:*")}, []string{"sm_80"}, []string{"compute_80"}, nil, []string{"CP105"}, "No compute_80 PTX in this relocatable container"},
		{"device function without PTX, by device", containers{container(t, linked, "sm_80:k"), container(t, relocatable, "sm_80:k", "compute_80:k"), container(t, relocatable, "sm_80:*")}, nil, nil, []string{"8.6", "9.0"}, []string{"CP108"}, "A device of capability 9.0"},
		{"C28 same kernel, two device links", containers{container(t, linked, "sm_80:k", "sm_90:k"), container(t, linked, "sm_80:k"), container(t, relocatable, "sm_80:k", "sm_90:k"), container(t, relocatable, "sm_80:k")}, []string{"sm_80", "sm_90"}, nil, nil, []string{"CP107"}, ""},
		{"kernel that no device link took", containers{container(t, linked, "sm_80:k"), container(t, relocatable, "sm_80:k,l")}, []string{"sm_80"}, nil, nil, []string{"CP107"}, "kernel l"},
		{"C01 a-suffix only", containers{container(t, whole, "sm_80:k", "sm_90a:k", "sm_100a:k")}, nil, nil, []string{"8.6", "9.0", "10.0", "10.3"}, []string{"CP108"}, "A device of capability 10.3 finds no image for kernel k"},
		{"C01 with PTX", containers{container(t, whole, "sm_80:k", "sm_90a:k", "sm_100a:k", "compute_80:k")}, nil, nil, []string{"10.0", "10.3"}, []string{"CP112"}, "On capability 10.3"},
		{"C02 last PTX is a", containers{container(t, whole, "sm_80:k", "compute_90a:k")}, nil, nil, []string{"12.0"}, []string{"CP108"}, ""},
		{"C05 Jetson", containers{container(t, whole, "sm_80:k")}, nil, nil, []string{"8.7"}, []string{"CP109"}, ""},
		{"C15 LTO IR only", containers{container(t, whole, "lto_80:k")}, nil, nil, []string{"8.0"}, []string{"CP108"}, ""},
		{"asked for exactly and by device: judged once", containers{container(t, whole, "sm_80:k")}, []string{"sm_90"}, nil, []string{"9.0"}, []string{"CP104"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := wanting(t, test.native, test.ptx)
			for _, s := range test.devices {
				c, err := arch.ParseCapability(s)
				if err != nil {
					t.Fatal(err)
				}
				m.Require.Devices = append(m.Require.Devices, c)
			}
			found := Coverage(m, &record.Record{Artifacts: []record.Artifact{program(test.file...)}})
			equal(t, "findings", ids(found), test.want)
			if len(found) > 0 && !strings.Contains(found[0].Fact, test.says) {
				t.Errorf("fact %q does not say %q", found[0].Fact, test.says)
			}
		})
	}
}

func TestDefaultTargetIsNamed(t *testing.T) {
	found := Coverage(wanting(t, []string{"sm_90"}, nil), &record.Record{Artifacts: []record.Artifact{
		program(container(t, devicecode.WholeProgram, "sm_75:k", "compute_75:k")),
	}})
	if len(found) != 1 || !strings.HasPrefix(found[0].Cause, "Compiler default suspected: sm_75") {
		t.Errorf("got %+v, want the default target named", found)
	}
}

// C13: what an archive holds says nothing of a program linked with it, and in
// an archive relocatable code stands for itself.
func TestArchiveRelocatable(t *testing.T) {
	a := program(container(t, devicecode.Relocatable, "sm_90:k"))
	a.Format = artifact.StaticLibrary
	if found := Coverage(wanting(t, []string{"sm_90"}, nil), &record.Record{Artifacts: []record.Artifact{a}}); len(found) > 0 {
		t.Errorf("got %+v, want nothing for a static library", found)
	}
}

// nvcc links NVIDIA's device runtime into programs with relocatable code; it
// has its own targets, and the project cannot give it others.
func TestDeviceRuntimeIsNotOurs(t *testing.T) {
	const runtime = "__nv_static_52__f4510a67_22_cuda_device_runtime_cu_3ecce0c0_2317245__Z16memcpy_3d_deviceIjLi0EEv"
	file := []devicecode.Container{
		container(t, devicecode.Relocatable, "compute_90:k"),
		container(t, devicecode.Relocatable, "sm_90:"+runtime, "compute_121:"+runtime),
	}
	r := &record.Record{Artifacts: []record.Artifact{program(file...)}}
	equal(t, "PTX", ids(Coverage(wanting(t, nil, []string{"compute_90"}), r)), []string{"CP115"})
	equal(t, "native", ids(Coverage(wanting(t, []string{"sm_90"}, nil), r)), []string{"CP104", "CP115"})

	// As Debian's nvcc 11.8 links it in, without a number after the hash.
	const debian = "__nv_static_44__570e7b9d_22_cuda_device_runtime_cu_8b1a5d37__Z16memset_3d_deviceIjLi0ELi0ELi0EEvPhhjT_"
	file[1] = container(t, devicecode.Relocatable, "sm_90:"+debian)
	r.Artifacts = []record.Artifact{program(file...)}
	equal(t, "without a number", ids(Coverage(wanting(t, nil, []string{"compute_90"}), r)), []string{"CP115"})

	// A kernel of the project's in a file of that name is the project's.
	const own = "__nv_static_43__0f0f0f0f_25_my_cuda_device_runtime_cu_3ecce0c0_1__Z1kPi"
	r.Artifacts = []record.Artifact{program(container(t, devicecode.WholeProgram, "sm_52:"+own))}
	equal(t, "own kernel", ids(Coverage(wanting(t, []string{"sm_90"}, nil), r)), []string{"CP104"})
}
