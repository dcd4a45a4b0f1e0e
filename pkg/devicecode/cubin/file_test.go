package cubin

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

func fixture(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/cuda-11.8/virtual80_sm86.cubin")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRead(t *testing.T) {
	got, err := Read(fixture(t))
	if err != nil {
		t.Fatal(err)
	}
	want := &File{ABI: 7, Number: 86, Virtual: 80, Toolkit: "11.8", SuffixKnown: true,
		Kernels: []Kernel{{Name: "_Z4ninePi", CodeSize: 256}, {Name: "_Z5sevenPi", CodeSize: 256}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestReadFlags has the e_flags that were seen, by ABI.
func TestReadFlags(t *testing.T) {
	for _, test := range []struct {
		abi            int
		version, flags uint32
		want           File
	}{
		{7, 0x76, 0x5a055a, File{Number: 90, Virtual: 90, Toolkit: "11.8", SuffixKnown: true}},
		{7, 0x76, 0x500556, File{Number: 86, Virtual: 80, Toolkit: "11.8", SuffixKnown: true}},
		{7, 0x7c, 0x5a0d5a, File{Number: 90, Virtual: 90, Toolkit: "12.4", Suffix: arch.Specific, SuffixKnown: true}},
		{7, 0x76, 0x3c0d32, File{Number: 50, Virtual: 60, Toolkit: "11.8", SuffixKnown: true}}, // a library of 11.8
		{7, 0x80, 0x640564, File{Number: 100, Virtual: 100, Toolkit: "12.8", SuffixKnown: true}},
		{7, 0x81, 0x640564, File{Number: 100, Virtual: 100, Toolkit: "12.9"}}, // could be sm_100f
		{8, 1, 0x06005004, File{Number: 80, SuffixKnown: true}},
		{8, 1, 0x06005a04, File{Number: 90}},
		{8, 1, 0x06006402, File{Number: 100}},
		{8, 1, 0x06007902, File{Number: 121}},
	} {
		got := File{ABI: test.abi}
		got.readFlags(header{abi: test.abi, version: test.version, flags: test.flags})
		test.want.ABI = test.abi
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("ABI %d, e_flags %#x: want -, got +:\n%s", test.abi, test.flags, diff)
		}
	}
}

// sectionHeader gives the offset of the header of section i.
func sectionHeader(b []byte, i int) int {
	return int(binary.LittleEndian.Uint64(b[40:])) + i*sectionHeaderSize
}

func TestReadErrors(t *testing.T) {
	le := binary.LittleEndian
	for _, test := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"empty", func([]byte) []byte { return nil }, "shorter than an ELF header"},
		{"no ELF", func(b []byte) []byte { b[0] = 0; return b }, "no cubin"},
		{"32 bits", func(b []byte) []byte { b[4] = 1; return b }, "ELF class 1"},
		{"host machine", func(b []byte) []byte { le.PutUint16(b[18:], 62); return b }, "ELF machine 62"},
		{"ABI", func(b []byte) []byte { b[8] = 9; return b }, "cubin ABI is not known: OS ABI 0x33 with version 9"},
		{"OS ABI", func(b []byte) []byte { b[7] = 0x41; return b }, "OS ABI 0x41 with version 7"},
		{"type", func(b []byte) []byte { le.PutUint16(b[16:], 4); return b }, "ELF type 4"},
		{"program headers", func(b []byte) []byte { return b[:len(b)-1] }, "run past the end"},
		{"program header size", func(b []byte) []byte { le.PutUint16(b[54:], 32); return b }, "program headers of 32 bytes"},
		{"section header size", func(b []byte) []byte { le.PutUint16(b[58:], 40); return b }, "section headers of 40 bytes"},
		{"section headers astray", func(b []byte) []byte { le.PutUint64(b[40:], 1<<63); return b }, "past the end"},
		{"too many sections", func(b []byte) []byte { le.PutUint16(b[60:], 0xfffe); return b }, "65534 section headers"},
		{"far too many sections", func(b []byte) []byte {
			le.PutUint16(b[60:], 0)
			le.PutUint64(b[sectionHeader(b, 0)+32:], 1<<62)
			return b
		}, "section headers do not fit"},
		{"section astray", func(b []byte) []byte { le.PutUint64(b[sectionHeader(b, 1)+24:], 1<<62); return b }, "section 1:"},
		{"name section", func(b []byte) []byte { le.PutUint16(b[62:], 200); return b }, "section 200 with the names"},
		{"name astray", func(b []byte) []byte { le.PutUint32(b[sectionHeader(b, 2):], 1<<31); return b }, "section 2: no name"},
		{"no symbols", func(b []byte) []byte { le.PutUint32(b[sectionHeader(b, 3)+4:], 1); return b }, "no symbol table"},
		{"two symbol tables", func(b []byte) []byte { le.PutUint32(b[sectionHeader(b, 2)+4:], sectionSymtab); return b }, "both symbol tables"},
		{"symbol names", func(b []byte) []byte { le.PutUint32(b[sectionHeader(b, 3)+40:], 1<<31); return b }, "symbol table: section"},
		{"symbol table size", func(b []byte) []byte { le.PutUint64(b[sectionHeader(b, 3)+32:], 23); return b }, "symbol table of 23 bytes"},
	} {
		f, err := Read(test.change(fixture(t)))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, %v, want the error %q", test.name, f, err, test.want)
		}
	}
}

// FuzzRead wants an error or a file.
func FuzzRead(f *testing.F) {
	f.Add(fixture(f))
	so, err := os.ReadFile("../testdata/cuda-13.0/v_120f.so")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(so[0x20a8 : 0x20a8+5256])
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Read(b)
		if err == nil && got == nil {
			t.Fatal("neither a file nor an error")
		}
		if err == nil && len(got.Kernels) > len(b)/symbolSize {
			t.Fatalf("%d kernels in %d bytes", len(got.Kernels), len(b))
		}
	})
}

// TestSize wants the length of a cubin that something follows.
func TestSize(t *testing.T) {
	b := fixture(t)
	if n, err := Size(append(b, "and more"...)); err != nil || n != len(b) {
		t.Errorf("%d bytes, %v, want %d", n, err, len(b))
	}
	if n, err := Size(b[:len(b)-1]); err == nil {
		t.Errorf("a cubin that was cut off has %d bytes", n)
	}
}
