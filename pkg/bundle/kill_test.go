package bundle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// writerDir tells a copy of this test to write bundles there until it is killed.
const writerDir = "BUNDLE_TEST_WRITER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		os.Exit(writeForever(dir))
	}
	os.Exit(m.Run())
}

func writeForever(dir string) int {
	text := strings.Repeat("line of output\n", 10_000)
	r := sample(text)
	r.Builds = []record.Build{{Commands: []record.Command{{Output: text}}}}
	for {
		w, err := Begin(dir)
		if err != nil {
			return 1
		}
		log := filepath.Join(w.Dir(), filepath.FromSlash(r.Runs[0].Stdout.File))
		if os.MkdirAll(filepath.Dir(log), 0o755) != nil || os.WriteFile(log, []byte(text), 0o644) != nil {
			return 1
		}
		if _, err := w.Commit(r); err != nil {
			return 1
		}
	}
}

// A run that is killed at any moment leaves whole bundles only, and what it was
// writing is removed by the next run.
func TestKilled(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	before := 0
	for n := range 15 {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), writerDir+"="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			if now := len(names(t, dir)); now > before || time.Now().After(deadline) {
				break // it has begun
			}
		}
		time.Sleep(time.Duration(n) * 1700 * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		before = len(names(t, dir))
	}
	w, err := Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	bundles := checkAll(t, dir)
	if left := len(names(t, dir)); bundles == 0 || left != bundles {
		t.Errorf("%d bundles among %d entries, want at least one and nothing else", bundles, left)
	}
}
