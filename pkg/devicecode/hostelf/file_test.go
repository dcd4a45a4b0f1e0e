package hostelf

import (
	"bytes"
	"debug/elf"
	"os"
	"strings"
	"testing"
)

func fixture(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/cuda-11.8/c29_variables80.so")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNew(t *testing.T) {
	b := fixture(t)
	f, err := New(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if needed, err := f.DynString(elf.DT_NEEDED); err != nil || len(needed) != 1 || needed[0] != "libc.so.6" {
		t.Errorf("needed %q, %v", needed, err)
	}
	at := bytes.Index(b, elfHeaderOf(f.Section(".nv_fatbin")))
	if at < 0 {
		t.Fatal("the section header was not found")
	}
	b[at+7] = 1 // the section's offset is beyond the file
	if _, err := New(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), `section ".nv_fatbin"`) {
		t.Errorf("a section beyond the file: %v", err)
	}
	if _, err := New(bytes.NewReader(b), int64(len(b))-1); err == nil {
		t.Error("a file cut by one byte gives no error")
	}
}

// elfHeaderOf gives the bytes of offset and size in the header of a section.
func elfHeaderOf(s *elf.Section) []byte {
	b := make([]byte, 16)
	for i := range 8 {
		b[i], b[8+i] = byte(s.Offset>>(8*i)), byte(s.Size>>(8*i))
	}
	return b
}

// FuzzNew wants an error or a file, whatever debug/elf does.
func FuzzNew(f *testing.F) {
	f.Add(fixture(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := New(bytes.NewReader(b), int64(len(b)))
		if (file == nil) == (err == nil) {
			t.Fatalf("file %v, error %v", file, err)
		}
		if file == nil {
			return
		}
		// Only panics are of interest.
		file.Symbols()
		file.DynString(elf.DT_NEEDED)
		file.DynValue(elf.DT_FLAGS_1)
		for _, s := range file.Sections {
			if s.Size < 1<<20 {
				file.Data(s)
			}
		}
	})
}
