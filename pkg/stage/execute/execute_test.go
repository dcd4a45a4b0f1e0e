package execute

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cudaproof/cudaproof/pkg/artifact"
	"github.com/cudaproof/cudaproof/pkg/manifest"
	"github.com/cudaproof/cudaproof/pkg/record"
	"github.com/cudaproof/cudaproof/pkg/stage"
)

// The entry points of these tests are shell scripts, this test program itself
// and small C programs. They fake programs that use a device: no test here
// needs or touches one.

// TestMain makes the test program an entry point when it is called with
// "helper".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		helper(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// helper does what a shell cannot.
func helper(what string) {
	switch what {
	case "daemon":
		// A process that calls setsid, whose parent ends at once: it ignores
		// what it can and holds standard output open.
		self, _ := os.Executable()
		cmd := exec.Command(self, "helper", "sleep")
		cmd.Env = []string{} // as env -i
		cmd.Stdout = os.Stdout
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Println("daemon", cmd.Process.Pid)
	case "verify":
		// A verification, in the folder of the third argument, to be killed.
		p := project{
			&manifest.Manifest{Dir: os.Args[3], EntryPoints: []manifest.EntryPoint{{
				Name: "f32", Command: []string{"sh", "-c", "echo $$ >number.new; mv number.new number; exec sleep 60"},
				Modes: []manifest.Mode{manifest.NativeMode}, Timeout: time.Minute,
			}}},
			Options{Devices: oneDevice, BundleDir: filepath.Join(os.Args[3], "bundle")},
		}
		Run(context.Background(), p.Manifest, p.options)
	case "sleep":
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
		time.Sleep(time.Minute)
	}
}

// project is a manifest with one entry point in a folder of its own.
type project struct {
	*manifest.Manifest
	options Options
}

var oneDevice = []record.Device{{Index: 0, UUID: "GPU-0"}}

func newProject(t *testing.T, e manifest.EntryPoint) project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if e.Name == "" {
		e.Name = "f32"
	}
	if e.Modes == nil {
		e.Modes = []manifest.Mode{manifest.NativeMode}
	}
	if e.Timeout == 0 {
		e.Timeout = 30 * time.Second
	}
	return project{
		&manifest.Manifest{Dir: dir, EntryPoints: []manifest.EntryPoint{e}},
		Options{Devices: oneDevice, BundleDir: t.TempDir()},
	}
}

func (p project) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run runs a project with one run.
func (p project) run(t *testing.T) record.Run {
	t.Helper()
	runs, seconds := Run(t.Context(), p.Manifest, p.options)
	if len(runs) != 1 || len(seconds) != 1 {
		t.Fatalf("got %d runs: %+v", len(runs), runs)
	}
	return runs[0]
}

func (p project) kept(t *testing.T, l record.Log) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.options.BundleDir, l.File))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != l.SHA256 || int64(len(data)) != l.Size {
		t.Errorf("%s: hash or size differ from the record's: %+v", l.File, l)
	}
	return string(data)
}

// script is an entry point that runs shell text.
func script(text string) manifest.EntryPoint {
	return manifest.EntryPoint{Command: []string{"sh", "-c", text}}
}

func TestEndings(t *testing.T) {
	tests := []struct {
		script string
		want   record.Exit
	}{
		{"exit 0", record.Exit{}},
		{"exit 3", record.Exit{Code: 3}},
		{"exit 139", record.Exit{Code: 139}}, // what a shell says of a signal is an exit code
		{"kill -SEGV $$", record.Exit{Signal: "SIGSEGV"}},
		{"kill -ABRT $$", record.Exit{Signal: "SIGABRT"}},
		{"kill -KILL $$", record.Exit{Signal: "SIGKILL"}},
		{"kill -TERM $$", record.Exit{Signal: "SIGTERM"}},
		{"kill -BUS $$", record.Exit{Signal: "SIGBUS"}},
		{"kill -40 $$", record.Exit{Signal: "signal 40"}},
		{"exec >&- 2>&-; exit 4", record.Exit{Code: 4}},
		{"read x; test -z \"$x\" && exit 5", record.Exit{Code: 5}},                // standard input is empty
		{"(exec 3</dev/tty) 2>/dev/null && exit 1; exit 6", record.Exit{Code: 6}}, // no terminal either,
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			r := newProject(t, script("ulimit -c 0; "+tt.script)).run(t)
			if r.Exit != tt.want || r.NotStarted != "" || r.Leftover != 0 {
				t.Errorf("got %+v, %q, leftover %d", r.Exit, r.NotStarted, r.Leftover)
			}
			if len(r.Checks) != 1 || r.Checks[0].OK != (tt.want == record.Exit{}) || r.Checks[0].What != "exit code" {
				t.Errorf("got checks %+v", r.Checks)
			}
		})
	}
}

