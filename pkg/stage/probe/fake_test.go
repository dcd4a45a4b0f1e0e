package probe

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The tests of this package run shell scripts that fake nvidia-smi, nvcc
// and the probe program. They print what the real ones printed where
// testdata/*/README.md says.

// machine is a PATH with fake tools in it, and an empty cache.
type machine struct {
	t    *testing.T
	path string // folder of the tools
}

func newMachine(t *testing.T) machine {
	m := machine{t, t.TempDir()}
	t.Setenv("PATH", m.path+":/usr/bin:/bin")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("CUDA_HOME", "")
	for _, name := range variables {
		if name != "CUDA_HOME" {
			t.Setenv(name, "") // so that it is restored
			_ = os.Unsetenv(name)
		}
	}
	old := procVersion
	procVersion = filepath.Join(m.path, "no-proc-version")
	t.Cleanup(func() { procVersion = old })
	m.tool("nvidia-smi", "exit 127") // hides a real one
	m.tool("nvcc", "exit 127")
	return m
}

// tool writes a script that fakes a tool.
func (m machine) tool(name, script string) {
	m.t.Helper()
	text := "#!/bin/sh\n# This script fakes " + name + ".\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(m.path, name), []byte(text), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// smi fakes nvidia-smi on the H200.
func (m machine) smi() {
	m.tool("nvidia-smi", `case "$*" in
"") cat `+testdata(m.t, "h200/nvidia-smi.txt")+` ;;
"--query-gpu=driver_version --format=csv,noheader") echo 580.159.04 ;;
*) echo "unexpected arguments: $*"; exit 6 ;;
esac`)
}

// nvcc fakes nvcc 13.0; the program it "compiles" is the given script.
func (m machine) nvcc(program string) {
	m.tool("program", program)
	m.tool("nvcc", `case "$*" in
--version) cat `+testdata(m.t, "h200/nvcc-version.txt")+` ;;
--list-gpu-code) cat `+testdata(m.t, "h200/list-gpu-code.txt")+` ;;
"-Wno-deprecated-gpu-targets -o probe probe.cu")
	grep -q cudaGetDeviceCount probe.cu || exit 8
	[ -z "$NVCC_APPEND_FLAGS$NVCC_PREPEND_FLAGS" ] || exit 9
	echo build >>`+m.path+`/builds
	cp `+m.path+`/program probe ;;
*) echo "unexpected arguments: $*"; exit 6 ;;
esac`)
}

// says makes a script that prints an answer and exits.
func says(answer string, exit string) string {
	return "cat <<'END'\n" + answer + "\nEND\nexit " + exit
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var quick = limits{smi: 5 * time.Second, nvcc: 5 * time.Second, build: 5 * time.Second, program: 5 * time.Second}
