package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/linkage"
	"github.com/cudaproof/cudaproof/pkg/record"
)

// TestDuplicates uses copies of one library: what is used together counts, and
// two libraries of which neither is an artifact do not.
func TestDuplicates(t *testing.T) {
	m := project(t, []string{"a.so", "b.so", "p.so", "q.so"}, "a.so", "b.so")
	artifacts := Artifacts(t.Context(), m, Options{})
	artifacts[0].Dependencies = []linkage.Dependency{{Path: "p.so"}}
	runs := []record.Run{{Processes: []record.Process{
		{Artifacts: []string{"b.so"}, Libraries: []string{m.Abs("b.so"), m.Abs("q.so")}},
		{Libcuda: "/usr/lib/libcuda.so.1", Libraries: []string{m.Abs("p.so"), m.Abs("q.so")}},
	}}}
	_, got := Libraries(t.Context(), m, artifacts, runs, Options{})
	kernels := []string{"never_launched"}
	want := []record.Duplicate{
		{Files: [2]string{"a.so", "p.so"}, Kernels: 1, Names: kernels},
		{Files: [2]string{"b.so", "q.so"}, Kernels: 1, Names: kernels},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}