// TestSignals has programs that die by each signal whose default is to end a
// process (signal(7)), and one that stops itself: that is a hang.
func TestSignals(t *testing.T) {
	harmless := []syscall.Signal{
		syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH,
		syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
	}
	for n := syscall.Signal(1); n <= 64; n++ {
		if slices.Contains(harmless, n) || n == 32 || n == 33 { // those two are glibc's own
			continue
		}
		r := newProject(t, script(fmt.Sprintf("ulimit -c 0; echo before; kill -%d $$", n))).run(t)
		if want := exitOf(syscall.WaitStatus(n)); r.Exit != want || want.Signal == "" || r.Stdout.Tail != "before\n" || r.Checks[0].OK {
			t.Errorf("signal %d: got %+v, want %+v; printed %q", n, r.Exit, want, r.Stdout.Tail)
		}
	}
	e := script("echo before; kill -STOP $$")
	e.Timeout = 200 * time.Millisecond
	if r := newProject(t, e).run(t); !r.Exit.TimedOut || r.Stdout.Tail != "before\n" {
		t.Errorf("stopped: %+v", r)
	}
}

// TestGigabyte prints a gigabyte before the line that is waited for.
func TestGigabyte(t *testing.T) {
	e := script("head -c 1073741824 /dev/zero; echo; echo PASS")
	e.Expect.Stdout = []manifest.Line{{Text: "PASS"}}
	r := newProject(t, e).run(t)
	if r.Stdout.Size != maxLog || r.Stdout.Dropped != 1<<30+1+5-maxLog || !allOK(r.Checks) {
		t.Errorf("%+v, checks %+v", r.Stdout, r.Checks)
	}
}

func TestExitOf(t *testing.T) {
	for status, want := range map[syscall.WaitStatus]record.Exit{
		0x0700: {Code: 7},
		0x8b:   {Signal: "SIGSEGV", CoreDumped: true},
		0x0b:   {Signal: "SIGSEGV"},
	} {
		if got := exitOf(status); got != want {
			t.Errorf("%#x: got %+v, want %+v", status, got, want)
		}
	}
}

