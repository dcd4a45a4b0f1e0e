package judge

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// The commands are made by hand; the files are the images that such a command
// gives with nvcc 11.8.
func TestAsked(t *testing.T) {
	whole := func(images ...string) []devicecode.Container {
		return []devicecode.Container{container(t, devicecode.WholeProgram, images...)}
	}
	relocatable := append(whole("sm_52"), container(t, devicecode.Relocatable, "sm_80:k", "sm_90:k"))
	relocatable[0].Role = devicecode.DeviceLinked
	append80 := map[string]string{"NVCC_APPEND_FLAGS": "-arch=sm_70"}
	for _, test := range []struct {
		name        string
		commands    string // one line each
		environment map[string]string
		file        []devicecode.Container
		want        []string
		says        string
	}{
		{"as asked", "nvcc -gencode arch=compute_90,code=[sm_90,compute_90] k.cu -o app", nil, whole("sm_90:k", "compute_90:k"), nil, ""},
		{"compile and link", "nvcc -arch=sm_90 -c k.cu -o k.o\nnvcc k.o -o app", nil, append(whole("sm_90:k", "compute_90:k"), container(t, devicecode.DeviceLinked, "sm_52")), nil, ""},
		{"stripped", "nvcc -arch=sm_90 k.cu -o app", nil, whole("sm_90:k"), []string{"CP308"}, "asks nvcc for compute_90; no image in the file has it"},
		{"no device code is another finding", "nvcc -arch=sm_90 k.cu -o app", nil, nil, nil, ""},
		{"linked in", "nvcc -arch=sm_90 k.cu -o app", nil, whole("sm_90:k", "compute_90:k", "sm_80:k"), []string{"CP309"}, "The file has images for sm_80; build b asks nvcc for sm_90, compute_90."},
		{"plain PTX of -arch=sm_90a", "nvcc -arch=sm_90a k.cu -o app", nil, whole("sm_90a:k", "compute_90a:k", "compute_90:k"), nil, ""},
		{"C23 no target", "nvcc k.cu -o app", nil, whole("sm_52:k", "compute_52:k"), []string{"CP310"}, "compiles k.cu without -arch or -gencode"},
		{"C23 native", "nvcc -arch=native k.cu -o app", nil, whole("sm_90:k"), []string{"CP311"}, "-arch=native"},
		{"C10 device link", "nvcc -dc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 k.cu -o k.o\nnvcc -dlink k.o -o d.o\nnvcc -gencode arch=compute_90,code=sm_90 k.o d.o -o app", nil, relocatable, []string{"CP310"}, "links relocatable device code without"},
		{"C24 link stub", "nvcc -arch=sm_80 -c k.cu -o k.o\nnvcc k.o -o app", nil, append(whole("sm_80:k", "compute_80:k"), container(t, devicecode.DeviceLinked, "sm_52")), nil, ""},
		{"suffix lost", "nvcc -gencode arch=compute_120,code=sm_120a k.cu -o app", nil, whole("sm_120a:k"), []string{"CP312"}, "compiles sm_120a from compute_120"},
		{"suffix kept", "nvcc -gencode arch=compute_120a,code=sm_120a k.cu -o app", nil, whole("sm_120a:k"), nil, ""},
		{"LTO IR is for the link", "nvcc -dc -gencode arch=compute_80,code=lto_80 k.cu -o k.o\nnvcc -dlto -arch=sm_80 k.o -o app", nil, whole("sm_80:k"), nil, ""},
		{"environment adds", "nvcc -gencode arch=compute_90,code=sm_90 k.cu -o app", append80, whole("sm_90:k", "sm_70:k", "compute_70:k"), []string{"CP313"}, "from sm_90 to sm_70, compute_70, sm_90"},
		{"environment replaces", "nvcc -arch=sm_90 k.cu -o app", append80, whole("sm_70:k", "compute_70:k"), []string{"CP313"}, "from sm_90, compute_90 to sm_70, compute_70"},
		{"environment, other options", "nvcc -arch=sm_90 k.cu -o app", map[string]string{"NVCC_APPEND_FLAGS": "-G"}, whole("sm_90:k", "compute_90:k"), []string{"CP305"}, "NVCC_APPEND_FLAGS=-G"},
		{"behind make", "make", nil, whole("sm_52:k"), []string{"CP306"}, "No build of the manifest is known to write this file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := wanting(t, nil, nil)
			m.Build = []manifest.Build{{Name: "b", Kind: manifest.External}}
			b := record.Build{Name: "b", Kind: string(manifest.External), Environment: test.environment}
			for line := range strings.Lines(test.commands) {
				b.Commands = append(b.Commands, record.Command{Args: strings.Fields(line), Dir: "."})
			}
			found := Builds(m, &record.Record{Builds: []record.Build{b}, Artifacts: []record.Artifact{program(test.file...)}})
			equal(t, "findings", ids(found), test.want)
			if len(found) > 0 && !strings.Contains(found[0].Fact, test.says) {
				t.Errorf("fact %q does not say %q", found[0].Fact, test.says)
			}
		})
	}
}
