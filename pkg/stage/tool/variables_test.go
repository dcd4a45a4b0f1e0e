package tool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

func TestVariables(t *testing.T) {
	t.Setenv("CUDAPROOF_TEST_A", "a=b")
	t.Setenv("CUDAPROOF_TEST_EMPTY", "")
	t.Setenv("CUDAPROOF_TEST_PATHS", "/home/someone/lib:/home/someoneelse:/home/someone")
	t.Setenv("HOME", "/home/someone")
	t.Setenv("CUDAPROOF_TEST_SECRET", "secret")
	got := tool.Variables([]string{"CUDAPROOF_TEST_A", "CUDAPROOF_TEST_EMPTY", "CUDAPROOF_TEST_PATHS", "CUDAPROOF_TEST_NOT_SET"})
	want := map[string]string{
		"CUDAPROOF_TEST_A": "a=b", "CUDAPROOF_TEST_EMPTY": "", "CUDAPROOF_TEST_PATHS": "$HOME/lib:/home/someoneelse:$HOME",
	}
	if !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}