func TestNotStarted(t *testing.T) {
	tests := []struct {
		command string
		prepare func(*testing.T, project)
		want    string
	}{
		{"build/absent", nil, "build/absent: no such file: build it"},
		{"no-such-program-anywhere", nil, "not found in PATH"},
		{"./folder", func(t *testing.T, p project) {
			if err := os.Mkdir(filepath.Join(p.Dir, "folder"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
		{"./noexec", func(t *testing.T, p project) {
			p.write(t, "noexec", "#!/bin/sh\n")
			if err := os.Chmod(filepath.Join(p.Dir, "noexec"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "not executable"},
		{"./rubbish", func(t *testing.T, p project) { p.write(t, "rubbish", "\x01\x02") }, "no #! line: exec format error"},
		{"./shebang", func(t *testing.T, p project) { p.write(t, "shebang", "#!/no/such/shell\n") }, "its interpreter is missing"},
		{"./other", otherMachine, "built for EM_S390"},
	}
	for _, tt := range tests {
		t.Run(tt.command, func(t *testing.T) {
			p := newProject(t, manifest.EntryPoint{Command: []string{tt.command}})
			if tt.prepare != nil {
				tt.prepare(t, p)
			}
			r := p.run(t)
			if !strings.Contains(r.NotStarted, tt.want) || len(r.Checks) != 0 || r.Exit != (record.Exit{}) {
				t.Errorf("got %q, %+v, %+v; want %q", r.NotStarted, r.Checks, r.Exit, tt.want)
			}
			if entries, _ := os.ReadDir(filepath.Join(p.options.BundleDir, "runs")); len(entries) != 0 {
				t.Errorf("an empty folder stays: %v", entries)
			}
		})
	}
}

// otherMachine writes a copy of this test program for another machine.
func otherMachine(t *testing.T, p project) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	data[18] = 22 // e_machine: EM_S390
	p.write(t, "other", string(data))
}

func TestTimeoutKillsTheWholeGroup(t *testing.T) {
	e := script("sleep 60 & echo $!; sleep 60")
	e.Timeout = 200 * time.Millisecond
	p := newProject(t, e)
	begun := time.Now()
	r := p.run(t)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if !r.Exit.TimedOut || r.Exit.Signal != "" || r.Checks[0].OK || r.Checks[0].Got != "ended with SIGKILL after 200ms" {
		t.Errorf("got %+v, %+v", r.Exit, r.Checks)
	}
	gone(t, p.kept(t, r.Stdout))
}

// gone fails when the process with this number is alive.
func gone(t *testing.T, number string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("process %d: %v, want it gone", pid, err)
	}
}

func TestLeftoverIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("in the background", func(t *testing.T) {
		p := newProject(t, script("sleep 60 & echo $!"))
		r := p.run(t)
		if r.Leftover != 1 || r.Exit != (record.Exit{}) {
			t.Errorf("got leftover %d, %+v", r.Leftover, r.Exit)
		}
		gone(t, p.kept(t, r.Stdout))
	})
	t.Run("in a session of its own", func(t *testing.T) {
		p := newProject(t, manifest.EntryPoint{Command: []string{self, "helper", "daemon"}})
		begun := time.Now()
		r := p.run(t)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("took %v: held up by the open output", took)
		}
		if r.Leftover != 1 || r.Exit != (record.Exit{}) {
			t.Errorf("got leftover %d, %+v", r.Leftover, r.Exit)
		}
		gone(t, strings.TrimPrefix(p.kept(t, r.Stdout), "daemon "))
	})
	t.Run("a tree after a timeout", func(t *testing.T) {
		e := script("setsid sh -c 'echo $$ >a; setsid sh -c \"echo \\$\\$ >b; sleep 60\" & sleep 60' & sleep 60")
		e.Timeout = 300 * time.Millisecond
		if _, err := exec.LookPath("setsid"); err != nil {
			t.Skip("needs setsid:", err)
		}
		p := newProject(t, e)
		if r := p.run(t); !r.Exit.TimedOut {
			t.Errorf("got %+v", r.Exit)
		}
		for _, name := range []string{"a", "b"} {
			number, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			gone(t, string(number))
		}
	})
}

// Children of the caller are none of ours: one that was there before, and one
// that begins during the run.
func TestOtherChildrenLive(t *testing.T) {
	var sleepers []*exec.Cmd
	sleeper := func(setsid bool) {
		cmd := exec.Command("sleep", "60")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid, Setpgid: !setsid}
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		sleepers = append(sleepers, cmd)
	}
	sleeper(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(100 * time.Millisecond)
		sleeper(false)
	}()
	r := newProject(t, script("sleep 0.4; sleep 60 &")).run(t)
	<-done
	if r.Leftover != 1 {
		t.Errorf("got leftover %d", r.Leftover)
	}
	for i, s := range sleepers {
		if err := s.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("child %d of the caller: %v", i, err)
		}
		_ = s.Process.Kill()
		_ = s.Wait()
	}
	if children, err := childProcesses(); err != nil || len(children) > 0 {
		t.Errorf("left: %+v, %v", children, err)
	}
}

func TestInterrupted(t *testing.T) {
	p := newProject(t, script("echo $$; sleep 60"))
	p.EntryPoints[0].Modes = []manifest.Mode{manifest.NativeMode, manifest.PTXMode}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	runs, _ := Run(ctx, p.Manifest, p.options)
	if len(runs) != 2 {
		t.Fatalf("got %+v", runs)
	}
	if r := runs[0]; !r.Exit.Interrupted || r.NotStarted != "" || r.Checks[0].OK {
		t.Errorf("got %+v", r)
	}
	gone(t, p.kept(t, runs[0].Stdout))
	if r := runs[1]; !r.Exit.Interrupted || !strings.Contains(r.NotStarted, "stopped before") {
		t.Errorf("got %+v", r)
	}
}

// When the verification itself is killed it can clean up nothing: the program
// goes with it all the same.
func TestProgramDiesWithUs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	verification := exec.Command(self, "helper", "verify", dir)
	if err := verification.Start(); err != nil {
		t.Fatal(err)
	}
	var number []byte
	eventually(t, "the program to start", func() bool {
		number, err = os.ReadFile(filepath.Join(dir, "number"))
		return err == nil
	})
	if err := verification.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = verification.Wait()
	pid, err := strconv.Atoi(strings.TrimSpace(string(number)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program to end", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		c, _, _ := parseStat(stat)
		return err != nil || c.state == 'Z'
	})
}

