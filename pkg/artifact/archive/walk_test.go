package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/artifact/archive/archivetest"
)

func TestWalk(t *testing.T) {
	for name, b := range made() {
		var want []string
		for _, f := range files {
			want = append(want, f.name+"="+f.content)
		}
		switch name {
		case "pkg/a.txt.gz":
			want = []string{"a.txt=" + files[0].content}
		case "x.conda":
			want = slices.Insert(want, 0, "metadata.json={}")
		}
		got, w := walk(t, name, b, NewBudget(int64(len(b))))
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || len(w.Problems) > 0 {
			t.Errorf("%s: problems %v; want -, got +:\n%s", name, w.Problems, diff)
		}
	}
}

// TestUnwanted counts the files that nobody wants.
func TestUnwanted(t *testing.T) {
	for name, b := range made() {
		w := &Walker{
			Budget: NewBudget(0),
			Want:   func(name string, head []byte) bool { return bytes.HasPrefix(head, []byte("second")) },
			Visit:  func(name string, content []byte) {},
		}
		w.Walk(b, name)
		want := map[string]int{"x.conda": 2, "plain.deb": 1}[name]
		if want == 0 {
			want = 1
		}
		if w.Others != want {
			t.Errorf("%s: %d others, want %d", name, w.Others, want)
		}
	}
}

// TestTruncation cuts archives at every byte: what is left has a problem or is
// complete.
func TestTruncation(t *testing.T) {
	for name, b := range made() {
		whole, _ := walk(t, name, b, NewBudget(0))
		for n := range len(b) {
			if got, w := walk(t, name, b[:n], NewBudget(0)); len(w.Problems) == 0 && !slices.Equal(got, whole) {
				t.Errorf("%s cut to %d of %d bytes has no problem", name, n, len(b))
			}
		}
	}
}

// TestDamage changes every byte: what is given without a problem is what was
// packed.
func TestDamage(t *testing.T) {
	for name, b := range made() {
		if strings.HasSuffix(name, ".tar") || name == "plain.deb" || name == "x.conda" {
			continue // no checksum of the content, or of the name that makes it a carrier
		}
		whole, _ := walk(t, name, b, NewBudget(0))
		contents := map[string]bool{}
		for _, f := range whole {
			_, content, _ := strings.Cut(f, "=")
			contents[content] = true
		}
		for n := range b {
			c := bytes.Clone(b)
			c[n] ^= 0x10
			got, w := walk(t, name, c, NewBudget(0))
			for _, f := range got {
				if _, content, _ := strings.Cut(f, "="); len(w.Problems) == 0 && !contents[content] {
					t.Fatalf("%s with another byte at %d gives %.80q without a problem", name, n, f)
				}
			}
		}
	}
}

// TestBomb unpacks more than the budget holds, or more files.
func TestBomb(t *testing.T) {
	zeroes := archivetest.Gzip(make([]byte, 1<<20))
	for _, test := range []struct {
		name   string
		b      []byte
		budget Budget
		want   error
	}{
		{"zeroes.gz", zeroes, Budget{Bytes: 1<<20 - 1, Files: 9}, errTooLarge},
		{"x.tgz", made()["x.tgz"], Budget{Bytes: 2000, Files: 9}, errTooLarge},
		{"x.tar", made()["x.tar"], Budget{Bytes: 9, Files: 1}, errTooMany},
		{"x.whl", made()["x.whl"], Budget{Bytes: 20, Files: 9}, errTooLarge},
		{"x.whl", made()["x.whl"], Budget{Bytes: 1 << 20, Files: 1}, errTooMany},
		{"x.deb", made()["x.deb"], Budget{Bytes: 2000, Files: 9}, errTooLarge},
		{"x.conda", made()["x.conda"], Budget{Bytes: 2000, Files: 9}, errTooLarge},
	} {
		_, w := walk(t, test.name, test.b, &test.budget)
		if len(w.Problems) != 1 || !strings.Contains(w.Problems[0].Text, test.want.Error()) {
			t.Errorf("%s: problems %v, want %q", test.name, w.Problems, test.want)
		}
	}
}

