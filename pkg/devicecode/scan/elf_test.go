package scan

import (
	"os"
	"slices"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode/hostelf"
)

func scanFile(t testing.TB, name string) Result {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hostelf.New(b)
	if err != nil {
		t.Fatal(err)
	}
	return ELF(f)
}

// TestRecords compares with the records as readelf shows them.
func TestRecords(t *testing.T) {
	type place struct {
		section string
		offset  int64
		record  uint32
	}
	for _, test := range []struct {
		name   string
		linked bool
		want   []place
	}{
		{"cuda-11.8/c10_dlink_without_target", true, []place{{Relocatable, 0x2098, 1}, {Relocatable, 0x2648, 1}, {Fatbin, 0x2e28, 2}}},
		{"cuda-11.8/c11_rdc_sm90_ptx90", true, []place{{Fatbin, 0x20a0, 2}, {Relocatable, 0x3118, 1}, {Relocatable, 0x34e8, 1}}},
		{"cuda-11.8/c24_stub", true, []place{{Fatbin, 0x2020, 2}, {Fatbin, 0x24a0, 1}}},
		{"cuda-11.8/relocatable80.o", false, []place{{Relocatable, 0x390, 1}}},
		{"cuda-13.0/v_90.so", true, []place{{Fatbin, 0x2028, 1}}},
	} {
		r := scanFile(t, test.name)
		if len(r.Problems) > 0 || r.Linked != test.linked {
			t.Errorf("%s: linked %v, problems %v", test.name, r.Linked, r.Problems)
		}
		var got []place
		for _, p := range r.Places {
			got = append(got, place{p.Section, p.Offset, p.Record})
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// FuzzELF wants containers that lie within the file.
func FuzzELF(f *testing.F) {
	for _, name := range []string{"cuda-11.8/c10_dlink_without_target", "cuda-11.8/relocatable80.o", "cuda-13.0/v_c_size.so"} {
		b, err := os.ReadFile("../testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := hostelf.New(b)
		if err != nil {
			return
		}
		for _, p := range ELF(file).Places {
			if p.Offset < 0 || p.Size < 8 || p.Offset+p.Size > int64(len(b)) {
				t.Fatalf("device code at %#x of %d bytes is not within the %d of the file", p.Offset, p.Size, len(b))
			}
		}
	})
}
