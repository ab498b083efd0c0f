package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of the times in /proc: the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// meter reads the CPU time of all that takes part in a measurement. Unlike the time on the
// wall it is not stretched by what else a machine does.
type meter struct {
	postgres int // the server's process id; 0: its time is not measured
}

// newMeter builds a meter that counts the server as well, where the kernel tells its time.
func newMeter(postgres int) meter {
	if runtime.GOOS != "linux" {
		postgres = 0
	}
	return meter{postgres}
}

// covers says whose time the meter reads.
func (m meter) covers() string {
	if m.postgres == 0 {
		return "CPU of the process and git"
	}
	return "CPU of the process, git and PostgreSQL"
}

// measure gives the CPU time that do takes.
func (m meter) measure(do func() error) (time.Duration, error) {
	before, err := m.now()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := m.now()
	return after - before, err
}

func (m meter) now() (time.Duration, error) {
	sum, err := ownCPU()
	if err != nil || m.postgres == 0 {
		return sum, err
	}
	server, err := treeCPU(m.postgres)
	return sum + server, err
}

// shares is CPU time in milliseconds, by whose it is.
type shares map[string]float64

// cpuShares gives the CPU time that this process and each of the servers have taken; nothing
// where the kernel does not tell that of the servers.
func (b *bench) cpuShares() (shares, error) {
	if runtime.GOOS != "linux" {
		return shares{}, nil
	}
	own, err := ownCPU()
	if err != nil {
		return nil, err
	}
	found := shares{"this process": milliseconds(own)}
	for name, pid := range b.servers.PIDs() {
		took, err := treeCPU(pid)
		if err != nil {
			return nil, err
		}
		found[name] = milliseconds(took)
	}
	return found, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (s shares) since(before shares) shares {
	grown := shares{}
	for name, took := range s {
		grown[name] = took - before[name]
	}
	return grown
}

// add adds what was taken besides.
func (s shares) add(more shares) {
	for name, took := range more {
		s[name] += took
	}
}

// each gives the share of one of n.
func (s shares) each(n int) shares {
	one := shares{}
	for name, took := range s {
		one[name] = took / float64(n)
	}
	return one
}

func (s shares) sum() (sum float64) {
	for _, took := range s {
		sum += took
	}
	return sum
}

func (s shares) String() string {
	text := ""
	for i, name := range slices.Sorted(maps.Keys(s)) {
		if i > 0 {
			text += ", "
		}
		text += name + " " + number(s[name])
	}
	return text
}

// ownCPU is the time of this process and of those children of it that have ended.
func ownCPU() (time.Duration, error) {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			return 0, fmt.Errorf("read the CPU time: %w", err)
		}
		sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return sum, nil
}

// treeCPU is the time of a process and of its children, those that have ended included.
func treeCPU(root int) (time.Duration, error) {
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	seen := false
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended: its parent has its time
		}
		p, err := parseStat(string(text))
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", path, err)
		}
		switch root {
		case p.pid:
			seen = true
			sum += p.own + p.children
		case p.parent:
			sum += p.own + p.children
		}
	}
	if !seen {
		return 0, fmt.Errorf("process %d is gone", root)
	}
	return sum, nil
}

// processTimes is what the kernel tells of a process.
type processTimes struct {
	pid, parent   int
	own, children time.Duration // children: those that have ended
}

// parseStat reads a line of /proc/PID/stat, as proc(5) describes it. The name in it may hold
// anything, so the fields are counted from its closing bracket.
func parseStat(line string) (p processTimes, err error) {
	open, end := strings.IndexByte(line, ' '), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return p, fmt.Errorf("odd line %q", line)
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < 15 {
		return p, fmt.Errorf("only %d fields in %q", len(fields), line)
	}
	var numbers [6]int
	for i, text := range []string{line[:open], fields[1], fields[11], fields[12], fields[13], fields[14]} {
		if numbers[i], err = strconv.Atoi(text); err != nil {
			return p, fmt.Errorf("odd field in %q: %w", line, err)
		}
	}
	return processTimes{
		pid: numbers[0], parent: numbers[1],
		own: time.Duration(numbers[2]+numbers[3]) * tick, children: time.Duration(numbers[4]+numbers[5]) * tick,
	}, nil
}
