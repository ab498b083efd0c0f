package agent

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/procs"
	"github.com/harvest-engine/harvest/internal/agent/shim"
	"github.com/harvest-engine/harvest/internal/agent/uplink"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// unbegun reports whether a command, whose shim is gone without a word, certainly never ran.
// Boot names the run of the machine in which it came: what another one wrote last may be lost.
func (c *command) unbegun(boot string) bool {
	state, err := c.record.State()
	wish, wishErr := c.record.Wish()
	return err == nil && wishErr == nil && !state.Begun && !wish.Cancel && boot != "" && boot == c.agent.journal.Boot()
}

// anew forgets a command that an earlier agent was about to start when it was killed. It runs
// when it is delivered again, which it may have been by now.
func (c *command) anew(ctx context.Context) {
	c.agent.mu.Lock()
	delete(c.agent.commands, c.id)
	c.record.Discard()
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	c.agent.mu.Unlock()
	if last != nil {
		c.agent.execute(ctx, *last)
	}
}

// settle decides how a command ended whose shim is gone without a word, and ends what it
// left. Boot names the run of the machine in which it came.
func (c *command) settle(boot string) journal.Ending {
	left := procs.End(func() []procs.Process { return leftovers(c.id) }, 0)
	reap()
	state, err := c.record.State()
	wish, _ := c.record.Wish()
	rebooted := boot == "" || boot != c.agent.journal.Boot()
	ending := journal.Ending{Outcome: agentwire.Unknown, Written: state.Written, Swept: left.Ended}
	switch {
	case rebooted:
		ending.Error = "the machine was stopped while it ran, or before it began"
	case err == nil && !state.Begun && wish.Cancel:
		ending.Outcome, ending.Error = agentwire.Canceled, "it was canceled before it began"
	case err == nil && !state.Begun:
		ending.Outcome, ending.Error = agentwire.NotStarted, "the process that was to watch over it was killed before it began"
	default:
		ending.Error = "the process that watches over it was killed; it was ended too, if it still ran"
	}
	if left.Left > 0 {
		ending.Error += fmt.Sprintf("; %d of its processes could not be ended", left.Left)
	}
	if err := c.record.SetEnding(ending); err != nil {
		c.agent.cfg.Log.Error("an ending is not journaled", "command", c.id, "error", err)
	}
	_ = c.record.Sync() // where the machine stops now, this is decided again, and alike
	return ending
}

// leftovers gives what a command left whose shim is gone: what has its id in its environment,
// what this process inherited, and all that descends from these.
func leftovers(id string) []procs.Process {
	all, err := procs.List()
	if err != nil {
		return nil
	}
	left := append(procs.Marked(all, shim.Marker+"="+id), strays(all)...)
	roots := make([]int, 0, len(left))
	for _, p := range left {
		roots = append(roots, p.PID)
	}
	return append(left, procs.Below(all, roots...)...)
}

// strays gives the children of this process that are none of its shims. It adopts what loses
// its parent, and shims adopt themselves, so these are of shims that were killed. Where it is
// the first process of a container, that inherits from everybody, they may be anybody's.
func strays(all []procs.Process) []procs.Process {
	own, err := os.Stat("/proc/self/exe")
	if err != nil || os.Getpid() == 1 {
		return nil
	}
	var strays []procs.Process
	for _, p := range all {
		if p.Parent != os.Getpid() || !p.Alive() {
			continue
		}
		exe, err := os.Stat("/proc/" + strconv.Itoa(p.PID) + "/exe")
		if err == nil && !os.SameFile(own, exe) {
			strays = append(strays, p)
		}
	}
	return strays
}

// reap takes the ends of children that nobody waits for. Shims have who waits for them; to
// come before that does no harm, since what they have to say stands in their records.
func reap() {
	all, err := procs.List()
	if err != nil {
		return
	}
	for _, p := range all {
		if p.Parent == os.Getpid() && !p.Alive() {
			_, _ = syscall.Wait4(p.PID, nil, syscall.WNOHANG, nil)
		}
	}
}

// reaping takes the ends of strays that ended by themselves.
func (a *Agent) reaping(ctx context.Context) {
	for uplink.Sleep(ctx, a.cfg.PingEvery) {
		reap()
	}
}
