package agent

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/shim"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// The limits of a command's time.
const (
	defaultTimeout = 30 * time.Second
	maxTimeout     = 24 * time.Hour
)

// command is one that the server may still ask about.
type command struct {
	agent *Agent
	id    string

	// canceled is closed when the server wants it to end.
	canceled chan struct{}
	cancel   func()
	// again holds one token where the server has delivered it once more while it runs.
	again chan struct{}
	// nudge holds one where the server is there again.
	nudge chan struct{}

	record    *journal.Record // nil where the journal could not take it: then it never runs
	inherited bool            // an earlier agent has started its shim, or was about to
	mu        sync.Mutex
	ending    *journal.Ending    // nil until it is over
	last      *agentwire.Message // with which it was delivered again
}

func newCommand(a *Agent, id string) *command {
	c := &command{agent: a, id: id, canceled: make(chan struct{}), again: make(chan struct{}, 1), nudge: make(chan struct{}, 1)}
	c.cancel = sync.OnceFunc(func() { close(c.canceled) })
	return c
}

// execute begins a command that was never seen, and answers for one that was.
func (a *Agent) execute(ctx context.Context, m agentwire.Message) {
	if m.RequestID == "" {
		a.cfg.Log.Warn("a command without an id is left out")
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, known := a.commands[m.RequestID]; known {
		c.redelivered(m)
		return
	}
	if ending, known := a.journal.Buried(m.RequestID); known {
		a.outbox.remind(m.RequestID, ending)
		return
	}
	c := newCommand(a, m.RequestID)
	a.commands[c.id] = c
	if m.Begun {
		c.end(unrecorded())
		return
	}
	a.seq++
	order := journal.Order{ID: c.id, Seq: a.seq, Accepted: time.Now()}
	a.work.Go(func() { c.run(ctx, m, order) })
}

func (c *command) redelivered(m agentwire.Message) {
	c.mu.Lock()
	ending := c.ending
	c.last = &m
	c.mu.Unlock()
	if ending != nil {
		c.agent.outbox.remind(c.id, *ending)
		return
	}
	select {
	case c.again <- struct{}{}:
	default:
	}
}

// run waits for a free place, journals the command, starts its shim and follows it.
func (c *command) run(ctx context.Context, m agentwire.Message, order journal.Order) {
	select {
	case <-c.canceled:
		c.end(journal.Ending{Outcome: agentwire.Canceled, Error: "it was canceled before it began"})
		return
	case <-ctx.Done():
		return // it is in no journal: the server delivers it again
	case c.agent.slots <- struct{}{}:
	}
	defer func() { <-c.agent.slots }()
	process, err := c.start(m, order)
	if err != nil {
		c.end(journal.Ending{Outcome: agentwire.NotStarted, Error: fmt.Sprintf("it could not be started: %v", err)})
		return
	}
	c.follow(ctx, process)
}

func (c *command) start(m agentwire.Message, order journal.Order) (*shim.Process, error) {
	spec, err := c.agent.spec(m)
	if err != nil {
		return nil, err
	}
	record, err := c.agent.journal.Begin(order)
	if err != nil {
		return nil, err
	}
	c.setRecord(record)
	return shim.Start(record, spec, c.agent.cfg.Errs)
}

func (a *Agent) spec(m agentwire.Message) (shim.Spec, error) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		return shim.Spec{}, fmt.Errorf("bash is not installed on this machine: %w", err)
	}
	if strings.ContainsRune(m.Command, 0) {
		return shim.Spec{}, fmt.Errorf("the command line holds a NUL byte")
	}
	env, err := a.env(m.Env)
	if err != nil {
		return shim.Spec{}, err
	}
	timeout := defaultTimeout
	if m.TimeoutSecs > 0 {
		timeout = min(time.Duration(min(m.TimeoutSecs, int(maxTimeout.Seconds())))*time.Second, maxTimeout)
	}
	return shim.Spec{ID: m.RequestID, Shell: shell, Command: m.Command, Env: env, Folder: a.home(), Timeout: timeout}, nil
}

func (a *Agent) env(own map[string]string) ([]string, error) {
	env := slices.DeleteFunc(slices.Clone(a.cfg.Env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := own[name]
		return replaced || name == shim.Marker
	})
	for name, value := range own {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("%q can't be a variable of the environment", name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// home is where commands run: the home folder of the agent's user, where that can be entered.
func (a *Agent) home() string {
	for _, entry := range a.cfg.Env {
		if home, ok := strings.CutPrefix(entry, "HOME="); ok {
			if info, err := os.Stat(home); err == nil && info.IsDir() && unix.Access(home, unix.X_OK) == nil {
				return home
			}
		}
	}
	return "/"
}

// follow waits until the shim has told how the command ended, or is gone.
func (c *command) follow(ctx context.Context, process *shim.Process) {
	over := make(chan struct{})
	defer close(over)
	c.agent.work.Go(func() { c.stream(ctx, over) })
	c.agent.work.Go(func() { c.stopWhenCanceled(ctx, process, over) })
	select {
	case <-ctx.Done():
		return
	case <-process.Told:
	}
	ending, ended, _ := c.record.Ending()
	if !ended {
		select {
		case <-ctx.Done():
			return
		case <-process.Gone:
		}
		if ending, ended, _ = c.record.Ending(); !ended {
			boot := c.agent.journal.Boot()
			if c.inherited && c.unbegun(boot) {
				c.anew(ctx)
				return
			}
			ending = c.settle(boot)
		}
	}
	c.end(ending)
}

// end hands the result to the outbox.
func (c *command) end(ending journal.Ending) {
	record := c.currentRecord()
	if record != nil {
		if _, ended, _ := record.Ending(); !ended {
			if err := record.SetEnding(ending); err != nil {
				c.agent.cfg.Log.Error("an ending is not journaled", "command", c.id, "error", err)
			}
		}
	}
	c.mu.Lock() // who finds it over finds its result on its way
	defer c.mu.Unlock()
	c.ending = &ending
	c.agent.outbox.add(&item{
		id: c.id,
		result: func() agentwire.Result {
			if record == nil {
				return journal.Told(c.id, ending)
			}
			return record.Result(c.id, ending)
		},
		bare: func() agentwire.Result { return journal.Told(c.id, ending) },
		done: func() { c.forget(ending, record) },
	})
}

// forget keeps no more than the id once the server has the result.
func (c *command) forget(ending journal.Ending, record *journal.Record) {
	if err := c.agent.journal.Bury(c.id, ending, record); err != nil {
		c.agent.cfg.Log.Error("a command stays in the journal", "command", c.id, "error", err)
		return // its id stays known, and its result is sent again after a restart
	}
	c.agent.mu.Lock()
	delete(c.agent.commands, c.id)
	c.agent.mu.Unlock()
}

func (c *command) setRecord(record *journal.Record) {
	c.mu.Lock()
	c.record = record
	c.mu.Unlock()
}

func (c *command) currentRecord() *journal.Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record
}
