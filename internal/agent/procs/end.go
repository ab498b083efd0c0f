package procs

import (
	"time"

	"golang.org/x/sys/unix"
)

// The waits of an end.
const (
	lookAgain = 5 * time.Millisecond   // between two looks at what is left, at first
	lookMost  = 100 * time.Millisecond // later
	giveUp    = 10 * time.Second       // after SIGKILL: the kernel holds what is left then
)

// Ending says what became of the processes that End was to end.
type Ending struct {
	Ended int // distinct processes that were alive when they were found
	Left  int // those that could not be ended: another user's, or held by the kernel
}

// End ends all processes that find gives, until it gives none that is alive. They get
// SIGTERM first, and SIGKILL after grace; 0 leaves SIGTERM out. Before they are killed all
// are stopped, so that none makes new ones meanwhile.
func End(find func() []Process, grace time.Duration) Ending {
	e := ender{find: find, seen: map[identity]bool{}, stopped: map[identity]bool{}}
	if grace > 0 && e.ask(grace) {
		return Ending{Ended: len(e.seen)}
	}
	deadline := time.Now().Add(giveUp)
	for wait := lookAgain; ; wait = min(2*wait, lookMost) {
		left := e.stop()
		if len(left) == 0 {
			return Ending{Ended: len(e.seen)}
		}
		if time.Now().After(deadline) {
			return Ending{Ended: len(e.seen) - len(left), Left: len(left)}
		}
		signal(left, unix.SIGKILL)
		time.Sleep(wait)
	}
}

type identity struct {
	pid     int
	started uint64
}

func (p Process) identity() identity { return identity{p.PID, p.Started} }

type ender struct {
	find    func() []Process
	seen    map[identity]bool
	stopped map[identity]bool
}

func (e *ender) alive() []Process {
	var alive []Process
	for _, p := range e.find() {
		if p.Alive() {
			e.seen[p.identity()] = true
			alive = append(alive, p)
		}
	}
	return alive
}

// ask asks all to end, and reports whether they did.
func (e *ender) ask(grace time.Duration) bool {
	deadline := time.Now().Add(grace)
	asked := map[identity]bool{}
	for wait := lookAgain; ; wait = min(2*wait, lookMost) {
		alive := e.alive()
		if len(alive) == 0 {
			return true
		}
		for _, p := range alive {
			if !asked[p.identity()] {
				asked[p.identity()] = true
				signal([]Process{p}, unix.SIGTERM, unix.SIGCONT)
			}
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(wait)
	}
}

// stop stops all that are found, until a look finds nothing new, and gives them. Only so
// many looks are taken: what forks faster than that is killed as it is, and again.
func (e *ender) stop() []Process {
	const looks = 20
	var alive []Process
	for range looks {
		alive = e.alive()
		again := false
		for _, p := range alive {
			if !e.stopped[p.identity()] {
				e.stopped[p.identity()], again = true, true
				signal([]Process{p}, unix.SIGSTOP)
			}
		}
		if !again {
			break
		}
	}
	return alive
}

// signal sends signals to processes. A pid can only be another process's by now where its
// parent has reaped it since the look a moment ago, and the system has gone through all
// other pids.
func signal(to []Process, signals ...unix.Signal) {
	for _, p := range to {
		for _, s := range signals {
			_ = unix.Kill(p.PID, s) // gone, or another user's: the next look tells
		}
	}
}
