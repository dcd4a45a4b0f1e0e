package verify

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockProject keeps two targets from building and running in the same folder at
// once: they would share build outputs and the files that entry points write.
// It waits for its turn. The lock goes with the process, however it ends.
func lockProject(ctx context.Context, dir string, waiting func()) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	told := false
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, err
		}
		if !told {
			told = true
			waiting()
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
