package fatbin

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func fixture(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/cuda-11.8/sm80_ptx80.fatbin")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadContainer(t *testing.T) {
	b := fixture(t)
	want := Container{Size: 4296, Entries: []Entry{
		{Kind: Cubin, Offset: 0x10, Payload: 0x50, Stored: 3880, Decoded: 3880, Major: 1, Minor: 7, Target: 80, Flags: Bits64 | Linux},
		{Kind: PTX, Offset: 0xf78, Payload: 0xfc0, Stored: 259, Decoded: 501, Major: 7, Minor: 8, Target: 80, Flags: Bits64 | Linux | LZ4},
	}}
	got, err := ReadContainer(b, 0, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Entry{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestDecode compares with the text that nvcc writes to a file.
func TestDecode(t *testing.T) {
	b := fixture(t)
	c, err := ReadContainer(b, 0, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := new(Decoder).Decode(b, c.Entries[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".version 7.8", ".target sm_80", ".entry _Z4ninePi", "st.global.u32 [%rd2], %r1;"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %q in the decoded text:\n%s", want, text)
		}
	}
	if cubin, err := new(Decoder).Decode(b, c.Entries[0]); err != nil || !bytes.Equal(cubin, b[0x50:0x50+3880]) {
		t.Errorf("the stored cubin is not given as it is: %v", err)
	}
}

// TestDamageKeepsEntries wants what precedes the damage, and its offset.
func TestDamageKeepsEntries(t *testing.T) {
	b := fixture(t)
	b[0xf78+2] = 7
	c, err := ReadContainer(b, 0, int64(len(b)))
	bad, ok := err.(*FormatError)
	if !ok || bad.Off != 0xf78 {
		t.Errorf("error %v, want one at 0xf78", err)
	}
	if len(c.Entries) != 1 || c.Size != 4296 {
		t.Errorf("%d entries and size %d, want 1 and 4296", len(c.Entries), c.Size)
	}
	if _, err := ReadContainer(b, 0, 8); err == nil {
		t.Error("a header of 8 bytes gives no error")
	}
	if _, err := ReadContainer(b[:100], 0, 4296); err == nil {
		t.Error("bytes that end before the limit give no error")
	}
}

// FuzzReadContainer wants entries within the container, and of each either an
// error or exactly the bytes it claims.
func FuzzReadContainer(f *testing.F) {
	b := fixture(f)
	f.Add(b)
	so, err := os.ReadFile("../testdata/cuda-13.0/v_c_size.so")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(so[0x2028 : 0x2028+1232])
	f.Fuzz(func(t *testing.T, b []byte) {
		var d Decoder
		defer d.Close()
		c, err := ReadContainer(b, 0, int64(len(b)))
		if err == nil && c.Size == 0 {
			t.Fatal("neither a container nor an error")
		}
		for _, e := range c.Entries {
			if e.Payload+e.Stored > c.Size || e.Stored < 0 || e.Decoded < 0 {
				t.Fatalf("entry %+v is not within the %d bytes of its container", e, c.Size)
			}
			if e.Decoded > 64<<20 {
				continue // allowed, but too slow here
			}
			if got, err := d.Decode(b, e); err == nil && int64(len(got)) != e.Decoded {
				t.Fatalf("entry %+v decodes to %d bytes", e, len(got))
			}
		}
	})
}
