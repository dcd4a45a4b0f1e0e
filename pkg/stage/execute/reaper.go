package execute

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reaper ends what a program leaves behind. While it stands, orphans among our
// descendants become our children instead of init's (prctl(2),
// PR_SET_CHILD_SUBREAPER).
type reaper struct {
	before  map[int]bool // children that were there first
	session int
	was     int32
}

func becomeReaper() (*reaper, error) {
	children, err := childProcesses()
	if err != nil {
		return nil, fmt.Errorf("processes cannot be listed, so none could be cleaned up: %v", err)
	}
	r := &reaper{before: map[int]bool{}}
	for _, c := range children {
		r.before[c.pid] = true
	}
	if r.session, err = unix.Getsid(0); err != nil {
		return nil, err
	}
	// The kernel writes into r, which is on the heap and so does not move.
	if err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&r.was)), 0, 0, 0); err != nil {
		return nil, err
	}
	return r, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// resign puts back what was before. The call cannot fail with a value that the
// kernel gave.
func (r *reaper) resign() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, uintptr(r.was), 0, 0, 0)
}

// killLeftover kills and reaps the new children that are in another session,
// until there are none: each that dies may bring its own children to us. It
// returns how many were alive, with those that belong to another user or do
// not die in time, which stay.
func (r *reaper) killLeftover() int {
	alive, foreign := map[int]bool{}, map[int]bool{}
	deadline := time.Now().Add(killGrace)
	for pause := time.Millisecond; time.Now().Before(deadline); pause = min(2*pause, 100*time.Millisecond) {
		left := r.leftover(foreign)
		if len(left) == 0 {
			break
		}
		for _, c := range left {
			if c.state != 'Z' {
				alive[c.pid] = true
				foreign[c.pid] = syscall.Kill(c.pid, syscall.SIGKILL) == syscall.EPERM
			}
			// Where it is not dead yet, the next round reaps it.
			_, _ = syscall.Wait4(c.pid, nil, syscall.WNOHANG, nil)
		}
		time.Sleep(pause)
	}
	return len(alive)
}

func (r *reaper) leftover(foreign map[int]bool) []child {
	children, err := childProcesses()
	if err != nil {
		return nil // /proc was there a moment ago, in becomeReaper
	}
	return slices.DeleteFunc(children, func(c child) bool {
		return r.before[c.pid] || foreign[c.pid] || c.session == r.session
	})
}

// child is a child of this process.
type child struct {
	pid, session int
	state        byte // 'Z' for one that has ended
}

// childProcesses lists the children of this process.
func childProcesses() ([]child, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var children []child
	self := os.Getpid()
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		if c, parent, ok := parseStat(stat); ok && parent == self {
			c.pid = pid
			children = append(children, c)
		}
	}
	return children, nil
}

// parseStat reads "PID (NAME) STATE PPID PGRP SESSION ..." (proc(5)); NAME may
// hold anything.
func parseStat(stat []byte) (c child, parent int, ok bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return c, 0, false
	}
	n, err := fmt.Sscanf(string(stat[end+1:]), " %c %d %d %d", &c.state, &parent, new(int), &c.session)
	return c, parent, n == 4 && err == nil
}
