package fatbin

import "syscall"

// buffer is memory for decoded payloads. Large ones lie outside the heap: there
// they would let the garbage grow to as much again before it is collected.
type buffer struct {
	b      []byte
	mapped bool
}

// largeBuffer is the size in bytes from which a buffer is large.
const largeBuffer = 1 << 20

// sized gives n bytes, of the last buffer where it is large enough and not so
// much too large that keeping it costs more than another. What it gave before is
// no longer good.
func (b *buffer) sized(n int64) []byte {
	if size := int64(cap(b.b)); size >= n && (size < largeBuffer || size/4 < n) {
		return b.b[:n]
	}
	b.free()
	if n >= largeBuffer {
		mapped, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err == nil {
			b.b, b.mapped = mapped, true
			return b.b
		}
	}
	b.b = make([]byte, n)
	return b.b
}

func (b *buffer) free() {
	if b.mapped {
		_ = syscall.Munmap(b.b[:cap(b.b)])
	}
	b.b, b.mapped = nil, false
}