// TestLarge reads a file that does not stay in memory.
func TestLarge(t *testing.T) {
	content := bytes.Repeat([]byte("large "), (inMemory+1<<20)/6)
	got := 0
	w := &Walker{
		Budget: NewBudget(0),
		Want:   func(string, []byte) bool { return true },
		Visit: func(name string, b []byte) {
			if got++; !bytes.Equal(b, content) {
				t.Errorf("%s: %d bytes, not the %d packed", name, len(b), len(content))
			}
		},
	}
	w.Walk(archivetest.Gzip(archivetest.Tar([]tar.Header{{Name: "a", Typeflag: tar.TypeReg, Size: int64(len(content))}}, string(content))), "x.tgz")
	w.Walk(archivetest.Gzip(content), "b.gz")
	if got != 2 || len(w.Problems) != 0 {
		t.Errorf("%d files, problems %v", got, w.Problems)
	}
}

// TestC33 has hostile and odd members: each is reported, or counted as a link,
// and the good file is still read.
func TestC33(t *testing.T) {
	const good = "good=content"
	file := func(name string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len("content"))}
	}
	for _, test := range []struct {
		name  string
		entry tar.Header
		also  []string // files besides the good one
		want  string   // problem
		links int
	}{
		{"absolute", file("/etc/passwd"), []string{"etc/passwd=content"}, "is absolute", 0},
		{"parent", file("a/../../b"), []string{"b=content"}, "leads out of the archive", 0},
		{"within", file("./a/../b"), []string{"b=content"}, "", 0},
		{"twice", file("good"), []string{good}, "two files of this name", 0},
		{"symbolic link", tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, nil, "", 1},
		{"hard link", tar.Header{Name: "l", Typeflag: tar.TypeLink, Linkname: "good"}, nil, "", 1},
		{"device", tar.Header{Name: "d", Typeflag: tar.TypeChar}, nil, "", 0},
		{"pipe", tar.Header{Name: "p", Typeflag: tar.TypeFifo}, nil, "", 0},
		{"folder", tar.Header{Name: "f/", Typeflag: tar.TypeDir}, nil, "", 0},
		{"unknown type", tar.Header{Name: "u", Typeflag: 'Z'}, nil, "not known", 0},
	} {
		b := archivetest.Tar([]tar.Header{file("good"), test.entry}, "content", "content")
		got, w := walk(t, "x.tar", b, NewBudget(0))
		if diff := cmp.Diff(append([]string{good}, test.also...), got); diff != "" || w.Links != test.links {
			t.Errorf("%s: %d links, files want -, got +:\n%s", test.name, w.Links, diff)
		}
		if test.want == "" != (len(w.Problems) == 0) || test.want != "" && !strings.Contains(w.Problems[0].Text, test.want) {
			t.Errorf("%s: problems %v, want %q", test.name, w.Problems, test.want)
		}
	}
}

func TestZipProblems(t *testing.T) {
	le := binary.LittleEndian
	for _, test := range []struct {
		name   string
		change func(local, central []byte)
		want   string
	}{
		{"encrypted", func(_, central []byte) { central[8] |= encrypted }, "encrypted"},
		{"method", func(_, central []byte) { le.PutUint16(central[10:], 77) }, "unsupported compression"},
		{"checksum", func(_, central []byte) { central[16]++ }, "its checksum is"},
		{"size", func(_, central []byte) { le.PutUint32(central[20:], 1<<30); le.PutUint32(central[24:], 1<<30) }, "claims 1073741824 bytes"},
	} {
		b := makeZip(zip.Store)
		central := bytes.Index(b, []byte("PK\x01\x02"))
		test.change(b, b[central:])
		got, w := walk(t, "x.zip", b, NewBudget(0))
		if len(w.Problems) != 1 || !strings.Contains(w.Problems[0].Text, test.want) || w.Problems[0].Member != "pkg/a.txt" {
			t.Errorf("%s: problems %v, want %q", test.name, w.Problems, test.want)
		}
		if want := []string{files[1].name + "=" + files[1].content}; !slices.Equal(got, want) {
			t.Errorf("%s: files %q, want %q", test.name, got, want)
		}
	}
}

