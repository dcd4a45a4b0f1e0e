package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/magefile/mage/mage"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mage": func() { os.Exit(mage.Main()) },
	})
}

// TestScripts runs testdata/*.txtar. Each is a project of its own; $REPO is
// this repository. The conditions nvcc and nogpu tell what the machine has.
func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	_, nvccErr := exec.LookPath("nvcc")
	if nvccErr != nil && os.Getenv("CUDAPROOF_REQUIRE_TOOLKIT") == "1" {
		t.Fatalf("nvcc is required here: %v", nvccErr)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("REPO", repo)
			e.Setenv("MAGEFILE_CACHE", filepath.Join(e.WorkDir, "magecache"))
			e.Setenv("HOME", e.WorkDir)
			// A program of this environment, such as a test of what is not recorded.
			e.Setenv("SECRET_TOKEN", "SECRET")
			for name, value := range goEnv(t) {
				e.Setenv(name, value)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "nvcc": // the one on PATH
				return nvccErr == nil, nil
			case "nogpu":
				_, err := os.Stat("/proc/driver/nvidia/version") // the kernel driver
				return err != nil, nil
			}
			return false, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":       exits,
			"interrupted": interrupted,
			"publish":     publish,
			"project":     project,
		},
	})
}

// goEnv gives the Go settings that a script's clean environment lacks.
func goEnv(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{"GOFLAGS": "-mod=mod", "GONOSUMDB": "*", "GOTOOLCHAIN": "local"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatalf("go env %s: %v", name, err)
		}
		env[name] = strings.TrimSpace(string(out))
	}
	return env
}

// exits runs a command that must end with that exit code: `exits 3 mage gate`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if exit, ok := err.(*exec.ExitError); ok {
		code = strings.TrimSpace(strings.TrimPrefix(exit.Error(), "exit status"))
	} else if err != nil {
		ts.Fatalf("%v: %v", args[1:], err)
	}
	if code != args[0] {
		ts.Fatalf("%v: exit code %s, want %s", args[1:], code, args[0])
	}
}

// project makes the working directory a Go project that imports the targets,
// under an alias where one is given: `project`, `project gpu`.
func project(ts *testscript.TestScript, neg bool, args []string) {
	alias := ""
	if len(args) == 1 {
		alias = " " + args[0]
	}
	repo := ts.Getenv("REPO")
	write := func(name, content string) {
		path := ts.MkAbs(name)
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, []byte(content), 0o644))
	}
	write("go.mod", "module example.com/project\n\ngo 1.26.0\n\nrequire github.com/cudaproof/cudaproof v0.0.0\n\nreplace github.com/cudaproof/cudaproof => "+repo+"\n")
	sum, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	ts.Check(err)
	write("go.sum", string(sum))
	write("magefiles/magefile.go", "//go:build mage\n\npackage main\n\nimport (\n\t// mage:import"+alias+"\n\t_ \"github.com/cudaproof/cudaproof/magefiles/cuda\"\n)\n")
}
