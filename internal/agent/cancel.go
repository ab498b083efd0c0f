package agent

import (
	"context"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/shim"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

const (
	stopAgain = time.Second      // between two signals to a shim
	endFor    = 20 * time.Second // for all commands, where the agent is removed
)

// cancel ends a command. One that never came is over too, for good: the server has claimed it
// for this agent, and waits to be told.
func (a *Agent) cancel(m agentwire.Message) {
	id := m.RequestID
	if id == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, known := a.commands[id]; known {
		c.cancel()
		return
	}
	if ending, known := a.journal.Buried(id); known {
		a.outbox.remind(id, ending)
		return
	}
	c := newCommand(a, id)
	a.commands[id] = c
	if m.Begun {
		c.end(unrecorded())
		return
	}
	c.end(journal.Ending{Outcome: agentwire.Canceled, Error: "it was canceled before it came to this machine"})
}

// unrecorded is the end of a command of which the server knows more than this machine.
func unrecorded() journal.Ending {
	return journal.Ending{Outcome: agentwire.Unknown, Error: "it began, but this machine has no record of it: its disk was copied or set back since"}
}

// stopWhenCanceled makes the shim end the command when the server wants it: the wish stands
// in the record, and signals make the shim look, until it has told how the command ended.
func (c *command) stopWhenCanceled(ctx context.Context, process *shim.Process, over <-chan struct{}) {
	select {
	case <-ctx.Done():
		return
	case <-over:
		return
	case <-c.canceled:
	}
	if err := c.currentRecord().SetWish(journal.Wish{Cancel: true}); err != nil {
		c.agent.cfg.Log.Error("a cancel can't be written", "command", c.id, "error", err)
	}
	for {
		process.Stop()
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-time.After(stopAgain):
		}
	}
}

// endAll ends all commands, whoever's shims have them, once nothing else works on them.
func (a *Agent) endAll() {
	for _, c := range a.commands {
		if c.record != nil {
			_ = c.record.Close() // and with it this process's part in the lock
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), endFor)
	defer cancel()
	entries, err := a.journal.Entries()
	if err != nil {
		a.cfg.Log.Error("commands may go on running", "error", err)
	}
	for _, entry := range entries {
		if entry.Held {
			_ = entry.Record.SetWish(journal.Wish{Cancel: true})
			a.work.Go(func() { endOne(ctx, shim.Find(ctx, entry.Record)) })
		}
	}
	a.work.Wait()
}

func endOne(ctx context.Context, process *shim.Process) {
	for {
		process.Stop()
		select {
		case <-ctx.Done():
			return
		case <-process.Gone:
			return
		case <-time.After(stopAgain):
		}
	}
}
