// Package shim runs one command in a process of its own, which outlives the agent that
// started it: it keeps the output, holds the time limit, ends all that descends from the
// command, and writes down how it ended.
package shim

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/journal"
)

// Marker is the variable that holds the command's id in the environment of everything it
// starts, by which leftovers are found where the shim was killed.
const Marker = "HARVEST_COMMAND_ID"

// Verb is the argument that makes the binary a shim.
const Verb = "shim"

// Spec is what a shim is told on its standard input. It is never written to a disk.
type Spec struct {
	ID      string
	Path    string // of the command's files, see journal.Record.Path
	Shell   string // the path of bash
	Command string
	Env     []string // "NAME=value", the whole environment
	Folder  string   // to run in
	Timeout time.Duration
}

// The descriptors that a shim is started with, beside its standard ones.
const (
	recordFD = 3 // the record, with its lock
	noticeFD = 4 // a pipe: a byte says that the ending is in the record
)

const (
	pipeSize = 256 << 10 // bytes, of the pipes that a command writes to
	maxPipe  = 1 << 20   // the largest that the system lets anybody make of them
)

// inherited gives a descriptor that the agent has handed on, and keeps it from the command.
func inherited(fd int, kind uint32) (*os.File, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT != kind {
		return nil, errors.New("this verb is for harvest-agent itself")
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "inherited"), nil
}

// The patience of a shim.
const (
	settleFor = 200 * time.Millisecond // what a command leaves behind may end by itself
	sweepFor  = time.Second            // then it is asked to, and may take so long
	graceFor  = 3 * time.Second        // likewise at a time limit or a cancel
	drainFor  = 200 * time.Millisecond // for an output that a process of others holds open
)

// canceled reports whether the agent asks for an end.
func canceled(record *journal.Record) bool {
	wish, err := record.Wish()
	return err == nil && wish.Cancel
}
