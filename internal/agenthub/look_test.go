package agenthub_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// An agent whose posts reach this process lives, though no ping of it came to the database.
func TestPostsAreSignsOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := newHub(m, "one")
		defer running(h)()
		agent, token := m.agent(domain.Agent{})
		l := dial(h, token, domain.AgentHello{})
		l.next(t)
		for range 6 {
			time.Sleep(agentwire.PingEvery)
			if _, err := h.Identify(context.Background(), token); err != nil {
				t.Fatal(err)
			}
		}
		if !h.Connected(agent.ID) {
			t.Error("it was given up")
		}
		l.hangUp(t)
	})
}

// Of two streams of an agent at one process the newest is the one that the database has, in
// whichever order they came to be known here.
func TestTheDatabaseSaysWhichIsTheNewest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := newHub(m, "one")
		defer running(h)()
		agent, token := m.agent(domain.Agent{})
		l := dial(h, token, domain.AgentHello{})
		l.next(t)
		m.do(func() {
			newer := m.current[agent.ID]
			newer.ID = "newer"
			m.current[agent.ID] = newer
		})
		if notice := l.next(t); notice.Type != agentwire.ErrorNotice {
			t.Errorf("it is told %+v", notice)
		}
		<-l.over
	})
}

// A stream that delivers and finds that it is none any more ends at once, with no look.
func TestAStreamThatWasTakenOverEndsAsItDelivers(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one") // it does not run
	agent, token := m.agent(domain.Agent{})
	l := dial(h, token, domain.AgentHello{})
	l.next(t)
	m.do(func() { m.failing = domain.Errorf(domain.CodeSuperseded, "another connection") })
	m.order(order(agent, "c1", "true"), true)
	if notice := l.next(t); notice.Type != agentwire.ErrorNotice {
		t.Errorf("it is told %+v", notice)
	}
	<-l.over
}

// A command that may run on its machine is not settled because it can't be sent again.
func TestWhatCantBeSentAgainIsLeftToItsAgent(t *testing.T) {
	t.Parallel()
	m := newMemory()
	first := newHub(m, "one", func(c *agenthub.Config) {
		c.Secrets = safe{opened: map[string]string{"secret://DB@1": "correct horse"}}
	})
	agent, token := m.agent(domain.Agent{})
	c := order(agent, "c1", "deploy")
	c.Env = map[string]string{"DB": "secret://DB@1"}
	m.order(c, false)
	l := dial(first, token, ours("m"))
	l.next(t)
	if got := l.next(t); got.RequestID != "c1" {
		t.Fatalf("sent is %+v", got)
	}
	l.hangUp(t)
	again := newHub(m, "two", func(c *agenthub.Config) { c.Secrets = safe{} }) // the secret was removed meanwhile
	l = dial(again, token, ours("m"))
	l.next(t)
	m.order(order(agent, "c2", "true"), true)
	if got := l.next(t); got.RequestID != "c2" {
		t.Errorf("then comes %+v", got)
	}
	l.hangUp(t)
	if kept := m.command("c1"); kept.Status != domain.CommandDelivered {
		t.Errorf("it is %s: %s", kept.Status, kept.Error)
	}
}

// Lines of a plain agent that may be a secret's wait; those behind them take nobody's place, and
// the result brings all.
func TestLinesBehindWhatIsHeldBackKeepTheirPlace(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one", func(c *agenthub.Config) { c.Secrets = safe{values: []string{"first line\nsecond line"}} })
	agent, _ := m.agent(domain.Agent{})
	c := order(agent, "c1", "true")
	c.Status = domain.CommandRunning
	m.commands["c1"] = c
	for _, line := range []string{"first line", "other"} {
		if _, err := h.Output(t.Context(), agent, agentwire.Output{RequestID: "c1", Stream: agentwire.Stdout}, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	const whole = "first line\nother\n"
	if log := m.text("c1", "stdout"); !strings.HasPrefix(whole, log) {
		t.Errorf("the log is %q", log)
	}
	ended := agentwire.Result{RequestID: "c1", Outcome: agentwire.Exited, StdoutHead: []byte(whole), StdoutBytes: int64(len(whole))}
	if err := h.Result(t.Context(), agent, ended); err != nil {
		t.Fatal(err)
	}
	if log := m.text("c1", "stdout"); log != whole {
		t.Errorf("the log is %q", log)
	}
}

// Each way for a command to end on its machine leads to a state of its own.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[agentwire.Outcome]domain.CommandStatus{
		"": domain.CommandDone, agentwire.Exited: domain.CommandDone, agentwire.TimedOut: domain.CommandTimedOut, agentwire.Canceled: domain.CommandCanceled,
		agentwire.NotStarted: domain.CommandFailed, agentwire.Unknown: domain.CommandUnknown,
	} {
		r := newRig(t)
		if err := r.Result(t.Context(), r.agent, agentwire.Result{RequestID: "c1", Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
		if got := r.m.command("c1").Status; got != want {
			t.Errorf("%q leads to %s", outcome, got)
		}
	}
}

// Messages for an agent that does not read are refused once many wait.
func TestMessagesForADeafAgentAreRefused(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one")
	agent, token := m.agent(domain.Agent{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	deaf, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_ = h.Stream(ctx, token, domain.AgentHello{Hostname: "box"}, func() (func(agentwire.Message) error, error) {
			return func(agentwire.Message) error {
				select {
				case deaf <- struct{}{}: // at the greeting
				case <-ctx.Done():
				}
				<-ctx.Done()
				return ctx.Err()
			}, nil
		})
	}()
	<-deaf
	var err error
	for n := 0; err == nil; n++ {
		if n > 1000 {
			t.Fatal("a thousand messages wait")
		}
		err = h.Send(ctx, agent.ID, agentwire.Message{Type: agentwire.OpenShell, SessionID: "s"})
	}
	if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(err.Error(), "does not read") {
		t.Errorf("it is refused with %v", err)
	}
	stop()
	<-over
}
