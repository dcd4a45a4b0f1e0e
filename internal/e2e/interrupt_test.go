package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// interrupted starts a command in a process group of its own, as a terminal
// does, waits for a file to appear, and sends the group a signal. The command
// must end soon, and not well: `interrupted INT started ./bin verify`. With ALONE
// it is SIGTERM to the command's own process only.
func interrupted(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "ALONE": syscall.SIGTERM}
	if neg || len(args) < 3 || signals[args[0]] == 0 {
		ts.Fatalf("usage: interrupted INT|TERM|ALONE FILE COMMAND...")
	}
	started := ts.MkAbs(args[1])
	program := args[2]
	if strings.Contains(program, "/") {
		program = ts.MkAbs(program)
	}
	cmd := exec.Command(program, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = os.Environ()
	for _, name := range []string{"HOME", "LD_LIBRARY_PATH", "MAGEFILE_CACHE", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GOPROXY", "GONOSUMDB"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(started); err == nil {
			break
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not appear:\n%s", args[1], output.String())
		}
	}
	target := -cmd.Process.Pid
	if args[0] == "ALONE" {
		target = cmd.Process.Pid
	}
	ts.Check(syscall.Kill(target, signals[args[0]]))
	select {
	case err := <-ended:
		ts.Logf("%v\n%s", err, output.String())
		if err == nil {
			ts.Fatalf("exit code 0 after SIG%s", args[0])
		}
	case <-time.After(20 * time.Second):
		ts.Fatalf("still running 20 s after SIG%s", args[0])
	}
}
