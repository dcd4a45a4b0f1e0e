package execute

import "testing"

// A process may call itself anything, and the rest is still read.
func FuzzParseStat(f *testing.F) {
	f.Add("a) Z 1 1 1 (b")
	f.Fuzz(func(t *testing.T, name string) {
		parseStat([]byte(name)) // no panic
		c, parent, ok := parseStat([]byte("12 (" + name + ") S 7 13 14 0 -1"))
		if !ok || c != (child{session: 14, state: 'S'}) || parent != 7 {
			t.Errorf("%q: got %+v, %d, %v", name, c, parent, ok)
		}
	})
}

func TestParseStat(t *testing.T) {
	c, parent, ok := parseStat([]byte("12 (a) b) S 7 13 14 0 -1"))
	if !ok || c != (child{session: 14, state: 'S'}) || parent != 7 {
		t.Errorf("got %+v, %d, %v", c, parent, ok)
	}
	for _, text := range []string{"", "12 (a", "12 (a) S", "12 (a) S x 1 1"} {
		if _, _, ok := parseStat([]byte(text)); ok {
			t.Errorf("%q: no problem", text)
		}
	}
}
