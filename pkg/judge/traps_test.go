package judge

import (
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/devicecode"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// TestC25 judges a library with kernels that only trap, one of them below sm_80
// only.
func TestC25(t *testing.T) {
	file, err := artifact.Open("../devicecode/testdata/cuda-11.8/c25_traps.so", devicecode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		native   []string
		required string
		want     []string
	}{
		{"warned", []string{"sm_75", "sm_80"}, "works", []string{"CP116"}},
		{"required for the target that traps", []string{"sm_75"}, "trap_below_80", []string{"CP116", "CP117"}},
		{"required for another target", []string{"sm_80"}, "trap_below_80", []string{"CP116"}},
	} {
		m := wanting(t, test.native, nil)
		m.Artifacts = []manifest.Artifact{{Path: "p"}}
		m.Artifacts[0].Kernels.Require = []manifest.KernelPattern{{Name: test.required}}
		found := trapFindings(m, record.Artifact{File: file, Pattern: "p"})
		equal(t, test.name, ids(found), test.want)
		var facts []string
		for _, f := range found {
			facts = append(facts, f.Target+": "+f.Fact)
		}
		got := strings.Join(facts, "\n")
		for _, want := range []string{"sm_75: For sm_75 the body of 5 kernels", "sm_80: For sm_80 the body of 4 kernels", "compute_80: ", "for sm_80, compute_80 it is real"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", test.name, want, got)
			}
		}
	}
}
