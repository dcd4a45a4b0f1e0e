package scan

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkBytes searches bytes in which nothing is, the most frequent case.
func BenchmarkBytes(b *testing.B) {
	data := make([]byte, 64<<20)
	r := rand.NewChaCha8([32]byte{})
	if _, err := r.Read(data); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if found := Bytes(data); len(found.Places) > 0 {
			b.Fatal(found)
		}
	}
}
