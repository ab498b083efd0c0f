package agenthub_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

func order(agent domain.Agent, id, command string) domain.Command {
	return domain.Command{CommandOrder: domain.CommandOrder{ID: id, AgentID: agent.ID, ProjectID: "p1", Command: command, Timeout: 1500 * time.Millisecond}}
}

// Commands come as the agent connects, at a hint, and where the hint is lost with the next
// look, whichever process they were given to.
func TestDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := newHub(m, "one")
		stop := running(h, newHub(m, "another"))
		defer stop()
		agent, token := m.agent(domain.Agent{})
		m.order(order(agent, "before", "echo before"), false)
		l := dial(h, token, ours("m"))
		l.next(t)
		if got := l.next(t); got.Type != agentwire.Execute || got.RequestID != "before" || got.Command != "echo before" || got.TimeoutSecs != 2 {
			t.Errorf("on connect comes %+v", got)
		}
		synctest.Wait()
		begun := time.Now()
		m.order(order(agent, "hinted", "true"), true)
		if got := l.next(t); got.RequestID != "hinted" || time.Since(begun) != 0 {
			t.Errorf("at the hint comes %+v, after %s", got, time.Since(begun))
		}
		m.order(order(agent, "unhinted", "true"), false)
		if got := l.next(t); got.RequestID != "unhinted" || time.Since(begun) > 5*time.Second {
			t.Errorf("without a hint comes %+v, after %s", got, time.Since(begun))
		}
		l.hangUp(t)
	})
}

// More commands than are claimed at once all come, in order.
func TestManyCommands(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one")
	agent, token := m.agent(domain.Agent{})
	for i := range 50 {
		m.order(order(agent, fmt.Sprintf("c%02d", i), "true"), false)
	}
	l := dial(h, token, ours("m"))
	l.next(t)
	for i := range 50 {
		if got := l.next(t); got.RequestID != fmt.Sprintf("c%02d", i) {
			t.Errorf("%d is %+v", i, got)
		}
	}
	l.hangUp(t)
}

// A cancellation goes to agents that can cancel, and to no others.
func TestCancel(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one")
	for _, can := range []bool{true, false} {
		agent, token := m.agent(domain.Agent{})
		hello := domain.AgentHello{}
		if can {
			hello = ours("m")
		}
		id := fmt.Sprint("c", can)
		m.order(order(agent, id, "sleep 100"), false)
		l := dial(h, token, hello)
		l.next(t)
		l.next(t)
		m.mu.Lock()
		c := m.commands[id]
		c.CancelRequested = true
		m.commands[id] = c
		m.mu.Unlock()
		m.tell(agent.ID)
		m.order(order(agent, "z-next"+id, "true"), true)
		got := l.next(t)
		if can && (got.Type != agentwire.CancelRun || got.RequestID != id) {
			t.Errorf("it is told %+v", got)
		}
		if !can && got.RequestID != "z-next"+id {
			t.Errorf("a plain agent is told %+v", got)
		}
		l.hangUp(t)
	}
}

// Handles are replaced on the way to the agent, and only there.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one", func(c *agenthub.Config) {
		c.Secrets = safe{opened: map[string]string{"secret://DB@1": "correct horse", "secret://KEY@3": "battery staple"}}
	})
	agent, token := m.agent(domain.Agent{})
	c := order(agent, "c1", "deploy")
	c.Env = map[string]string{"DB": "secret://DB", "KEY": "secret://KEY@3", "MODE": "fast"}
	m.order(c, false)
	l := dial(h, token, ours("m"))
	l.next(t)
	got := l.next(t)
	if got.Env["DB"] != "correct horse" || got.Env["KEY"] != "battery staple" || got.Env["MODE"] != "fast" {
		t.Errorf("the environment is %v", got.Env)
	}
	if kept := m.command("c1"); kept.Env["DB"] != "secret://DB" {
		t.Errorf("kept is %v", kept.Env)
	}
	l.hangUp(t)
}

