package artifact

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// without gives an ELF file without its section headers, and without what the
// linker puts behind the last segment for them.
func withoutSections(b []byte) []byte {
	b = b[:binary.LittleEndian.Uint64(b[0x28:])] // e_shoff: the linker writes the table last
	clear(b[0x28:0x30])
	clear(b[0x3a:0x40]) // e_shentsize, e_shnum, e_shstrndx
	return b
}

// TestC18 reads device code outside the usual sections.
func TestC18(t *testing.T) {
	const (
		cubin = "cubin sm_80 from compute_80 ABI 7 by 11.8 nine() seven()"
		text  = "ptx compute_80 ISA 7.8 nine() seven()"
		lz4   = "ptx compute_80 ISA 7.8 lz4 nine() seven()"
	)
	for _, test := range []struct {
		name  string
		bytes []byte
		want  []string
	}{
		{"fatbin in .rodata", fixture(t, "cuda-11.8/c18_fatbin.so"), []string{".rodata unregistered: " + cubin, ".rodata unregistered: " + lz4}},
		{"cubin in .rodata", fixture(t, "cuda-11.8/c18_cubin.so"), []string{".rodata unregistered: " + cubin}},
		{"PTX in .rodata", fixture(t, "cuda-11.8/c18_ptx.so"), []string{".rodata unregistered: " + text}},
		{"renamed sections", fixture(t, "cuda-11.8/c18_renamed.so"), []string{".gpu_code whole-program: " + cubin, ".gpu_code whole-program: " + lz4}},
		{"PTX without section headers", withoutSections(fixture(t, "cuda-11.8/c18_ptx.so")), []string{" unregistered: " + text}},
		{"stripped and no section headers", withoutSections(fixture(t, "cuda-11.8/c19_default.so")), []string{" whole-program: " + cubin, " whole-program: " + lz4}},
		{"device-linked without section headers", withoutSections(fixture(t, "cuda-11.8/c11_rdc_sm90_ptx90")), []string{
			" device-linked: cubin sm_90 from compute_90 ABI 7 by 11.8 functions 1 write7()",
			" relocatable: cubin sm_90 from compute_90 ABI 7 by 11.8 lz4 relocatable functions 1",
			" relocatable: ptx compute_90 ISA 7.8 lz4 relocatable functions 1",
			" relocatable: cubin sm_90 from compute_90 ABI 7 by 11.8 lz4 relocatable write7()",
			" relocatable: ptx compute_90 ISA 7.8 lz4 relocatable write7()",
		}},
		{"behind the last section", slices.Concat(fixture(t, "cuda-11.8/c29_variables80.so"), []byte("padding"), fixture(t, "cuda-11.8/sm80_ptx80.fatbin")), []string{
			".nv_fatbin whole-program: cubin sm_80 from compute_80 ABI 7 by 11.8 variables 2",
			".nv_fatbin whole-program: ptx compute_80 ISA 7.8 lz4 variables 2",
			" unregistered: " + cubin, " unregistered: " + lz4,
		}},
	} {
		f := readString(t, string(test.bytes))
		if diff := cmp.Diff(test.want, describe(f)); diff != "" || f.Problem != "" {
			t.Errorf("%s: problem %q; want -, got +:\n%s", test.name, f.Problem, diff)
		}
	}
}

// TestEveryPlace writes a cubin over the code of a file and what follows it, at
// every place: found in all, whatever the sections there are for.
func TestEveryPlace(t *testing.T) {
	b := fixture(t, "cuda-11.8/c29_variables80.so")
	known := len(describe(readString(t, string(b))))
	cubin := fixture(t, "cuda-11.8/sm90.cubin")
	for at := 0x1000; at+len(cubin) < 0x2000; at += 8 { // code, tables for unwinding, and padding
		c := bytes.Clone(b)
		copy(c[at:], cubin)
		got := describe(readString(t, string(c)))
		if len(got) != known+1 || !strings.Contains(got[0], "unregistered: cubin sm_90 from compute_90 ABI 7 by 11.8 nine() seven()") {
			t.Fatalf("a cubin at %#x: %q", at, got)
		}
	}
}

// TestStrayMarks has what looks like the beginning of device code and is none.
func TestStrayMarks(t *testing.T) {
	b := fixture(t, "cuda-11.8/c29_variables80.so")
	want := describe(readString(t, string(b)))
	for _, stray := range []string{
		"\x7fELF\x48\x89\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xbe\x00", // compared with, in the code of a program
		"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00", // a host's
		"\x50\xed\x55\xba\x01\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x02\x01",
		".version ", ".version %d.%d\n.target sm_%d\n", ".version 7.8", ".version_info 7.8 .target sm_80",
	} {
		c := bytes.Clone(b)
		clear(c[0x10a0:0x12ce])
		copy(c[0x10a0:], stray)
		if diff := cmp.Diff(want, describe(readString(t, string(c)))); diff != "" {
			t.Errorf("%q: want -, got +:\n%s", stray, diff)
		}
	}
}

