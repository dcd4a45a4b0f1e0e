package coverage

import (
	"os"
	"runtime"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

// BenchmarkMatrix judges every kernel of libcublasLt (57,623 in its machine code,
// Debian's package of CUDA 11.8) on all devices; the file is read before. It also
// gives the memory that the matrix keeps, for one device and for all.
func BenchmarkMatrix(b *testing.B) {
	const path = "/usr/lib/x86_64-linux-gnu/libcublasLt.so.11"
	if _, err := os.Stat(path); err != nil {
		b.Skip(err)
	}
	f, err := artifact.Open(path, devicecode.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		devices []arch.Capability
	}{{"1", arch.Known()[13:14]}, {"20", arch.Known()}} {
		b.Run(test.name, func(b *testing.B) {
			var m *Matrix
			for b.Loop() {
				m = NewMatrix(test.devices, arch.Driver{})
				m.AddFile(f)
				m.Sort()
			}
			kernels := 0
			for _, r := range m.Rows {
				kernels += r.Kernels
			}
			b.ReportMetric(float64(kernels), "kernels")
			b.ReportMetric(float64(len(m.Rows)), "rows")
			b.ReportMetric(kept(m), "kept-MB")
		})
	}
}

// kept gives what is freed with a value, in MB.
func kept(m *Matrix) float64 {
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	runtime.KeepAlive(m)
	m = nil
	runtime.GC()
	runtime.ReadMemStats(&without)
	return float64(int64(with.HeapAlloc)-int64(without.HeapAlloc)) / 1e6
}