func TestOtherProblems(t *testing.T) {
	for _, test := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty.zip", []byte("PK\x05\x06" + strings.Repeat("\x00", 18)), "empty"},
		{"empty.tar", make([]byte, 1024), "neither a tar nor compressed"},
		{"no-data.deb", makeDeb("debian-binary", "2.0\n"), "no data.tar"},
		{"lzma.deb", makeDeb("debian-binary", "2.0\n", "data.tar.lzma", "]\x00\x00\x80\x00"), "neither a tar nor compressed"},
		{"behind.gz", append(archivetest.Gzip([]byte("x")), "garbage"...), "EOF"},
	} {
		if _, w := walk(t, test.name, test.b, NewBudget(0)); len(w.Problems) != 1 || !strings.Contains(w.Problems[0].Text, test.want) {
			t.Errorf("%s: problems %v, want %q", test.name, w.Problems, test.want)
		}
	}
	twice := append(archivetest.Gzip([]byte("one ")), archivetest.Gzip([]byte("two"))...)
	if got, w := walk(t, "x.gz", twice, NewBudget(0)); len(w.Problems) > 0 || !slices.Equal(got, []string{"x=one two"}) {
		t.Errorf("concatenated streams: %q, problems %v", got, w.Problems)
	}
}

func TestFormatOf(t *testing.T) {
	for head, want := range map[string]Format{
		"PK\x03\x04...":                 Zip,
		"\x1f\x8b\x08...":               Gzip,
		"BZh91AY&SY...":                 Bzip2,
		"BZh9 is how a text may begin":  "",
		"!<arch>\ndebian-binary   1234": Deb,
		"!<arch>\nk.o/":                 "",
		"\x7fELF":                       "",
		"":                              "",
		strings.Repeat("\x00", 1024):    "",
		string(makeTar()):               Tar,
	} {
		if got := FormatOf([]byte(head)); got != want {
			t.Errorf("%.20q is %q, want %q", head, got, want)
		}
	}
}

// fuzz adds the archives of one kind and wants no panic, and of what is given
// without a problem that its bytes are there.
func fuzz(f *testing.F, names ...string) {
	for _, name := range names {
		f.Add(made()[name])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const room = 16 << 20
		budget := &Budget{Bytes: room, Files: 1000}
		w := &Walker{Budget: budget, Want: func(string, []byte) bool { return true }, Visit: func(_ string, content []byte) {
			if _, err := io.Copy(io.Discard, bytes.NewReader(content)); err != nil {
				t.Fatal(err)
			}
		}}
		w.Walk(b, "fuzz")
		if spent := room - budget.Bytes; spent > room+1<<20 {
			t.Fatalf("%d bytes were unpacked", spent)
		}
		if w.Budget.Files == 1000 && len(w.Problems) == 0 {
			t.Fatal("neither a member nor a problem")
		}
	})
}

func FuzzZip(f *testing.F)   { fuzz(f, "x.whl", "stored.zip", "zstd.zip", "x.conda") }
func FuzzTar(f *testing.F)   { fuzz(f, "x.tar") }
func FuzzGzip(f *testing.F)  { fuzz(f, "x.tgz", "pkg/a.txt.gz") }
func FuzzXz(f *testing.F)    { fuzz(f, "x.tar.xz") }
func FuzzZstd(f *testing.F)  { fuzz(f, "x.tar.zst") }
func FuzzBzip2(f *testing.F) { fuzz(f, "x.tar.bz2") }
func FuzzDeb(f *testing.F)   { fuzz(f, "x.deb", "plain.deb") }
