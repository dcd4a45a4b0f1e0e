package ptxas

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cudaproof/cudaproof/pkg/devicecode/arch"
)

func target(t *testing.T, s string) arch.Target {
	t.Helper()
	parsed, err := arch.ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestRefuses(t *testing.T) {
	for _, test := range []struct{ tool, version, target, want string }{
		{"11.8", "7.8", "sm_90", ""},
		{"11.8", "5.0", "sm_90", ""},
		{"11.8", "9.0", "sm_90", "ptxas 11.8 is older than PTX ISA 9.0"},
		{"13.0", "9.9", "sm_90", "ptxas 13.0 is older than PTX ISA 9.9"},
		{"11.8", "7.8", "sm_121", "ptxas 11.8 does not know sm_121"},
		{"13.0", "7.8", "sm_61", "ptxas 13.0 no longer knows sm_61"},
	} {
		if got := (Tool{Version: test.tool}).Refuses(test.version, target(t, test.target)); got != test.want {
			t.Errorf("%+v: got %q", test, got)
		}
	}
}

// C07: an instruction that the target of the PTX does not have.
func TestAssemble(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		if os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1" {
			t.Fatal("ptxas is required")
		}
		t.Skip("no ptxas here")
	}
	tool, err := Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry good()\n{ ret; }\n"
	const bad = ".visible .entry bad()\n{\n.reg .b32 r;\n.reg .b64 p;\nmapa.u64 p, p, r;\nret;\n}\n"
	path := filepath.Join(t.TempDir(), "x.ptx")
	for _, test := range []struct {
		text, target string
		want         Result
		says         string
	}{
		{head, "sm_90", Result{OK: true}, ""},
		{head + bad, "sm_90", Result{Kernel: "bad"}, "Feature 'mapa' requires .target sm_90"},
		{head, "sm_999", Result{}, "is not defined"},
	} {
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := tool.Assemble(t.Context(), path, target(t, test.target), false)
		if got.OK != test.want.OK || got.Kernel != test.want.Kernel || !strings.Contains(got.Output+got.NotDone, test.says) || strings.Contains(got.Output, path) {
			t.Errorf("%s: %+v, want %+v, %q", test.target, got, test.want, test.says)
		}
	}
}