// eventually waits until something is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestOutputIsCappedAndStillRead(t *testing.T) {
	e := script("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo FIRST; echo 'PASS  \r'; printf LAST; echo oops >&2")
	e.Expect.Stdout = []manifest.Line{{Text: "PASS"}, {Text: "LAST"}, {Text: "FIR"}, {Text: "oops"}, {Text: "P.*S", Regexp: true}, {Text: "F.", Regexp: true}}
	p := newProject(t, e)
	r := p.run(t)
	if r.Stdout.Size != maxLog || r.Stdout.Dropped != 50000000+1+6+8+4-maxLog {
		t.Errorf("got %+v", r.Stdout)
	}
	if text := p.kept(t, r.Stdout); text != strings.Repeat("x", maxLog) {
		t.Error("the kept part is not the beginning")
	}
	if r.Stderr.Dropped != 0 || p.kept(t, r.Stderr) != "oops\n" {
		t.Errorf("got %+v", r.Stderr)
	}
	want := []record.Check{
		{What: "exit code", Want: "0", Got: "0", OK: true},
		{What: "stdout line", Want: "PASS", Got: "printed", OK: true},
		{What: "stdout line", Want: "LAST", Got: "printed", OK: true},
		{What: "stdout line", Want: "FIR", Got: "not printed"}, // a whole line is asked for
		{What: "stdout line", Want: "oops", Got: "not printed"},
		{What: "stdout line matching", Want: "P.*S", Got: "printed", OK: true},
		{What: "stdout line matching", Want: "F.", Got: "not printed"},
	}
	if diff := cmp.Diff(want, r.Checks); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNothingPrinted(t *testing.T) {
	p := newProject(t, script("exit 0"))
	r := p.run(t)
	if r.Stdout != (record.Log{}) || r.Stderr != (record.Log{}) || r.DriverLog != (record.Log{}) || r.DriverErrors != nil {
		t.Errorf("got %+v", r)
	}
}

