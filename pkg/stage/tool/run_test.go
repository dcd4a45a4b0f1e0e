package tool_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cudaproof/cudaproof/pkg/stage/tool"
)

func sh(script string) tool.Command { return tool.Command{Args: []string{"sh", "-c", script}} }

func TestRun(t *testing.T) {
	tests := []struct {
		name    string
		command tool.Command
		exit    int
		output  string
		problem string
	}{
		{"both streams in order", sh("echo a; echo b >&2; echo c"), 0, "a\nb\nc\n", ""},
		{"exit code", sh("echo no; exit 7"), 7, "no\n", ""},
		{"signal", sh("kill -SEGV $$"), -1, "", "ended by signal: segmentation fault"},
		{"no such name", tool.Command{Args: []string{"cudaproof-no-such-tool"}}, -1, "", "not found in PATH"},
		{"no such path", tool.Command{Args: []string{"/no/such/tool"}}, -1, "", "cannot be run: /no/such/tool: no such file or directory"},
		{"a folder", tool.Command{Args: []string{"/"}}, -1, "", "cannot be run: \"/\": is a directory"},
		{"no such folder", tool.Command{Args: []string{"/bin/true"}, Dir: "/no/such"}, -1, "", "cannot be run: /bin/true: no such file or directory (in folder /no/such)"},
		{"nothing", tool.Command{}, -1, "", "no program to run"},
		{"standard input is empty", sh("cat; echo end"), 0, "end\n", ""},
		{"not UTF-8", sh(`printf 'a\377b'`), 0, "a\uFFFDb", ""},
		{"environment", tool.Command{Args: []string{"/usr/bin/env"}, Env: []string{"A=b"}}, 0, "A=b\n", ""},
		{"folder", tool.Command{Args: []string{"pwd"}, Dir: "/"}, 0, "/\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tool.Run(t.Context(), tt.command)
			if r.Exit != tt.exit || r.Output != tt.output || r.Problem != tt.problem {
				t.Errorf("got %+v, want exit %d, output %q, problem %q",
					r, tt.exit, tt.output, tt.problem)
			}
			if started := !strings.HasPrefix(tt.problem, "cannot") && !strings.HasPrefix(tt.problem, "no"); r.Started != started {
				t.Errorf("Started is %v, want %v", r.Started, started)
			}
			if r.OK() != (r.Failure() == "") || r.OK() != (tt.exit == 0) {
				t.Errorf("OK %v, Failure %q", r.OK(), r.Failure())
			}
		})
	}
}

func TestRunTakesStandardOutputApart(t *testing.T) {
	c := sh("echo out; echo err >&2")
	c.Stdout = tool.NewBuffer(100)
	r := tool.Run(t.Context(), c)
	if c.Stdout.String() != "out\n" || r.Output != "err\n" {
		t.Errorf("standard output %q, the rest %q", c.Stdout, r.Output)
	}
}

func TestRunTimeLimit(t *testing.T) {
	c := sh("echo started; sleep 60")
	c.Timeout = 100 * time.Millisecond
	r := tool.Run(t.Context(), c)
	if want := "took longer than 100ms and was stopped"; r.Problem != want || r.Exit != -1 || r.Output != "started\n" {
		t.Errorf("got %+v, want problem %q", r, want)
	}
}

// A program that ignores SIGTERM, and a child of it, must both go.
func TestRunCancelEndsTheGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for pids(t, file) == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	r := tool.Run(ctx, sh(`trap '' TERM; sleep 60 & echo $$ $! >`+file+`.new; mv `+file+`.new `+file+`; wait; sleep 60`))
	if r.Problem != "stopped: context canceled" || r.Exit != -1 {
		t.Errorf("got %+v", r)
	}
	gone(t, pids(t, file))
}

// A process left behind neither blocks the end nor survives it.
func TestRunEndsWhatIsLeftBehind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	start := time.Now()
	r := tool.Run(t.Context(), sh(`sleep 60 & echo $! >`+file+`; echo done`))
	if !r.OK() || r.Output != "done\n" {
		t.Errorf("got %+v", r)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
	gone(t, pids(t, file))
}

func pids(t *testing.T, file string) (list []int) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for _, f := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Error(err)
		}
		list = append(list, pid)
	}
	return list
}

// gone waits until the processes have ended; a killed orphan is a zombie until
// init collects it.
func gone(t *testing.T, pids []int) {
	t.Helper()
	if len(pids) == 0 {
		t.Fatal("the program did not say its process numbers")
	}
	for _, pid := range pids {
		deadline := time.Now().Add(5 * time.Second)
		for alive(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is still running", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
