package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRecordedCoverage reads what the runs on the H200 launched of each artifact.
func TestRecordedCoverage(t *testing.T) {
	for name, want := range map[string]KernelCoverage{
		"sm90_ptx90":    {Artifact: "build/sm90_ptx90", Kernels: 1, Native: 1, PTX: 1},
		"ptx90":         {Artifact: "build/ptx90", Kernels: 1, PTX: 1},
		"sm90":          {Artifact: "build/sm90", Kernels: 1, Native: 1},
		"rdc_lost_link": {Artifact: "build/rdc_lost_link", Kernels: 1, Native: 1, PTX: 1},
		"torch":         {Artifact: "build/torch.so", Kernels: 1, Native: 1}, // C31
		"load_fatbin90": {Artifact: "build/f90.fatbin", Kernels: 1, Native: 1, PTX: 1},
		// The PTX run launched the bare cubin: that is no launch through PTX.
		"load_cubin90": {Artifact: "build/c90.cubin", Kernels: 1, Native: 1},
	} {
		_, r := replay(t, name)
		if diff := cmp.Diff([]KernelCoverage{want}, Kernels(r), cmpopts.IgnoreUnexported(KernelCoverage{})); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", name, diff)
		}
	}
	_, r := replay(t, "c20_unchecked") // its launches failed
	if got := Kernels(r); got != nil {
		t.Errorf("c20_unchecked: %+v", got)
	}
	_, r = replay(t, "rdc_ptx90") // the device runtime's kernels are in it
	if got := Kernels(r); len(got) != 1 || got[0].Kernels != 33 || got[0].PTX != 1 || len(got[0].Never) != 32 {
		t.Errorf("rdc_ptx90: %+v", got)
	}
}
