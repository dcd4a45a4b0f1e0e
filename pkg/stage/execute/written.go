package execute

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/cudaproof/cudaproof/pkg/record"
)

// stamp tells one state of a file from another.
type stamp struct {
	exists       bool
	device, node uint64
	size         int64
	modified     syscall.Timespec
	changed      syscall.Timespec
}

// stampOf gives the stamp of what path leads to; a file that cannot be looked
// at does not exist.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	st := info.Sys().(*syscall.Stat_t)
	return stamp{true, uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}
}

// clockTick is more than the step of the kernel's clock for time stamps, 10 ms
// at the most (CONFIG_HZ of 100).
const clockTick = 20 * time.Millisecond

// settle waits until a file that changes from now on gets another stamp.
func (s stamp) settle() {
	if age := time.Since(time.Unix(s.changed.Unix())); s.exists && age >= 0 && age < clockTick {
		time.Sleep(clockTick - age)
	}
}

// hashFile hashes a regular file.
func hashFile(path string) (record.File, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return record.File{}, err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	return record.File{SHA256: hex.EncodeToString(h.Sum(nil)), Size: size}, err
}

// openRegular opens a regular file. A FIFO in its place cannot hold us, since
// nothing here blocks.
func openRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
