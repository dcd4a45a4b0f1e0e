package nvcc

import (
	"slices"
	"strings"
	"testing"
)

func words(c Command) string {
	var list []string
	for _, t := range c.Targets() {
		list = append(list, t.String())
	}
	list = append(list, c.Words...)
	if c.Unread != "" {
		list = append(list, "unread "+c.Unread)
	}
	return strings.Join(list, " ")
}

// The images are those that nvcc 11.8 names in its --dryrun.
func TestTargets(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"nvcc -gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90,code=sm_90 k.cu", "sm_80 compute_80 sm_90"},
		{`nvcc -gencode arch=compute_80,code="sm_80,sm_86" k.cu`, "sm_80 sm_86"},
		{`nvcc --generate-code=arch=compute_80,code=[compute_80,sm_80] k.cu`, "sm_80 compute_80"},
		{"nvcc -gencode=code=sm_80,arch=compute_80 k.cu", "sm_80"},
		{"nvcc -arch sm_90a k.cu", "sm_90a compute_90a"},
		{"nvcc -arch=compute_90 k.cu", "compute_90"},
		{"nvcc -arch compute_80 -code sm_80 -code=sm_86 k.cu", "sm_80 sm_86"},
		{"nvcc --gpu-architecture=compute_80 --gpu-code=sm_80,compute_80 k.cu", "sm_80 compute_80"},
		{"nvcc -arch=sm_80 -arch=compute_90 k.cu", "compute_90"},
		{"nvcc -arch=sm_80 -gencode arch=compute_90,code=sm_90 k.cu", "sm_80 compute_80 sm_90"},
		{"nvcc -gencode arch=compute_80,code=lto_80 -dc k.cu", "lto_80"},
		{"nvcc -arch=lto_80 -dc k.cu", "lto_80"},
		{"nvcc -arch=native k.cu", "native"},
		{"nvcc -arch=all-major -gencode arch=compute_80,code=sm_80 k.cu", "sm_80 all-major"},
		{"nvcc k.cu", ""},
		{"nvcc -D -arch=sm_80 k.cu", ""},
		{"/usr/local/cuda/bin/nvcc -Xcompiler -arch=sm_80 k.cu", ""},
		{"nvcc -optf flags k.cu", "unread -optf flags"},
		{"nvcc @flags k.cu", "unread @flags"},
		{"nvcc -arch=sm_new k.cu", "unread -arch=sm_new"},
		{"nvcc -gencode arch=compute_80 k.cu", "unread -gencode arch=compute_80"},
		{"nvcc -gencode arch=compute_80,code=sm_80,$X k.cu", "sm_80 unread -gencode arch=compute_80,code=sm_80,$X"},
	} {
		c, ok := Parse(strings.Fields(test.line), nil)
		if !ok || words(c) != test.want {
			t.Errorf("%s: got %q, want %q", test.line, words(c), test.want)
		}
		if none := c.NamesNone(); none != (test.want == "") {
			t.Errorf("%s: names none: %v", test.line, none)
		}
	}
}

// An -arch in NVCC_APPEND_FLAGS takes the place of the command line's, and adds to
// its -gencode.
func TestEnvironment(t *testing.T) {
	environment := map[string]string{"NVCC_APPEND_FLAGS": "-arch=sm_70 -G", "NVCC_PREPEND_FLAGS": "-arch sm_60"}
	for line, want := range map[string]string{
		"nvcc -arch=sm_80 k.cu":                         "sm_70 compute_70",
		"nvcc -gencode arch=compute_90,code=sm_90 k.cu": "sm_70 compute_70 sm_90",
	} {
		if c, _ := Parse(strings.Fields(line), environment); words(c) != want {
			t.Errorf("%s: got %q, want %q", line, words(c), want)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, test := range []struct {
		line    string
		sources []string
		output  string
		links   bool
		dlinks  bool
		lto     bool
	}{
		{"nvcc -o app a.cu b.cpp c.o", []string{"a.cu"}, "app", true, false, false},
		{"nvcc -dc -o a.cu.o a.cu -MF a.cu", []string{"a.cu"}, "a.cu.o", false, false, false},
		{"nvcc -c -x cu b.cpp -include x.cu", []string{"b.cpp"}, "", false, false, false},
		{"nvcc -x c++ -c a.cu", nil, "", false, false, false},
		{"nvcc -dlink a.o b.o -o d.o", nil, "d.o", false, true, false},
		{"nvcc -dlto -shared a.o --output-file=libx.so", nil, "libx.so", true, false, true},
		{"nvcc -lib a.o -o libx.a", nil, "libx.a", false, false, false},
		{"nvcc a.cu -o", []string{"a.cu"}, "", true, false, false},
	} {
		c, _ := Parse(strings.Fields(test.line), nil)
		if !slices.Equal(c.Sources, test.sources) || c.Output != test.output || c.Links != test.links || c.DeviceLinks != test.dlinks || c.LTO != test.lto {
			t.Errorf("%s: got %+v", test.line, c)
		}
	}
	for _, line := range []string{"", "g++ -o nvcc a.cu", "make"} {
		if c, ok := Parse(strings.Fields(line), nil); ok {
			t.Errorf("%q is taken for nvcc: %+v", line, c)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("nvcc -gencode arch=compute_80,code=[sm_80,compute_80] -o x k.cu", "-arch=sm_70")
	f.Add("nvcc -gencode", "@x")
	f.Fuzz(func(t *testing.T, line, appended string) {
		c, ok := Parse(strings.Split(line, " "), map[string]string{"NVCC_APPEND_FLAGS": appended})
		if !ok && (c.Output != "" || len(c.Pairs) > 0) {
			t.Errorf("no call of nvcc, but %+v", c)
		}
	})
}
