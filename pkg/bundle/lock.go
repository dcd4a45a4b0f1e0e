package bundle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked by another run")

// lockFolder locks a folder until the file it gives is closed or the process
// ends, however it ends. The lock is on the folder itself, so that it moves
// with it and leaves nothing behind. Where the file system cannot lock, the
// folder is simply not locked: removeDead cannot lock it either there, and
// leaves it alone.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if errors.Is(flock(f), unix.EWOULDBLOCK) {
		f.Close()
		return nil, errLocked
	}
	return f, nil
}

// removeDead removes unfinished bundles whose lock nobody holds.
func removeDead(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), tempPrefix) {
			removeIfDead(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// removeIfDead never fails: a folder that cannot be removed is in nobody's way.
// If its owner commits meanwhile, the name is gone and nothing is removed.
func removeIfDead(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f) == nil {
		_ = os.RemoveAll(path)
	}
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
