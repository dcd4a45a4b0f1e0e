package tool

import (
	"fmt"
	"strings"
	"sync"
)

// Buffer keeps the beginning and the end of what is written to it. It may be
// written to from several goroutines.
type Buffer struct {
	mu      sync.Mutex
	half    int
	head    []byte
	tail    []byte // at most twice half: cut back when full
	dropped int64
}

// NewBuffer makes a buffer that keeps at most so many bytes, half of them from
// the end.
func NewBuffer(keep int) *Buffer { return &Buffer{half: max(keep/2, 1)} }

// Write takes everything and never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	if room := b.half - len(b.head); room > 0 {
		taken := min(room, len(p))
		b.head = append(b.head, p[:taken]...)
		p = p[taken:]
	}
	if over := len(p) - b.half; over > 0 {
		b.drop(len(b.tail))
		b.dropped += int64(over)
		p = p[over:]
	}
	b.tail = append(b.tail, p...)
	if len(b.tail) > 2*b.half {
		b.drop(len(b.tail) - b.half)
	}
	return n, nil
}

func (b *Buffer) drop(n int) {
	b.dropped += int64(n)
	b.tail = b.tail[:copy(b.tail, b.tail[n:])]
}

// Dropped is how many bytes between the beginning and the end are lost.
func (b *Buffer) Dropped() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped + int64(max(len(b.tail)-b.half, 0))
}

// String gives what was kept as valid UTF-8, with a line that says how much is
// missing where something is.
func (b *Buffer) String() string {
	dropped := b.Dropped()
	b.mu.Lock()
	defer b.mu.Unlock()
	tail := b.tail[max(len(b.tail)-b.half, 0):]
	text := string(b.head) + string(tail)
	if dropped > 0 {
		text = fmt.Sprintf("%s\n[%d bytes left out]\n%s", b.head, dropped, tail)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