func TestStreamLines(t *testing.T) {
	long := strings.Repeat("y", maxLine)
	s := newStream(filepath.Join(t.TempDir(), "out"), []manifest.Line{{Text: "a"}, {Text: "b"}, {Text: long}, {Text: long + "y"}, {Text: "tail"}})
	for _, part := range []string{"a", "\nx", "b\n", "", "b \t\r", "\n" + long[:9], long[9:] + "\n", long + "y\n", "tail"} {
		if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	var got []bool
	for _, c := range s.checks() {
		got = append(got, c.OK)
	}
	if want := []bool{true, true, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFiles(t *testing.T) {
	tests := []struct {
		name, script string
		want         string
		ok           bool
	}{
		{"equal", "printf 1234 >out", "written and equal", true},
		{"same content again", "cp golden out", "written and equal", true},
		{"replaced", "printf 1234 >new; mv new out", "written and equal", true},
		{"left from before", "true", "not written by this run: left from before", false},
		{"removed", "rm out", "missing", false},
		{"differs", "printf 1294 >out", "differs at byte 2 (0x2): found 0x39, expected 0x33", false},
		{"short", "printf 12 >out", "2 bytes, expected 4; equal up to byte 2", false},
		{"long", "printf 12345 >out", "5 bytes, expected 4; equal up to byte 4", false},
		{"golden rewritten", "printf 99 >out; cp out golden", "the run changed golden itself", false},
		{"folder", "rm out; mkdir out", "not a regular file", false},
		{"fifo", "rm out; mkfifo out", "not a regular file", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := script(tt.script)
			e.Expect.Files = map[string]manifest.Golden{"out": {Path: "golden"}}
			p := newProject(t, e)
			p.write(t, "out", "1234")
			p.write(t, "golden", "1234")
			checks := p.run(t).Checks
			if len(checks) != 2 {
				t.Fatalf("got %+v, want the exit code's and the file's", checks)
			}
			c := checks[1]
			if c.What != "file out" || !strings.HasSuffix(c.Got, tt.want) || c.OK != tt.ok {
				t.Errorf("got %+v, want %q", c, tt.want)
			}
		})
	}
}

func TestTolerance(t *testing.T) {
	for _, tt := range []struct {
		name, printed string
		tolerance     manifest.Tolerance
		want          string
		ok            bool
	}{
		{"within", "sum 1.0001", manifest.Tolerance{Rtol: 1e-3}, "written and equal", true},
		{"not within", "sum 1.1", manifest.Tolerance{Rtol: 1e-3}, `word 2, line 1: found "1.1", expected "1.0"`, false},
		{"NaN", "sum nan", manifest.Tolerance{EqualNaN: true}, `found "nan", expected "1.0"`, false},
	} {
		e := script("echo '" + tt.printed + "' >out")
		tt.tolerance.Tolerant = true
		golden := manifest.Golden{Path: "golden", Tolerance: tt.tolerance}
		e.Expect.Files = map[string]manifest.Golden{"out": golden}
		p := newProject(t, e)
		p.write(t, "golden", "sum 1.0\n")
		c := p.run(t).Checks[1]
		if c.Want != golden.Wanted() || !strings.HasSuffix(c.Got, tt.want) || c.OK != tt.ok {
			t.Errorf("%s: got %+v, want %q", tt.name, c, tt.want)
		}
	}
}

func TestOutputsOfSeveralModes(t *testing.T) {
	// The ptx mode leaves the native mode's file as it is.
	e := script(`test "$CUDA_FORCE_PTX_JIT" || printf 7 >out.bin`)
	e.Modes = []manifest.Mode{manifest.NativeMode, manifest.PTXMode, manifest.AsShippedMode}
	e.Expect.SameAcrossModes = []manifest.Output{{Path: "out.bin"}}
	p := newProject(t, e)
	runs, _ := Run(t.Context(), p.Manifest, p.options)
	sum := sha256.Sum256([]byte("7"))
	file := []record.File{{Path: "out.bin", SHA256: hex.EncodeToString(sum[:]), Size: 1}}
	for i, want := range [][]record.File{file, nil, file} {
		r := runs[i]
		if diff := cmp.Diff(want, r.Outputs); diff != "" {
			t.Errorf("%s: -want +got:\n%s", r.ID, diff)
		}
		if c := r.Checks[1]; c.What != "output out.bin" || c.OK != (want != nil) {
			t.Errorf("%s: got %+v", r.ID, c)
		}
	}
}

// TestOutputsWithinTolerance compares each mode's output with that of the first mode
// that passed, and leaves nothing behind.
func TestOutputsWithinTolerance(t *testing.T) {
	e := script(`case $CUDA_DISABLE_PTX_JIT$CUDA_CACHE_DISABLE in ?) echo 1.0;; *) echo 1.1;; esac >out; test "$CUDA_FORCE_PTX_JIT" && echo 1.0001 >out; true`)
	e.Modes = manifest.AllModes
	e.Expect.SameAcrossModes = []manifest.Output{{Path: "out", Tolerance: manifest.Tolerance{Tolerant: true, Rtol: 1e-3}}}
	p := newProject(t, e)
	runs, _ := Run(t.Context(), p.Manifest, p.options)
	const want = "the same within rtol 0.001, atol 0"
	for i, want := range [][]record.Comparison{
		nil,
		{{Output: "out", With: "native", Want: want, Got: "the same", OK: true}},
		{{Output: "out", With: "native", Want: want, Got: `word 1, line 1: found "1.1", expected "1.0"`}},
	} {
		if diff := cmp.Diff(want, runs[i].Comparisons); diff != "" {
			t.Errorf("%s: -want +got:\n%s", runs[i].ID, diff)
		}
	}
	if left, err := filepath.Glob(filepath.Join(p.options.BundleDir, "outputs-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestDevices has which devices a run is given of two.
func TestDevices(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b")
	for _, tt := range []struct {
		change func(*manifest.EntryPoint)
		ids    []string
		first  string // CUDA_VISIBLE_DEVICES of the first run
	}{
		{func(*manifest.EntryPoint) {}, []string{"f32/native/GPU-a", "f32/native/GPU-b"}, "GPU-a"},
		{func(e *manifest.EntryPoint) { e.Devices.Kind = manifest.AllDevices }, []string{"f32/native/GPU-a/GPU-b"}, "GPU-a,GPU-b"},
		{func(e *manifest.EntryPoint) { e.Devices = manifest.DeviceUse{Kind: manifest.CountDevices, Count: 1} }, []string{"f32/native/GPU-a"}, "GPU-a"},
		{func(e *manifest.EntryPoint) { e.Devices = manifest.DeviceUse{Kind: manifest.CountDevices, Count: 3} }, nil, ""},
		{func(e *manifest.EntryPoint) { e.NoGPU = "none needed" }, []string{"f32/native"}, "GPU-a,GPU-b"},
	} {
		e := script(`echo "$CUDA_VISIBLE_DEVICES"`)
		tt.change(&e)
		p := newProject(t, e)
		p.options.Devices = []record.Device{{Index: 0, UUID: "GPU-a"}, {Index: 1, UUID: "GPU-b"}}
		runs, _ := Run(t.Context(), p.Manifest, p.options)
		var ids []string
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		if !slices.Equal(ids, tt.ids) {
			t.Errorf("runs %q, want %q", ids, tt.ids)
		}
		if len(runs) > 0 && runs[0].Stdout.Tail != tt.first+"\n" {
			t.Errorf("%s saw %q, want %q", ids[0], runs[0].Stdout.Tail, tt.first)
		}
	}
}

func TestRunsInOrderWithTheirOwnVariables(t *testing.T) {
	t.Setenv("CUDA_FORCE_JIT", "1")
	t.Setenv("CUDA_LOG_FILE", "stderr")
	t.Setenv("LD_DEBUG", "all")
	t.Setenv("CUDA_VISIBLE_DEVICES", "1,0")
	t.Setenv("CUDA_MODULE_LOADING", "EAGER")
	t.Setenv("CUDA_API_KEY", "secret")
	t.Setenv("NVIDIA_API_KEY", "secret")
	t.Setenv("HOME", "/home/someone")
	t.Setenv("LD_LIBRARY_PATH", "/home/someone/lib:/home/someoneelse:/opt")
	e := script("env | grep -E '^(CUDA|LD)_' | sort; find \"$CUDA_CACHE_PATH\" -type f; echo data >\"$CUDA_CACHE_PATH/a\"; mkdir \"$CUDA_CACHE_PATH/d\"; echo data >\"$CUDA_CACHE_PATH/d/b\"; : >\"$CUDA_CACHE_PATH/empty\"")
	e.Modes = []manifest.Mode{manifest.NativeMode, manifest.PTXMode, manifest.AsShippedMode}
	p := newProject(t, e)
	p.options.Devices = []record.Device{{Index: 0, UUID: "GPU-a"}, {Index: 1, UUID: "GPU-b"}}
	var events []stage.Event
	p.options.Observer = func(e stage.Event) { events = append(events, e) }
	runs, seconds := Run(t.Context(), p.Manifest, p.options)
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
		if s, ok := seconds[r.ID]; !ok || s <= 0 {
			t.Errorf("%s: %v seconds", r.ID, s)
		}
		if r.CacheFiles != 2 {
			t.Errorf("%s: %d cache files", r.ID, r.CacheFiles)
		}
		if !slices.Equal(r.Removed, []string{"CUDA_FORCE_JIT", "CUDA_LOG_FILE", "LD_DEBUG"}) {
			t.Errorf("%s: removed %q", r.ID, r.Removed)
		}
	}
	if want := []string{"f32/native/GPU-a", "f32/native/GPU-b", "f32/ptx/GPU-a", "f32/ptx/GPU-b", "f32/as-shipped/GPU-a", "f32/as-shipped/GPU-b"}; !slices.Equal(ids, want) {
		t.Errorf("got %q", ids)
	}
	if len(events) != 6 || events[0] != (stage.Event{Stage: "execute", What: ids[0], Total: 6}) || events[5].Done != 5 {
		t.Errorf("got events %+v", events)
	}
	common := func(folder, uuid string) map[string]string {
		return map[string]string{
			"CUDA_CACHE_PATH": "<bundle>/runs/" + folder + "/cache", "CUDA_LOG_FILE": "<bundle>/runs/" + folder + "/driver.log",
			"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": "<bundle>/runs/" + folder + "/loader/ld",
			"CUDA_VISIBLE_DEVICES": uuid, "CUDA_MODULE_LOADING": "EAGER", "LD_LIBRARY_PATH": "$HOME/lib:/home/someoneelse:/opt",
		}
	}
	native, ptx := common("f32-native-0", "GPU-a"), common("f32-ptx-1", "GPU-b")
	native["CUDA_DISABLE_PTX_JIT"] = "1"
	ptx["CUDA_FORCE_PTX_JIT"], ptx["CUDA_CACHE_DISABLE"] = "1", "1"
	for i, want := range map[int]map[string]string{0: native, 3: ptx, 4: common("f32-as-shipped-0", "GPU-a")} {
		if diff := cmp.Diff(want, runs[i].Environment); diff != "" {
			t.Errorf("%s: -want +got:\n%s", runs[i].ID, diff)
		}
		var seen []string
		for name, value := range want {
			value = strings.ReplaceAll(strings.ReplaceAll(value, "<bundle>", p.options.BundleDir), "$HOME", "/home/someone")
			seen = append(seen, name+"="+value)
		}
		seen = append(seen, "CUDA_API_KEY=secret") // stays with the program, not with the record
		slices.Sort(seen)
		if got := strings.Split(strings.TrimSpace(p.kept(t, runs[i].Stdout)), "\n"); !slices.Equal(got, seen) {
			t.Errorf("%s: the program saw\n%s\nwant\n%s", runs[i].ID, strings.Join(got, "\n"), strings.Join(seen, "\n"))
		}
	}
	left, err := filepath.Glob(filepath.Join(p.options.BundleDir, "runs/*/cache"))
	if err != nil || len(left) > 0 {
		t.Errorf("caches stay: %v, %v", left, err)
	}
}

// With one device the caller's choice stays: it may name a MIG instance.
func TestOneDeviceKeepsTheCallersChoice(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "MIG-1")
	p := newProject(t, script("echo $CUDA_VISIBLE_DEVICES"))
	r := p.run(t)
	if got := p.kept(t, r.Stdout); got != "MIG-1\n" || r.Environment["CUDA_VISIBLE_DEVICES"] != "MIG-1" {
		t.Errorf("got %q, %v", got, r.Environment)
	}
}

func TestCommandIsResolved(t *testing.T) {
	p := newProject(t, manifest.EntryPoint{Command: []string{"build/../p.sh", "a b", "$HOME"}})
	p.write(t, "p.sh", "#!/bin/sh\npwd\nprintf '%s\\n' \"$0\" \"$@\"\n")
	r := p.run(t)
	if !slices.Equal(r.Command, []string{"p.sh", "a b", "$HOME"}) {
		t.Errorf("got %q", r.Command)
	}
	if got, want := p.kept(t, r.Stdout), p.Dir+"\n"+p.Dir+"/p.sh\na b\n$HOME\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r = newProject(t, script("true")).run(t)
	if !filepath.IsAbs(r.Command[0]) || filepath.Base(r.Command[0]) != "sh" {
		t.Errorf("got %q", r.Command)
	}
}

func TestNoDeviceNoRun(t *testing.T) {
	p := newProject(t, script("echo ran >ran"))
	p.options.Devices = nil
	if runs, _ := Run(t.Context(), p.Manifest, p.options); len(runs) != 0 {
		t.Errorf("got %+v", runs)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "ran")); err == nil {
		t.Error("it was run")
	}
}

func TestTwoRunsAtOnce(t *testing.T) {
	type result struct {
		p    project
		runs []record.Run
	}
	results := make(chan result)
	for i := range 2 {
		p := newProject(t, script(fmt.Sprintf("echo run%d; sleep 0.1; sleep 60 &", i)))
		go func() {
			runs, _ := Run(context.Background(), p.Manifest, p.options)
			results <- result{p, runs}
		}()
	}
	var texts []string
	for range 2 {
		r := <-results
		texts = append(texts, r.p.kept(t, r.runs[0].Stdout))
		if r.runs[0].Leftover != 1 {
			t.Errorf("got %+v", r.runs[0])
		}
	}
	slices.Sort(texts)
	if !slices.Equal(texts, []string{"run0\n", "run1\n"}) {
		t.Errorf("got %q", texts)
	}
}

func TestSecondRunInABundleIsRefused(t *testing.T) {
	p := newProject(t, script("true"))
	if r := p.run(t); r.NotStarted != "" {
		t.Fatal(r.NotStarted)
	}
	if r := p.run(t); !strings.Contains(r.NotStarted, "evidence folder") {
		t.Errorf("got %+v", r)
	}
}

// fakeCUDA builds a program that opens libcuda.so.1 when it runs, as the CUDA
// runtime does, a libcuda.so.1 that fakes the driver's, and a library.
func fakeCUDA(t *testing.T, p *project) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs gcc:", err)
	}
	p.write(t, "cuda.c", "#include <dlfcn.h>\nint cuInit(unsigned f) { return !dlopen(\"libnvidia-ptxjitcompiler.so.1\", 2) ? 0 : 0; }")
	p.write(t, "empty.c", "int empty(void) { return 0; }")
	p.write(t, "p.c", "#include <dlfcn.h>\nint ours(void);\nint main(void) { void *h = dlopen(\"libcuda.so.1\", 2); if (!h) return 9; return ((int (*)(unsigned))dlsym(h, \"cuInit\"))(0) + ours(); }")
	p.write(t, "ours.c", "int ours(void) { return 0; }")
	if err := os.MkdirAll(filepath.Join(p.Dir, "driver"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"-shared -fPIC cuda.c -o driver/libcuda.so.1",
		"-shared -fPIC empty.c -o driver/libnvidia-ptxjitcompiler.so.1",
		"-shared -fPIC ours.c -o libours.so -Wl,-soname,libours.so",
		"p.c -o p libours.so -ldl -Wl,-rpath,$ORIGIN",
	} {
		cmd := exec.Command(gcc, strings.Fields(args)...)
		cmd.Dir = p.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gcc %s: %v\n%s", args, err, out)
		}
	}
	if err := os.Link(filepath.Join(p.Dir, "p"), filepath.Join(p.Dir, "twin")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LD_LIBRARY_PATH", filepath.Join(p.Dir, "driver"))
	p.options.Artifacts = []record.Artifact{
		{File: artifact.File{Path: "libours.so"}},
		{File: artifact.File{Path: filepath.Join(p.Dir, "p")}},
		{File: artifact.File{Path: "absent"}},
	}
}

func TestProcesses(t *testing.T) {
	const driver = "driver/libcuda.so.1"
	ours := record.Process{Program: "p", Libcuda: driver, JITCompiler: true}
	tests := []struct {
		name    string
		command []string
		want    []record.Process // the last ones, libraries left out
	}{
		{"program of the project", []string{"./p"}, []record.Process{ours}},
		{"hard link", []string{"./twin"}, []record.Process{{Program: "twin", Libcuda: driver, JITCompiler: true}}},
		{"shell", []string{"sh", "-c", "./p; true"}, []record.Process{ours}},
		{"exec", []string{"env", "./p"}, []record.Process{ours}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, manifest.EntryPoint{Command: tt.command})
			fakeCUDA(t, &p)
			r := p.run(t)
			if r.LoaderProblem != "" || r.Exit != (record.Exit{}) {
				t.Fatalf("got %+v", r)
			}
			tt.want[0].Artifacts = []string{filepath.Join(p.Dir, "p"), "libours.so"}
			got := r.Processes[len(r.Processes)-len(tt.want):]
			for i := range got {
				if !slices.Contains(got[i].Libraries, "libours.so") || !slices.Contains(got[i].Libraries, driver) {
					t.Errorf("got libraries %q", got[i].Libraries)
				}
				got[i].Libraries = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if files, _ := filepath.Glob(filepath.Join(p.options.BundleDir, "runs/f32-native-0/loader/ld.*")); len(files) == 0 {
				t.Error("the loader's files are not kept")
			}
		})
	}
}

