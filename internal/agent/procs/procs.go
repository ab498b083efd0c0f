// Package procs finds processes by /proc, and ends those that a command has left: all
// descendants, whatever session or process group they moved to.
package procs

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Process is a process as /proc shows it.
type Process struct {
	PID     int
	Parent  int
	Session int
	State   byte   // as in /proc/PID/stat: R, S, D, T, Z …
	Started uint64 // clock ticks after the boot; together with PID it names a process
}

// Alive reports whether the process still runs code: a zombie only waits for its parent.
func (p Process) Alive() bool { return p.State != 'Z' && p.State != 'X' }

// List gives all processes that can be seen. Those that end meanwhile are left out.
func List() ([]Process, error) {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	found := make([]Process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := Find(pid); ok {
			found = append(found, p)
		}
	}
	return found, nil
}

// Find looks at one process.
func Find(pid int) (Process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	// The name stands in parentheses and may hold anything, closing ones too.
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return Process{}, false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 20 {
		return Process{}, false
	}
	p := Process{PID: pid, State: fields[0][0]}
	p.Parent, _ = strconv.Atoi(fields[1])
	p.Session, _ = strconv.Atoi(fields[3])
	p.Started, _ = strconv.ParseUint(fields[19], 10, 64)
	return p, true
}

// Below gives those of all that descend from one of roots, without the roots.
func Below(all []Process, roots ...int) []Process {
	children := make(map[int][]Process, len(all))
	for _, p := range all {
		children[p.Parent] = append(children[p.Parent], p)
	}
	seen := make(map[int]bool, len(roots))
	queue := make([]int, 0, len(roots))
	for _, root := range roots {
		seen[root] = true
		queue = append(queue, root)
	}
	var below []Process
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, child := range children[next] {
			if !seen[child.PID] {
				seen[child.PID] = true
				below = append(below, child)
				queue = append(queue, child.PID)
			}
		}
	}
	return below
}

// Marked gives those of all whose environment, as it was when they were started, holds the
// variable: "NAME=value".
func Marked(all []Process, variable string) []Process {
	var marked []Process
	for _, p := range all {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/environ")
		if err != nil {
			continue
		}
		for entry := range bytes.SplitSeq(text, []byte{0}) {
			if string(entry) == variable {
				marked = append(marked, p)
				break
			}
		}
	}
	return marked
}

// Adopt makes the calling process the parent of all of its descendants whose own parents
// have ended, as init is otherwise.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
