package cubin

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// trapping are the kernels of traps.cu that do nothing but trap, from a target
// on: below sm_80 one more.
var trapping = map[string]int{
	"only_trap": 999, "trap_by_asm": 999, "message_then_trap": 999, "long_message_then_trap": 999, "trap_below_80": 79,
}

const kernelsOfTraps = 13

// TestC25 has kernels that only trap, and kernels that look like it.
func TestC25(t *testing.T) {
	paths, err := filepath.Glob("../testdata/cuda-*/c25_*.cubin")
	if err != nil || len(paths) < 2 {
		t.Fatal("no test files", err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Kernels) != kernelsOfTraps {
			t.Errorf("%s: %d kernels, want %d", path, len(f.Kernels), kernelsOfTraps)
		}
		for _, k := range f.Kernels {
			if want := f.Number <= trapping[k.Name]; k.Traps != want {
				t.Errorf("%s: %s: traps %v, want %v", path, k.Name, k.Traps, want)
			}
		}
	}
}

// TestC25Nvdisasm compares with the listing of nvdisasm for every target that
// nvcc has here.
func TestC25Nvdisasm(t *testing.T) {
	if out, err := exec.Command("nvdisasm", "--version").Output(); err != nil {
		if os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1" {
			t.Fatalf("nvdisasm is required: %v", err)
		}
		t.Skipf("nvdisasm does not run here: %v %s", err, out)
	}
	targets, err := exec.Command("nvcc", "--list-gpu-code").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range strings.Fields(string(targets)) {
		path := filepath.Join(t.TempDir(), target+".cubin")
		if out, err := exec.Command("nvcc", "-Wno-deprecated-gpu-targets", "-arch="+target, "-cubin", "../testdata/traps.cu", "-o", path).CombinedOutput(); err != nil {
			t.Fatalf("nvcc %s: %v\n%s", target, err, out)
		}
		listing, err := exec.Command("nvdisasm", path).Output()
		if err != nil {
			t.Fatalf("nvdisasm %s: %v", target, err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Read(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range f.Kernels {
			if want := f.Number >= firstTraps && listed(string(listing), k.Name); k.Traps != want {
				t.Errorf("%s: %s: traps %v, by nvdisasm %v", target, k.Name, k.Traps, want)
			}
		}
	}
}

var instruction = regexp.MustCompile(`(?m)^\s+/\*[0-9a-f]{4}\*/\s+(.*?)\s*;`)

// listed reports whether the listing of a kernel runs straight into a trap: no
// predicate, no jump, no store to what others see, and no call but to vprintf.
func listed(listing, kernel string) bool {
	_, body, _ := strings.Cut(listing, "\n.text."+kernel+":\n")
	for _, m := range instruction.FindAllStringSubmatch(body, -1) {
		op, operands, _ := strings.Cut(m[1], " ")
		switch name, _, _ := strings.Cut(op, "."); {
		case strings.HasPrefix(op, "BPT.TRAP"):
			return true
		case op == "@!PT":
		case name == "CALL" || name == "JCAL":
			if !strings.Contains(operands, "(vprintf)") {
				return false
			}
		case strings.HasPrefix(op, "@"), name == "EXIT", name == "BRA", name == "RET", name == "ST", name == "STG", name == "BSSY":
			return false
		}
	}
	return false
}

// FuzzTraps wants a trap to be told only where its instruction is.
func FuzzTraps(f *testing.F) {
	f.Add([]byte("\x02\x7a\x01\x00\x00\x0a\x00\x00\x00\x0f\x00\x00\x00\xc6\x0f\x00\x5c\x79\x00\x00\x04\x00\x00\x00\x00\x00\x30\x00\x00\xea\x0f\x00"))
	f.Fuzz(func(t *testing.T, code []byte) {
		s := straight{symbol: func(string, uint64) string { return "vprintf" }}
		if s.traps(".text.k", code) && !strings.Contains(string(code), "\x5c\x79\x00\x00\x04\x00\x00\x00") {
			t.Fatal("a trap without its instruction")
		}
	})
}
