package ar

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func header(name string, size int) string {
	return fmt.Sprintf("%-16s%-12s%-6s%-6s%-8s%-10d`\n", name, "0", "0", "0", "644", size)
}

func TestMembers(t *testing.T) {
	const long = "a_name_of_more_than_15.o/\n"
	index := "\x00\x00\x00\x01\x00\x00\x00\x50f\x00\x00\x00" // one symbol in the member at 0x50
	for _, test := range []struct {
		name, data string
		want       []Member
		err        string
	}{
		{"empty", Magic, nil, ""},
		{"short and odd", Magic + header("a.o/", 3) + "abc\n" + header("b.o/", 2) + "de", []Member{{"a.o", 68, 3}, {"b.o", 132, 2}}, ""},
		{"long name", Magic + header("//", len(long)) + long + header("/0", 2) + "de", []Member{{"a_name_of_more_than_15.o", 154, 2}}, ""},
		{"index", Magic + header("/", len(index)) + index + header("b.o/", 2) + "de", []Member{{"b.o", 140, 2}}, ""},
		{"index without its member", Magic + header("/", len(index)) + index, nil, "names a member at offset 0x50"},
		{"index of too many symbols", Magic + header("/", 4) + "\x7f\x00\x00\x00", nil, "symbols do not fit"},
		{"index without number", Magic + header("/", 0), nil, "cut off"},
		{"thin", ThinMagic + header("a.o/", 3000) + header("b.o/", 2), []Member{{"a.o", 0, 3000}, {"b.o", 0, 2}}, ""},
		{"other", "!<arch>", nil, "shorter than its magic"},
		{"no library", "!<arch>x", nil, "no static library"},
		{"cut header", Magic + "a.o/", nil, "offset 0x8 is cut off"},
		{"cut member", Magic + header("a.o/", 3) + "ab", nil, "claims 3 bytes, 2 are there"},
		{"size", Magic + strings.Replace(header("a.o/", 3), "3 ", "-3", 1), nil, `size "-3`},
		{"no header", Magic + strings.Repeat("x", 60), nil, "no member header"},
		{"long name without table", Magic + header("/7", 0), nil, "not in the table"},
		{"endless long name", Magic + header("//", 2) + "ab" + header("/0", 0), nil, "does not end"},
		{"BSD", Magic + header("#1/20", 20) + strings.Repeat("x", 20), nil, "BSD"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Members(strings.NewReader(test.data), int64(len(test.data)))
			if test.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// FuzzMembers wants every member to lie within the library.
func FuzzMembers(f *testing.F) {
	f.Add(Magic + header("//", 6) + "long/\n" + header("/0", 2) + "de" + header("a.o/", 1) + "x\n")
	f.Add(ThinMagic + header("a.o/", 3000))
	f.Fuzz(func(t *testing.T, data string) {
		members, _ := Members(strings.NewReader(data), int64(len(data)))
		for _, m := range members {
			if m.Offset != 0 && (m.Size < 0 || m.Offset+m.Size > int64(len(data))) {
				t.Fatalf("member %+v runs past %d bytes", m, len(data))
			}
		}
	})
}
