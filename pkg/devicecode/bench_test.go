package devicecode

import "testing"

func BenchmarkName(b *testing.B) {
	const mangled = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_"
	b.ReportAllocs()
	for b.Loop() {
		if Name(mangled) == mangled {
			b.Fatal("it does not demangle")
		}
	}
}
