package filemap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"", "x", strings.Repeat("content", 10000)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := OpenRegular(path, os.O_RDONLY)
		if err != nil {
			t.Fatal(err)
		}
		got := "not called"
		if err := Do(f, func(b []byte) error { got = string(b); return nil }); err != nil || got != content {
			t.Errorf("%d bytes for %d, %v", len(got), len(content), err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCutOff cuts a file while it is mapped: an error, and not the end of the
// program.
func TestCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := 0
	err = Do(f, func(b []byte) error {
		if err := os.Truncate(path, 4096); err != nil {
			return err
		}
		for _, c := range b {
			sum += int(c)
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "was it changed meanwhile?") {
		t.Errorf("error %v", err)
	}
}

func TestOpenRegular(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, filepath.Dir(pipe), "/dev/null"} {
		var at *fs.PathError
		if _, err := OpenRegular(path, os.O_RDONLY); !errors.As(err, &at) || at.Err != ErrNotRegular {
			t.Errorf("%s: error %v", path, err)
		}
	}
}