// C30: a program that drops the variables is never seen with the driver, and
// neither is one that uses none.
func TestC30VariablesDropped(t *testing.T) {
	for _, command := range [][]string{{"env", "-i", "LD_LIBRARY_PATH=driver", "./p"}, {"true"}} {
		p := newProject(t, manifest.EntryPoint{Command: command})
		fakeCUDA(t, &p)
		r := p.run(t)
		if r.Exit != (record.Exit{}) || !r.Checks[0].OK || len(r.Processes) != 1 {
			t.Fatalf("%q: got %+v", command, r)
		}
		if seen := r.Processes[0]; seen.Libcuda != "" || seen.Artifacts != nil {
			t.Errorf("%q: got %+v", command, seen)
		}
	}
}

func TestStaticProgramLeavesNoRecord(t *testing.T) {
	p := newProject(t, manifest.EntryPoint{Command: []string{"./s"}})
	p.write(t, "s.c", "int main(void) { return 0; }")
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs gcc:", err)
	}
	cmd := exec.Command(gcc, "-static", "s.c", "-o", "s")
	cmd.Dir = p.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs a static libc: %s", bytes.TrimSpace(out))
	}
	if r := p.run(t); !strings.Contains(r.LoaderProblem, "statically linked") || r.Processes != nil {
		t.Errorf("got %+v", r)
	}
}
