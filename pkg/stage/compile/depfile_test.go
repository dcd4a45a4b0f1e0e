package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDeps(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
		err      string
	}{
		{"nvcc 11.8", "a.o : a.cu \\\n    /usr/include/stdc-predef.h \\\n    inc/h.h\n\n", []string{"a.cu", "/usr/include/stdc-predef.h", "inc/h.h"}, ""},
		{"names as nvcc 11.8 writes them", "sp dir/o o.o : /w/sp\\ dir/s\\ s#1.cu \\\n    sp\\ dir/h\\ h#1$.h\n", []string{"/w/sp dir/s s#1.cu", "sp dir/h h#1$.h"}, ""},
		{"one file, no line feed", "a.o : a.cu", []string{"a.cu"}, ""},
		{"several on a line", "a.o : a.cu b.h\tc.h", []string{"a.cu", "b.h", "c.h"}, ""},
		{"carriage returns", "a.o : a.cu \\\r\n b.h\r\n", []string{"a.cu", "b.h"}, ""},
		{"colon in a name", "a.o : a.cu \\\n x : y.h\n", []string{"a.cu", "x", ":", "y.h"}, ""},
		{"backslash at the end", "a.o : a.cu\\", []string{"a.cu\\"}, ""},
		{"empty", "", nil, "after the target"},
		{"no rule", "hello", nil, "after the target"},
		{"no files", "a.o : \\\n\n", nil, "no file"},
		{"two rules", "a.o : a.cu\nb.o : b.cu\n", nil, "a second rule"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseDeps(tt.in)
			if !cmp.Equal(got, tt.want) {
				t.Error(cmp.Diff(tt.want, got))
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

// An error or files, never both, and no name longer than the text.
func FuzzParseDeps(f *testing.F) {
	f.Add("a.o : a.cu \\\n    inc/a\\ b.h\n")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := parseDeps(text)
		if (err == nil) != (len(files) > 0) {
			t.Errorf("%d files and %v", len(files), err)
		}
		for _, name := range files {
			if name == "" || len(name) > len(text) {
				t.Errorf("name %q", name)
			}
		}
	})
}
