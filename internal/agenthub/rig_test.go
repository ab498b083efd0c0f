package agenthub_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// rig is a hub with its store, and an agent that may connect to it.
type rig struct {
	*agenthub.Hub
	t       *testing.T
	m       *memory
	agent   domain.Agent
	token   string
	waiters *told
}

func newRig(t *testing.T, changes ...func(*agenthub.Config)) *rig {
	t.Helper()
	r := &rig{t: t, m: newMemory(), waiters: &told{}}
	waited := func(c *agenthub.Config) { c.Commands = r.waiters }
	r.Hub = newHub(r.m, "one", append([]func(*agenthub.Config){waited}, changes...)...)
	r.agent, r.token = r.m.agent(domain.Agent{})
	return r
}

func newHub(m *memory, process string, changes ...func(*agenthub.Config)) *agenthub.Hub {
	cfg := agenthub.Config{Store: m, Secrets: safe{}, Commands: &told{}, ProcessID: process, Patience: 10 * time.Minute, Log: zerolog.Nop()}
	for _, change := range changes {
		change(&cfg)
	}
	return agenthub.New(cfg)
}

// with gives a hub these secrets.
func with(s safe) func(*agenthub.Config) { return func(c *agenthub.Config) { c.Secrets = s } }

// run runs the hub and others until the test ends.
func (r *rig) run(others ...*agenthub.Hub) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, h := range append(others, r.Hub) {
		group.Go(func() { _ = h.Run(ctx) })
	}
	r.t.Cleanup(func() {
		cancel()
		group.Wait()
	})
}

// pair is a rig, and a hub of another process beside it; both run.
func pair(t *testing.T) (here *rig, there *agenthub.Hub) {
	t.Helper()
	here = newRig(t)
	there = newHub(here.m, "there")
	here.run(there)
	return here, there
}

// installs gives an install token that is good, or was, until then.
func (r *rig) installs(until time.Duration) (token string) {
	token, hash := domain.NewMachineToken(domain.InstallTokenPrefix)
	r.m.installs[string(hash)] = domain.InstallToken{ProjectID: "p1", ExpiresAt: time.Now().Add(until)}
	return token
}

// order queues a command for the agent, and gives the hint or not.
func (r *rig) order(id string, hint bool) { r.m.order(order(r.agent, id, "true"), hint) }

// runs puts a command that runs on the agent.
func (r *rig) runs(id string) {
	c := order(r.agent, id, "true")
	c.Status = domain.CommandRunning
	r.m.commands[id] = c
}

// orderWith queues a command with variables.
func (r *rig) orderWith(id string, env map[string]string) {
	c := order(r.agent, id, "deploy")
	c.Env = env
	r.m.order(c, false)
}

func order(agent domain.Agent, id, command string) domain.Command {
	return domain.Command{CommandOrder: domain.CommandOrder{ID: id, AgentID: agent.ID, ProjectID: "p1", Command: command, Timeout: 1500 * time.Millisecond}}
}

// line is an open event stream.
type line struct {
	*testing.T
	messages chan agentwire.Message
	stop     context.CancelFunc
	over     chan error // has how it ended once, and is closed
}

// connect opens an event stream of the agent, and hears the greeting.
func (r *rig) connect(hello domain.AgentHello) *line {
	r.t.Helper()
	return connect(r.t, r.Hub, r.token, hello)
}

func connect(t *testing.T, h *agenthub.Hub, token string, hello domain.AgentHello) *line {
	t.Helper()
	l := dial(t, h, token, hello)
	l.next()
	return l
}

// dial opens an event stream of an agent, which is open until the test ends.
func dial(t *testing.T, h *agenthub.Hub, token string, hello domain.AgentHello) *line {
	ctx, stop := context.WithCancel(context.Background())
	l := &line{T: t, messages: make(chan agentwire.Message, 64), stop: stop, over: make(chan error, 1)}
	if hello.Hostname == "" {
		hello.Hostname = "box"
	}
	go func() {
		defer close(l.over)
		l.over <- h.Stream(ctx, token, hello, func() (func(agentwire.Message) error, error) {
			return func(m agentwire.Message) error {
				select {
				case l.messages <- m:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}, nil
		})
		close(l.messages)
	}()
	t.Cleanup(l.hangUp)
	return l
}

// next gives the next message that says something.
func (l *line) next() agentwire.Message {
	l.Helper()
	for m := range l.messages {
		if m.Type != "" {
			return m
		}
	}
	l.Fatalf("the stream has ended: %v", <-l.over)
	return agentwire.Message{}
}

// hangUp ends the stream and waits for its end.
func (l *line) hangUp() {
	l.Helper()
	l.stop()
	for err := range l.over {
		if err != nil {
			l.Errorf("the stream ends with %v", err)
		}
	}
}

// ours is what our agent says of itself.
func ours(machine string) domain.AgentHello {
	hello := domain.AgentHello{Hostname: "box", Machine: machine, Version: "test"}
	for _, c := range agentwire.All() {
		hello.Capabilities = append(hello.Capabilities, string(c))
	}
	return hello
}
