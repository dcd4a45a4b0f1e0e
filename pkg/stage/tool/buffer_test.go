package tool

import (
	"fmt"
	"strings"
	"testing"
)

func TestBuffer(t *testing.T) {
	tests := []struct {
		keep    int
		writes  []string
		want    string
		dropped int64
	}{
		{8, nil, "", 0},
		{8, []string{"abc"}, "abc", 0},
		{8, []string{"abcd", "efgh"}, "abcdefgh", 0},
		{8, []string{"abcdefgh"}, "abcdefgh", 0},
		{8, []string{"abcdefghi"}, "abcd\n[1 bytes left out]\nfghi", 1},
		{8, []string{"abcdef", "ghijklmnop"}, "abcd\n[8 bytes left out]\nmnop", 8},
		{8, []string{"abcdefghijk", "l"}, "abcd\n[4 bytes left out]\nijkl", 4},
		{0, []string{"abc"}, "a\n[1 bytes left out]\nc", 1},
		{4, []string{"é€"}, "é\n[1 bytes left out]\n\uFFFD", 1},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.keep, tt.writes), func(t *testing.T) {
			b := NewBuffer(tt.keep)
			for _, w := range tt.writes {
				if n, err := b.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("Write(%q) = %d, %v", w, n, err)
				}
			}
			if b.String() != tt.want || b.Dropped() != tt.dropped {
				t.Errorf("got %q, %d dropped; want %q, %d", b, b.Dropped(), tt.want, tt.dropped)
			}
		})
	}
}

func TestBufferStaysSmall(t *testing.T) {
	b := NewBuffer(1000)
	for range 10000 {
		_, _ = b.Write([]byte(strings.Repeat("x", 777)))
	}
	if got := cap(b.head) + cap(b.tail); got > 5000 {
		t.Errorf("holds %d bytes to keep 1000", got)
	}
	if want := int64(10000*777 - 1000); b.Dropped() != want {
		t.Errorf("dropped %d, want %d", b.Dropped(), want)
	}
}
