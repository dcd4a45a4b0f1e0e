package execute

import (
	"os"
	"syscall"
	"time"
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
