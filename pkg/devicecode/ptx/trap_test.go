package ptx

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTraps(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       bool
	}{
		{"alone", "trap;", true},
		{"and return", "\n\t// begin inline asm\n\ttrap;\n\tret;\n", true},
		{"registers", ".reg .b32 %r<2>; mov.u32 %r1, 3; trap; ret;", true},
		{"message", "{ .param .b64 p; st.param.b64 [p+0], %rd2; call.uni (r), vprintf, (p, q); ld.param.b32 %r1, [r+0]; } trap;", true},
		{"other function", "call.uni work, (p); trap;", false},
		{"function with result", "call.uni (r), work, (p); trap;", false},
		{"through a pointer", "call.uni (r), %rd1, (p), proto; trap;", false},
		{"store", "st.global.u32 [%rd1], 5; trap;", false},
		{"generic store", "st.u32 [%rd1], 5; trap;", false},
		{"own stack", "st.local.u32 [%rd1], 5; trap;", true},
		{"atomic", "red.global.add.u32 [%rd1], 5; trap;", false},
		{"predicate", "@%p1 trap; ret;", false},
		{"branch", "@%p1 bra $L; trap; $L: ret;", false},
		{"label", "$L: trap;", false},
		{"after the return", "ret; trap;", false},
		{"in a comment", "/* trap; */ ret;", false},
		{"in a string", `.pragma "trap;"; ret;`, false},
		{"other word", "trapped; ret;", false},
		{"without semicolon", "trap", false},
		{"none", "ret;", false},
		{"empty", "", false},
	} {
		if got := traps([]byte(test.body)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestC25 reads the PTX of traps.cu as nvcc writes it.
func TestC25(t *testing.T) {
	if err := exec.Command("nvcc", "--version").Run(); err != nil {
		if os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1" {
			t.Fatalf("nvcc is required: %v", err)
		}
		t.Skipf("nvcc does not run here: %v", err)
	}
	for target, want := range map[string][]string{
		"compute_75": {"long_message_then_trap", "message_then_trap", "only_trap", "trap_below_80", "trap_by_asm"},
		"compute_80": {"long_message_then_trap", "message_then_trap", "only_trap", "trap_by_asm"},
	} {
		path := filepath.Join(t.TempDir(), "traps.ptx")
		if out, err := exec.Command("nvcc", "-arch="+target, "-ptx", "../testdata/traps.cu", "-o", path).CombinedOutput(); err != nil {
			t.Fatalf("nvcc: %v\n%s", err, out)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Read(b)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Traps
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", target, diff)
		}
	}
}
