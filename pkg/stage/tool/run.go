// Package tool runs other programs for the stages: bounded in time and in the
// output kept, with no standard input, and with nothing left running after.
package tool

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// grace is how long a program has to go after SIGTERM, and how long a process
// that it left behind may hold its output open.
const grace = time.Second

// Command is a program to run.
type Command struct {
	// Args is the program, a path or a name in PATH, and its arguments. A
	// relative path starts from Dir.
	Args    []string
	Dir     string        // working folder; empty: the caller's
	Env     []string      // "NAME=value"; nil: the caller's
	Timeout time.Duration // 0: as long as the context allows
	// Output collects standard output and standard error as they came; nil: a
	// buffer of 64 KiB, returned in Result.Output.
	Output *Buffer
	// Stdout, when set, takes standard output away from Output.
	Stdout *Buffer
}

// Result says how a program ended.
type Result struct {
	// ToolOutput is for the record. Exit is -1 when the program did not end by
	// itself, and Problem then says why; an exit code other than 0 alone is no
	// Problem.
	record.ToolOutput
	// Started says that there was such a program and that it began to run.
	Started bool
}

// OK reports whether the program ended with exit code 0.
func (r Result) OK() bool { return r.Problem == "" && r.Exit == 0 }

// Failure says in a few words why the result is not OK, and is empty when it is.
func (r Result) Failure() string {
	switch {
	case r.Problem != "":
		return r.Problem
	case r.Exit != 0:
		return fmt.Sprintf("exit code %d", r.Exit)
	}
	return ""
}

// Run runs a program in a process group of its own and waits for it. When the
// context or the time ends, and when the program is done, the whole group is
// ended. The program also dies with the calling process.
func Run(ctx context.Context, c Command) Result {
	if len(c.Args) == 0 {
		return Result{ToolOutput: record.ToolOutput{Exit: -1, Problem: "no program to run"}}
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.Timeout)
	}
	defer cancel()
	if c.Output == nil {
		c.Output = NewBuffer(64 << 10)
	}

	started, err := wait(limited, c)

	r := Result{Started: started, ToolOutput: record.ToolOutput{Command: c.Args, Output: c.Output.String()}}
	r.Exit, r.Problem = outcome(ctx, limited, c, err)
	return r
}

// wait starts and waits on one locked thread: the parent-death signal fires
// when the thread that started the child ends (golang.org/issue/27505).
func wait(ctx context.Context, c Command) (started bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return false, err
	}
	err = cmd.Wait()
	// Members of the group keep its number taken, so this reaches them or
	// nobody.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well, and something that it left behind held its output open
	}
	return true, err
}

func outcome(ctx, limited context.Context, c Command, err error) (int, string) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, ""
	case ctx.Err() != nil:
		return -1, "stopped: " + ctx.Err().Error()
	case limited.Err() != nil:
		return -1, fmt.Sprintf("took longer than %v and was stopped", c.Timeout)
	case !errors.As(err, &exit):
		return -1, startProblem(err, c.Dir)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, "ended by signal: " + status.Signal().String()
	}
	return exit.ExitCode(), ""
}

func startProblem(err error, dir string) string {
	if errors.Is(err, exec.ErrNotFound) {
		return "not found in PATH"
	}
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "fork/exec "), "exec: ")
	if dir != "" {
		// The system gives one error for a missing program and a missing folder.
		text += " (in folder " + dir + ")"
	}
	return "cannot be run: " + text
}
