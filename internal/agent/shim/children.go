package shim

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/procs"
)

// exit is the end of the command's first process.
type exit struct {
	status syscall.WaitStatus
	left   bool // descendants of it are still there
}

// children reaps all descendants of this process: the command, and what it left orphaned.
type children struct {
	exit chan exit
	gone chan struct{} // closed when none is left
}

func adopt(first int) *children {
	c := &children{exit: make(chan exit, 1), gone: make(chan struct{})}
	go c.reap(first)
	return c
}

func (c *children) reap(first int) {
	defer close(c.gone)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return // there is none
		case pid == first:
			c.exit <- exit{status, left()}
		}
	}
}

// left reaps what has ended and reports whether anything has not.
func left() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return false
		case pid == 0:
			return true
		}
	}
}

// within waits for the end of all, but not longer than d, and reports whether it came.
func (c *children) within(d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-c.gone:
		return true
	case <-limit.C:
		return false
	}
}

// find gives the descendants of this process.
func (c *children) find() []procs.Process {
	all, err := procs.List()
	if err != nil {
		return nil
	}
	return procs.Below(all, os.Getpid())
}
