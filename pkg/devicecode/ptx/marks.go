package ptx

import "bytes"

// marked are the bytes that can end a block or hide its end.
const marked = "{}\"/"

// marks finds the next marked byte. It keeps where each of them comes next:
// bytes.IndexByte is many times faster than looking at every byte, as long as
// no stretch is searched twice for the same one.
type marks struct {
	at [len(marked)]int // next position of each at or after the last given; 0: not searched yet
}

// next gives the position of the next marked byte at or after from, len(b) where
// there is none. From must not fall from call to call.
func (m *marks) next(b []byte, from int) int {
	nearest := len(b)
	for i := range m.at {
		if m.at[i] <= from {
			m.at[i] = len(b)
			if n := bytes.IndexByte(b[from:], marked[i]); n >= 0 {
				m.at[i] = from + n
			}
		}
		nearest = min(nearest, m.at[i])
	}
	return nearest
}
