package artifact

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

const testdata = "../devicecode/testdata/"

// describe gives the device code of a file, one line for each image; a
// container without images has a line of its own.
func describe(f File) []string {
	var lines []string
	for _, o := range f.Objects {
		for _, p := range o.Code.Problems {
			lines = append(lines, fmt.Sprintf("%sproblem %s %#x: %s", prefix(o), p.Section, p.Offset, p.Text))
		}
		for _, c := range o.Code.Containers {
			where := fmt.Sprintf("%s%s %s: ", prefix(o), c.Section, c.Role)
			if len(c.Images) == 0 {
				lines = append(lines, where+"no images")
			}
			for _, i := range c.Images {
				lines = append(lines, where+describeImage(i))
			}
		}
	}
	return lines
}

func prefix(o Object) string {
	if o.Name == "" {
		return ""
	}
	return o.Name + " "
}

func describeImage(i devicecode.Image) string {
	words := []string{string(i.Kind), i.Target.String()}
	add := func(ok bool, format string, args ...any) {
		if ok {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(i.Virtual != "", "from %s", i.Virtual)
	add(i.PTXVersion != "", "ISA %s", i.PTXVersion)
	add(i.ABI != 0, "ABI %d", i.ABI)
	add(i.Toolkit != "", "by %s", i.Toolkit)
	add(i.Compression != "", "%s", i.Compression)
	add(i.Obfuscated, "obfuscated")
	add(i.Relocatable, "relocatable")
	add(i.Functions != 0, "functions %d", i.Functions)
	add(i.Variables != 0, "variables %d", i.Variables)
	for _, k := range i.Kernels {
		add(true, "%s()", k.Name)
		add(i.Kind == devicecode.Cubin && k.CodeSize == 0, "without code")
	}
	add(i.Empty(), "empty")
	add(i.Problem != "", "PROBLEM %s", i.Problem)
	return strings.Join(words, " ")
}

func open(t *testing.T, name string) File {
	t.Helper()
	f, err := Open(filepath.Join(testdata, name), devicecode.Options{Digests: true})
	if err != nil {
		t.Fatal(err)
	}
	if f.Problem != "" {
		t.Errorf("%s: problem %q", name, f.Problem)
	}
	return f
}

func TestFiles118(t *testing.T) {
	for _, test := range []struct {
		name   string
		format Format
		want   []string
	}{
		{"c10_dlink_without_target", Executable, []string{
			"__nv_relfatbin relocatable: cubin sm_80 from compute_80 ABI 7 by 11.8 lz4 relocatable functions 1",
			"__nv_relfatbin relocatable: cubin sm_90 from compute_90 ABI 7 by 11.8 lz4 relocatable functions 1",
			"__nv_relfatbin relocatable: cubin sm_80 from compute_80 ABI 7 by 11.8 lz4 relocatable write7()",
			"__nv_relfatbin relocatable: cubin sm_90 from compute_90 ABI 7 by 11.8 lz4 relocatable write7()",
			".nv_fatbin device-linked: cubin sm_52 from compute_52 ABI 7 by 11.8 empty",
		}},
		{"c11_rdc_sm90_ptx90", Executable, []string{
			".nv_fatbin device-linked: cubin sm_90 from compute_90 ABI 7 by 11.8 functions 1 write7()",
			"__nv_relfatbin relocatable: cubin sm_90 from compute_90 ABI 7 by 11.8 lz4 relocatable functions 1",
			"__nv_relfatbin relocatable: ptx compute_90 ISA 7.8 lz4 relocatable functions 1",
			"__nv_relfatbin relocatable: cubin sm_90 from compute_90 ABI 7 by 11.8 lz4 relocatable write7()",
			"__nv_relfatbin relocatable: ptx compute_90 ISA 7.8 lz4 relocatable write7()",
		}},
		{"c12_rdc_ptx90", Executable, []string{
			".nv_fatbin device-linked: no images",
			"__nv_relfatbin relocatable: ptx compute_90 ISA 7.8 lz4 relocatable functions 1",
			"__nv_relfatbin relocatable: ptx compute_90 ISA 7.8 lz4 relocatable write7()",
		}},
		{"c13_archive.a", StaticLibrary, []string{
			"short.o .nv_fatbin whole-program: cubin sm_80 from compute_80 ABI 7 by 11.8 nine() seven()",
			"a_name_of_more_than_15.o .nv_fatbin whole-program: cubin sm_90 from compute_90 ABI 7 by 11.8 never_launched()",
		}},
		{"c15_lto80.o", ObjectFile, []string{"__nv_relfatbin relocatable: lto-ir lto_80 lz4 relocatable"}},
		{"c17_sm75_sm90.so", SharedLibrary, []string{
			".nv_fatbin whole-program: cubin sm_75 from compute_75 ABI 7 by 11.8 never_launched()",
			".nv_fatbin whole-program: cubin sm_90 from compute_90 ABI 7 by 11.8 never_launched()",
		}},
		{"c19_none.so", SharedLibrary, []string{
			".nv_fatbin whole-program: cubin sm_80 from compute_80 ABI 7 by 11.8 nine() seven()",
			".nv_fatbin whole-program: ptx compute_80 ISA 7.8 nine() seven()",
		}},
		{"c19_default.so", SharedLibrary, []string{
			".nv_fatbin whole-program: cubin sm_80 from compute_80 ABI 7 by 11.8 nine() seven()",
			".nv_fatbin whole-program: ptx compute_80 ISA 7.8 lz4 nine() seven()",
		}},
		{"c19_all.so", SharedLibrary, []string{
			".nv_fatbin whole-program: cubin sm_80 from compute_80 ABI 7 by 11.8 lz4 nine() seven()",
			".nv_fatbin whole-program: ptx compute_80 ISA 7.8 lz4 nine() seven()",
		}},
		{"c24_stub", Executable, []string{
			".nv_fatbin device-linked: cubin sm_52 from compute_52 ABI 7 by 11.8 empty",
			".nv_fatbin whole-program: cubin sm_80 from compute_80 ABI 7 by 11.8 nine() seven()",
			".nv_fatbin whole-program: ptx compute_80 ISA 7.8 lz4 nine() seven()",
		}},
		{"c29_variables80.so", SharedLibrary, []string{
			".nv_fatbin whole-program: cubin sm_80 from compute_80 ABI 7 by 11.8 variables 2",
			".nv_fatbin whole-program: ptx compute_80 ISA 7.8 lz4 variables 2",
		}},
		{"names80.so", SharedLibrary, []string{
			".nv_fatbin whole-program: cubin sm_80 from compute_80 ABI 7 by 11.8 uses_shared() ns::fill<float, 3>() ns::fill<unsigned long, 4>() (anonymous namespace)::hidden() (anonymous namespace)::by_value<ns::box<float*>>()",
			".nv_fatbin whole-program: ptx compute_80 ISA 7.8 lz4 uses_shared() ns::fill<float, 3>() ns::fill<unsigned long, 4>() (anonymous namespace)::hidden() (anonymous namespace)::by_value<ns::box<float*>>()",
		}},
		{"relocatable80.o", ObjectFile, []string{
			"__nv_relfatbin relocatable: cubin sm_80 from compute_80 ABI 7 by 11.8 lz4 relocatable write7()",
			"__nv_relfatbin relocatable: ptx compute_80 ISA 7.8 lz4 relocatable write7()",
		}},
		// Its .nv.shared section lies beyond the end of the cubin by its numbers.
		{"shared80.o", ObjectFile, []string{
			"__nv_relfatbin relocatable: cubin sm_80 from compute_80 ABI 7 by 11.8 lz4 relocatable shared_memory()",
			"__nv_relfatbin relocatable: ptx compute_80 ISA 7.8 lz4 relocatable shared_memory()",
		}},
		{"virtual80_sm86.cubin", CubinFile, []string{" file: cubin sm_86 from compute_80 ABI 7 by 11.8 nine() seven()"}},
		{"sm90.cubin", CubinFile, []string{" file: cubin sm_90 from compute_90 ABI 7 by 11.8 nine() seven()"}},
		{"sm80_ptx80.fatbin", Fatbin, []string{
			" file: cubin sm_80 from compute_80 ABI 7 by 11.8 nine() seven()",
			" file: ptx compute_80 ISA 7.8 lz4 nine() seven()",
		}},
		{"compute80.ptx", PTXFile, []string{
			" file: ptx compute_80 ISA 7.8 uses_shared() ns::fill<float, 3>() ns::fill<unsigned long, 4>() (anonymous namespace)::hidden() (anonymous namespace)::by_value<ns::box<float*>>()",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := open(t, "cuda-11.8/"+test.name)
			if f.Format != test.format {
				t.Errorf("format %q, want %q", f.Format, test.format)
			}
			if diff := cmp.Diff(test.want, describe(f)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestFiles130(t *testing.T) {
	for _, target := range strings.Fields("80 90 90a 100 100a 100f 103f 110 120 120a 120f 121 121a 121f") {
		t.Run(target, func(t *testing.T) {
			want := []string{
				".nv_fatbin whole-program: cubin sm_" + target + " from compute_" + strings.TrimRight(target, "af") + " ABI 8 by 13.0 never_launched()",
				".nv_fatbin whole-program: ptx compute_" + target + " ISA 9.0 zstd never_launched()",
			}
			if diff := cmp.Diff(want, describe(open(t, "cuda-13.0/v_"+target+".so"))); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
	want := []string{".nv_fatbin whole-program: cubin sm_120a from compute_120 ABI 8 by 13.0 never_launched()"}
	if diff := cmp.Diff(want, describe(open(t, "cuda-13.0/v_120c_120a.so"))); diff != "" {
		t.Errorf("arch=compute_120,code=sm_120a: want -, got +:\n%s", diff)
	}
}

// TestFiles130Other has what only nvcc 13.0 writes: the virtual architecture in
// a note, and LTO IR that is obfuscated.
func TestFiles130Other(t *testing.T) {
	for name, want := range map[string]string{
		"virtual80_sm86.cubin": " file: cubin sm_86 from compute_80 ABI 8 by 13.0 nine() seven()",
		"c15_lto75.o":          "__nv_relfatbin relocatable: lto-ir lto_75 zstd obfuscated relocatable",
		"c15_lto75_speed.o":    "__nv_relfatbin relocatable: lto-ir lto_75 lz4 obfuscated relocatable",
	} {
		if got := describe(open(t, "cuda-13.0/"+name)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestC19 reads the same images from every compression.
func TestC19(t *testing.T) {
	for _, test := range []struct {
		files  []string
		images int
	}{
		{[]string{"cuda-11.8/c19_none.so", "cuda-11.8/c19_default.so", "cuda-11.8/c19_all.so"}, 1}, // its PTX is padded when not compressed
		{[]string{"cuda-13.0/v_c_none.so", "cuda-13.0/v_c_default.so", "cuda-13.0/v_c_size.so", "cuda-13.0/v_c_speed.so", "cuda-13.0/v_c_balance.so"}, 1},
		{[]string{"cuda-13.0/v_c_default.so", "cuda-13.0/v_c_size.so", "cuda-13.0/v_c_speed.so", "cuda-13.0/v_c_balance.so"}, 2},
	} {
		first := open(t, test.files[0]).Objects[0].Code.Containers[0].Images
		for _, name := range test.files[1:] {
			images := open(t, name).Objects[0].Code.Containers[0].Images
			for n := range test.images {
				if images[n].SHA256 != first[n].SHA256 || images[n].SHA256 == "" {
					t.Errorf("%s: image %d has SHA-256 %q, in %s it is %q", name, n, images[n].SHA256, test.files[0], first[n].SHA256)
				}
				if diff := cmp.Diff(first[n].Kernels, images[n].Kernels); diff != "" {
					t.Errorf("%s: image %d: kernels: %s", name, n, diff)
				}
			}
		}
	}
}

// TestHash compares with a value of sha256sum, and an image's with that of the
// payload cut out by offset and size.
func TestHash(t *testing.T) {
	const name = "cuda-13.0/v_90.so"
	f := open(t, name)
	if want := "4502794a"; !strings.HasPrefix(f.SHA256, want) || len(f.SHA256) != 64 {
		t.Errorf("SHA-256 %s, want %s...", f.SHA256, want)
	}
	b, err := os.ReadFile(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	i := f.Objects[0].Code.Containers[0].Images[0]
	lone, err := Read(b[i.Offset:i.Offset+i.Size], "cut out", devicecode.Options{Digests: true})
	if err != nil || lone.Format != CubinFile || lone.SHA256 != i.SHA256 {
		t.Errorf("cubin cut out: %v, %s, SHA-256 %s, want %s", err, lone.Format, lone.SHA256, i.SHA256)
	}
}

// TestC16 reads family cubins of ABI 8 without their container: the note tells
// the suffix.
func TestC16(t *testing.T) {
	for _, target := range strings.Fields("90 90a 100 100a 100f 120f 121a") {
		name := "cuda-13.0/v_" + target + ".so"
		b, err := os.ReadFile(testdata + name)
		if err != nil {
			t.Fatal(err)
		}
		i := open(t, name).Objects[0].Code.Containers[0].Images[0]
		cubin := string(b[i.Offset : i.Offset+i.Size])
		want := []string{" file: cubin sm_" + target + " from compute_" + strings.TrimRight(target, "af") + " ABI 8 by 13.0 never_launched()"}
		if got := readString(t, cubin); cmp.Diff(want, describe(got)) != "" {
			t.Errorf("got %q, want %q", describe(got), want)
		}
		without := strings.Replace(cubin, "-arch sm_"+target, "-arch xm_"+target, 1)
		if got := describe(readString(t, without)); len(got) != 1 || !strings.Contains(got[0], "suffix unknown") {
			t.Errorf("sm_%s without its note reads as %q", target, got)
		}
	}
}

func readString(t *testing.T, s string) File {
	t.Helper()
	f, err := Read([]byte(s), "string", devicecode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestHostAndDynamic(t *testing.T) {
	o := open(t, "cuda-11.8/c11_rdc_sm90_ptx90").Objects[0]
	if diff := cmp.Diff(&Host{Machine: "x86_64", Bits: 64}, o.Host); diff != "" {
		t.Error(diff)
	}
	want := &Dynamic{Interpreter: "/lib64/ld-linux-x86-64.so.2", Needed: []string{"libcudart.so.11.0", "libc.so.6"}}
	if diff := cmp.Diff(want, o.Dynamic); diff != "" {
		t.Error(diff)
	}
	if o := open(t, "cuda-11.8/relocatable80.o").Objects[0]; o.Dynamic != nil {
		t.Errorf("object with dynamic section %v", o.Dynamic)
	}
}
