package execute

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// killGrace is how long a killed process may take to go. One that waits for a
// device in the kernel may never go; it is given up then.
const killGrace = 10 * time.Second

// ending is how a program ended.
type ending struct {
	exit     record.Exit
	leftover int // processes that outlived it and were killed
}

// runWithOutput runs a command to its end with its output going to the
// streams. It returns when the program has ended, whoever still holds its
// output open. An error means that the program was not started.
func runWithOutput(ctx context.Context, cmd *exec.Cmd, timeout time.Duration, stdout, stderr *stream) (ending, error) {
	var pumps []*pump
	var writers []*os.File
	defer func() {
		for _, p := range pumps {
			p.stop()
		}
	}()
	for _, s := range []*stream{stdout, stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(writers)
			return ending{}, err
		}
		pumps = append(pumps, startPump(r, s))
		writers = append(writers, w)
	}
	cmd.Stdout, cmd.Stderr = writers[0], writers[1]
	return runToEnd(ctx, cmd, timeout, func() { closeAll(writers) })
}

// closeAll closes our ends of the pipes, which cannot fail in a way that
// matters.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// oneAtATime guards what belongs to the whole process: being the reaper of
// orphans, and telling which of them are new.
var oneAtATime sync.Mutex

// runToEnd starts the command in a session of its own, waits for it, and ends
// what it left behind. It calls started when the files of cmd are no longer
// needed.
func runToEnd(ctx context.Context, cmd *exec.Cmd, timeout time.Duration, started func()) (ending, error) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	reaper, err := becomeReaper()
	if err != nil {
		started()
		return ending{}, err
	}
	defer reaper.resign()

	p := start(cmd)
	err = <-p.started
	started()
	if err != nil {
		return ending{}, err
	}
	var end ending
	if end.exit = p.wait(ctx, timeout); end.exit != (record.Exit{}) && !p.kill(cmd.Process.Pid) {
		end.leftover = 1
		return end, nil
	}
	close(p.reap)
	<-p.reaped
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && end.exit == (record.Exit{}) {
		end.exit = exitOf(status)
	}
	end.leftover = reaper.killLeftover()
	return end, nil
}

// process is a started command. The one goroutine that starts it also waits
// for it, on one locked thread: the parent-death signal fires when the thread
// that started the child ends (golang.org/issue/27505).
type process struct {
	started chan error    // once
	ended   chan struct{} // closed when the program has ended
	reap    chan struct{} // to be closed when its number may be given up
	reaped  chan struct{} // closed when cmd.ProcessState is set
}

func start(cmd *exec.Cmd) process {
	p := process{make(chan error, 1), make(chan struct{}), make(chan struct{}), make(chan struct{})}
	// A session of its own is a process group, keeps the terminal away, and
	// marks all descendants as none of the caller's own children.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.started <- err
		if err != nil {
			return
		}
		waitWithoutReaping(cmd.Process.Pid)
		close(p.ended)
		<-p.reap
		_ = cmd.Wait() // the exit code is in cmd.ProcessState
		close(p.reaped)
	}()
	return p
}

// wait gives the zero value when the program has ended by itself, else what
// came before that.
func (p process) wait(ctx context.Context, timeout time.Duration) record.Exit {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.ended:
		return record.Exit{}
	case <-timer.C:
		return record.Exit{TimedOut: true}
	case <-ctx.Done():
		return record.Exit{Interrupted: true}
	}
}

// kill ends the program's process group and reports whether the program went
// in time. It is not reaped yet, so its number stands for its own group.
func (p process) kill(pid int) bool {
	_ = syscall.Kill(-pid, syscall.SIGKILL) // ESRCH: there is nothing left to kill
	select {
	case <-p.ended:
		return true
	case <-time.After(killGrace):
		return false
	}
}

// waitWithoutReaping returns when the process has ended and leaves it a zombie.
func waitWithoutReaping(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// exitOf tells an exit code from a signal.
func exitOf(status syscall.WaitStatus) record.Exit {
	if !status.Signaled() {
		return record.Exit{Code: status.ExitStatus()}
	}
	name := unix.SignalName(status.Signal())
	if name == "" { // real-time signals have none
		name = fmt.Sprintf("signal %d", int(status.Signal()))
	}
	return record.Exit{Signal: name, CoreDumped: status.CoreDump()}
}

// startProblem says why a program that is there could not be started.
func startProblem(path string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Sprintf("%s: %s", path, wrongFormat(path))
	case errors.Is(err, syscall.EACCES):
		return path + ": not executable: permission denied"
	case errors.Is(err, syscall.ENOENT):
		return path + ": its interpreter is missing: the program of its #! line, or the dynamic loader that it names (readelf -l)"
	}
	return fmt.Sprintf("%s: %v", path, err)
}

func wrongFormat(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return "not a program of this machine and no #! line: exec format error"
	}
	defer f.Close()
	return fmt.Sprintf("built for %v, which this machine (%s) does not run: exec format error", f.Machine, runtime.GOARCH)
}
