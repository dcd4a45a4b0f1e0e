package hostelf

import (
	"bytes"
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/cuda-11.8/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNew(t *testing.T) {
	b := fixture(t, "c29_variables80.so")
	f, err := New(b)
	if err != nil {
		t.Fatal(err)
	}
	section := f.Section(".nv_fatbin")
	if data := f.Data(section); len(data) == 0 || &data[0] != &b[section.Offset] {
		t.Error("the section's bytes are not those of the file")
	}
	if off, ok := f.At(section.Addr + 8); !ok || off != int64(section.Offset)+8 {
		t.Errorf("address %#x is at offset %#x, want %#x", section.Addr+8, off, section.Offset+8)
	}
	if off, ok := f.At(1 << 60); ok {
		t.Errorf("an address in no segment is at offset %#x", off)
	}
	at := bytes.Index(b, elfHeaderOf(section))
	if at < 0 {
		t.Fatal("the section header was not found")
	}
	b[at+7] = 1 // the section's offset is beyond the file
	if _, err := New(b); err == nil || !strings.Contains(err.Error(), `section ".nv_fatbin"`) {
		t.Errorf("a section beyond the file: %v", err)
	}
	if _, err := New(b[:len(b)-1]); err == nil {
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

func TestDynamic(t *testing.T) {
	f, err := New(fixture(t, "c11_rdc_sm90_ptx90"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.Dynamic()
	if err != nil {
		t.Fatal(err)
	}
	needed, err := d.Strings(elf.DT_NEEDED)
	if want := []string{"libcudart.so.11.0", "libc.so.6"}; err != nil || !slices.Equal(needed, want) {
		t.Errorf("needed %q, %v, want %q", needed, err, want)
	}
	if flags := d.Value(elf.DT_FLAGS_1); flags&uint64(elf.DF_1_PIE) == 0 {
		t.Errorf("flags %#x, want PIE among them", flags)
	}
	d.strings = d.strings[:1]
	if _, err := d.Strings(elf.DT_NEEDED); err == nil || !strings.Contains(err.Error(), "no string at offset") {
		t.Errorf("a string beyond the table: %v", err)
	}
	object, err := New(fixture(t, "relocatable80.o"))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := object.Dynamic(); d != nil || err != nil {
		t.Errorf("an object has the dynamic section %v, %v", d, err)
	}
}

// FuzzNew wants an error or a file, whatever debug/elf does.
func FuzzNew(f *testing.F) {
	f.Add(fixture(f, "c29_variables80.so"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := New(b)
		if (file == nil) == (err == nil) {
			t.Fatalf("file %v, error %v", file, err)
		}
		if file == nil {
			return
		}
		// Only panics are of interest.
		file.Symbols()
		if d, err := file.Dynamic(); err == nil && d != nil {
			d.Strings(elf.DT_NEEDED)
		}
		for _, s := range file.Sections {
			file.Data(s)
		}
	})
}