// A command whose variables can't be set has never run, and says why; it is not sent.
func TestUnsendable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hello domain.AgentHello
		env   string
		err   error
		want  string
	}{
		"a plain agent": {domain.AgentHello{}, "fast", nil, "can't set variables"},
		"a lost secret": {ours("m"), "secret://GONE", nil, "there is no secret GONE"},
		"no handle":     {ours("m"), "secret://", nil, "not the handle"},
		"a plain agent, and the database is away": {domain.AgentHello{Capabilities: []string{"env"}}, "secret://X",
			domain.Errorf(domain.CodeUnavailable, "the database can't be reached"), "the database can't be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, waiters := newMemory(), &told{}
			h := newHub(m, "one", func(cfg *agenthub.Config) { cfg.Secrets, cfg.Commands = safe{err: c.err}, waiters })
			agent, token := m.agent(domain.Agent{})
			bad := order(agent, "bad", "deploy")
			bad.Env = map[string]string{"VALUE": c.env}
			m.order(bad, false)
			m.order(order(agent, "good", "true"), false)
			l := dial(h, token, c.hello)
			l.next(t)
			if got := l.next(t); got.RequestID != "good" {
				t.Errorf("sent is %+v", got)
			}
			if kept := m.command("bad"); kept.Status != domain.CommandFailed || !strings.Contains(kept.Error, c.want) {
				t.Errorf("it is %s: %s", kept.Status, kept.Error)
			}
			if !slices.Contains(waiters.list(), "bad") {
				t.Error("nobody was told")
			}
			l.hangUp(t)
		})
	}
}

// A command of who may do nothing any more is not sent; one that was sent goes on.
func TestBarredCommandsAreNotSent(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one", func(*agenthub.Config) {})
	agent, token := m.agent(domain.Agent{})
	begun, waits := order(agent, "a-begun", "true"), order(agent, "b-waits", "true")
	begun.UserID, waits.UserID = "eve", "eve"
	m.order(begun, false)
	l := dial(h, token, ours("m"))
	l.next(t)
	if got := l.next(t); got.RequestID != "a-begun" {
		t.Fatalf("sent is %+v", got)
	}
	l.hangUp(t)
	m.do(func() { m.barred = map[string]string{"eve": "the account of eve is disabled"} })
	m.order(waits, false)
	m.order(order(agent, "c-other", "true"), false)
	l = dial(h, token, ours("m"))
	l.next(t)
	for _, id := range []string{"a-begun", "c-other"} {
		if got := l.next(t); got.RequestID != id || got.Type != agentwire.Execute {
			t.Errorf("sent is %+v, not %s", got, id)
		}
	}
	if kept := m.command("b-waits"); kept.Status != domain.CommandCanceled || !strings.Contains(kept.Error, "the account of eve is disabled; it never ran") {
		t.Errorf("it is %s: %s", kept.Status, kept.Error)
	}
	l.hangUp(t)
}

// Where the secrets can't be read now, an agent with a journal is sent the command with its
// next stream.
func TestSecretsAwayForAWhile(t *testing.T) {
	t.Parallel()
	m := newMemory()
	away := newHub(m, "one", func(c *agenthub.Config) { c.Secrets = safe{err: errors.New("down")} })
	back := newHub(m, "two", func(c *agenthub.Config) {
		c.Secrets = safe{opened: map[string]string{"secret://DB@1": "correct horse"}}
	})
	agent, token := m.agent(domain.Agent{})
	c := order(agent, "c1", "deploy")
	c.Env = map[string]string{"DB": "secret://DB@1"}
	m.order(c, false)
	l := dial(away, token, ours("m"))
	l.next(t)
	if got := l.next(t); got.Type != agentwire.ErrorNotice {
		t.Errorf("it is told %+v", got)
	}
	<-l.over
	l = dial(back, token, ours("m"))
	l.next(t)
	if got := l.next(t); got.RequestID != "c1" || got.Env["DB"] != "correct horse" {
		t.Errorf("then comes %+v", got)
	}
	l.hangUp(t)
}

// The result of a plain agent is waited for a little, that of one with a journal long.
func TestPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := newHub(m, "one")
		for id, c := range map[string]struct {
			hello domain.AgentHello
			want  time.Duration
		}{"plain": {domain.AgentHello{}, 31500 * time.Millisecond}, "ours": {ours("m"), 10*time.Minute + 1500*time.Millisecond}} {
			agent, token := m.agent(domain.Agent{})
			m.order(order(agent, id, "true"), false)
			l := dial(h, token, c.hello)
			l.next(t)
			l.next(t)
			if got := time.Until(*m.command(id).ResultBy); got != c.want {
				t.Errorf("%s: the result is waited for %s", id, got)
			}
			l.hangUp(t)
		}
	})
}

// A database that is away for a moment ends no stream: the next look delivers.
func TestDeliveryGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := newHub(m, "one")
		defer running(h)()
		agent, token := m.agent(domain.Agent{})
		l := dial(h, token, ours("m"))
		l.next(t)
		m.do(func() { m.failing = domain.Errorf(domain.CodeUnavailable, "away") })
		m.order(order(agent, "c1", "true"), true)
		synctest.Wait()
		m.do(func() { m.failing = nil })
		if got := l.next(t); got.RequestID != "c1" {
			t.Errorf("then comes %+v", got)
		}
		l.hangUp(t)
	})
}