// TestUnregistered takes the record away.
func TestUnregistered(t *testing.T) {
	b := fixture(t, "cuda-13.0/v_90.so")
	clear(b[at90Record : at90Record+4])
	b = []byte(strings.Replace(string(b), ".nvFatBinSegment\x00", ".nvXatBinSegment\x00", 1))
	want := []string{
		".nv_fatbin unregistered: cubin sm_90 from compute_90 ABI 8 by 13.0 never_launched()",
		".nv_fatbin unregistered: ptx compute_90 ISA 9.0 zstd never_launched()",
	}
	if diff := cmp.Diff(want, describe(readString(t, string(b)))); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestDamagedLoneCode wants a problem of the image, and not nothing.
func TestDamagedLoneCode(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"cuda-11.8/c18_cubin.so", "run past the end of the cubin"},
		{"cuda-11.8/c18_ptx.so", "ends within a statement"},
	} {
		b := fixture(t, test.name)
		// Nothing but zeroes from the middle of the section on.
		clear(b[0x1200:0x2000])
		if got := problems(readString(t, string(b))); len(got) != 1 || !strings.Contains(got[0], test.want) {
			t.Errorf("%s: problems %q, want one with %q", test.name, got, test.want)
		}
	}
}

// TestRecordWithoutSections wants a damaged image of a file without section
// headers to be noticed by its record.
func TestRecordWithoutSections(t *testing.T) {
	b := withoutSections(fixture(t, "cuda-13.0/v_90.so"))
	clear(b[at90Container : at90Container+0xfe0])
	if got := problems(readString(t, string(b))); len(got) != 1 || !strings.Contains(got[0], "0x2028: registered image damaged") {
		t.Errorf("problems %q", got)
	}
}

// TestClang reads what Clang writes: its own layout is nvcc's, and its offload
// driver keeps images in a section of its own.
func TestClang(t *testing.T) {
	const (
		cubin = "cubin sm_80 from compute_80 ABI 7 by 11.8"
		text  = "ptx compute_80 ISA 7.8 lz4"
		holds = " variables 1 nine() seven()"
	)
	for name, want := range map[string][]string{
		"whole80.o":   {".nv_fatbin whole-program: " + cubin + holds, ".nv_fatbin whole-program: " + text + holds},
		"whole80.so":  {".nv_fatbin whole-program: " + cubin + holds, ".nv_fatbin whole-program: " + text + holds},
		"rdc80.o":     {"__nv_relfatbin relocatable: " + cubin + " relocatable" + holds, "__nv_relfatbin relocatable: " + text + " relocatable" + holds},
		"offload80.o": {".llvm.offloading relocatable: " + cubin + " relocatable" + holds},
		"bitcode80.o": {"problem .llvm.offloading 0x230: LLVM bitcode, which is compiled when the program is linked: inspect the linked file"},
	} {
		if diff := cmp.Diff(want, describe(open(t, "clang-19/"+name))); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", name, diff)
		}
	}
}

// TestOffloadDamage changes one field of an offload binary at a time.
func TestOffloadDamage(t *testing.T) {
	whole := fixture(t, "clang-19/offload80.o")
	start := bytes.Index(whole, []byte("\x10\xff\x10\xad"))
	for _, test := range []struct {
		name  string
		at    int
		bytes []byte
		want  string
	}{
		{"magic", 0, []byte{0}, "no header with the magic"},
		{"version", 4, u32(2), "version 2 is not known"},
		{"size", 8, u64(1 << 40), "it claims 1099511627776 bytes"},
		{"entry", 16, u64(1 << 40), "its entry at offset 0x10000000000"},
		{"image", 32 + 24, u64(1 << 40), "runs past its"},
		{"bitcode", 32, u16(2), "LLVM bitcode"},
		{"HIP", 32 + 2, u16(4), "HIP: device code for AMD GPUs"},
		{"image elsewhere", 32 + 24, u64(64), "in which no device code is known"},
	} {
		b := bytes.Clone(whole)
		copy(b[start+test.at:], test.bytes)
		if got := problems(readString(t, string(b))); len(got) != 1 || !strings.Contains(got[0], test.want) {
			t.Errorf("%s: problems %q, want %q", test.name, got, test.want)
		}
	}
}

// TestHIP says what HIP is.
func TestHIP(t *testing.T) {
	b := bytes.Replace(fixture(t, "cuda-11.8/c29_variables80.so"), []byte("__nv_module_id\x00"), []byte(".hip_fatbin\x00\x00\x00\x00"), 1)
	if got := problems(readString(t, string(b))); len(got) != 1 || !strings.Contains(got[0], ".hip_fatbin 0x2010: HIP: device code for AMD GPUs") {
		t.Errorf("problems %q", got)
	}
}
