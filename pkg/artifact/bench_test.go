package artifact

import (
	"os"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode"
)

// BenchmarkOpen reads the file that CUDAPROOF_BENCH_FILE names, a small one
// without it.
func BenchmarkOpen(b *testing.B) {
	path := os.Getenv("CUDAPROOF_BENCH_FILE")
	if path == "" {
		path = testdata + "cuda-13.0/v_90.so"
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(path, devicecode.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
