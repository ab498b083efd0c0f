package agenthub_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// Commands come as the agent connects, at a hint, and where the hint is lost with the next
// look, whichever process they were given to.
func TestDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run(newHub(r.m, "another"))
		r.m.order(order(r.agent, "before", "echo before"), false)
		l := r.connect(ours("m"))
		if got := l.next(); got.Type != agentwire.Execute || got.RequestID != "before" || got.Command != "echo before" || got.TimeoutSecs != 2 {
			t.Errorf("on connect comes %+v", got)
		}
		synctest.Wait()
		begun := time.Now()
		r.order("hinted", true)
		if got := l.next(); got.RequestID != "hinted" || time.Since(begun) != 0 {
			t.Errorf("at the hint comes %+v, after %s", got, time.Since(begun))
		}
		r.order("unhinted", false)
		if got := l.next(); got.RequestID != "unhinted" || time.Since(begun) > 5*time.Second {
			t.Errorf("without a hint comes %+v, after %s", got, time.Since(begun))
		}
	})
}

// More commands than are claimed at once all come, in order.
func TestManyCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 50 {
		r.order(fmt.Sprintf("c%02d", i), false)
	}
	l := r.connect(ours("m"))
	for i := range 50 {
		if got := l.next(); got.RequestID != fmt.Sprintf("c%02d", i) {
			t.Errorf("%d is %+v", i, got)
		}
	}
}

// What an agent was sent is sent again to its next stream, with whether it had begun.
func TestDeliveredAgain(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		r := newRig(t)
		r.order("c1", false)
		l := r.connect(ours("m"))
		if got := l.next(); got.RequestID != "c1" || got.Begun {
			t.Errorf("first comes %+v", got)
		}
		l.hangUp()
		if begun {
			if err := r.Started(t.Context(), r.agent, "c1"); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.connect(ours("m")).next(); got.RequestID != "c1" || got.Begun != begun {
			t.Errorf("then comes %+v, begun %t", got, begun)
		}
	}
}

// A cancellation goes to agents that can cancel, and to no others.
func TestCancel(t *testing.T) {
	t.Parallel()
	for can, hello := range map[bool]domain.AgentHello{true: ours("m"), false: {}} {
		r := newRig(t)
		r.order("c1", false)
		l := r.connect(hello)
		l.next()
		r.m.do(func() {
			c := r.m.commands["c1"]
			c.CancelRequested = true
			r.m.commands["c1"] = c
		})
		r.m.tell(r.agent.ID)
		r.order("next", true)
		got := l.next()
		if can && (got.Type != agentwire.CancelRun || got.RequestID != "c1") {
			t.Errorf("it is told %+v", got)
		}
		if !can && got.RequestID != "next" {
			t.Errorf("a plain agent is told %+v", got)
		}
	}
}

// Handles are replaced on the way to the agent, and only there.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	r := newRig(t, with(safe{opened: map[string]string{"secret://DB@1": "correct horse", "secret://KEY@3": "battery staple"}}))
	r.orderWith("c1", map[string]string{"DB": "secret://DB", "KEY": "secret://KEY@3", "MODE": "fast"})
	got := r.connect(ours("m")).next()
	if got.Env["DB"] != "correct horse" || got.Env["KEY"] != "battery staple" || got.Env["MODE"] != "fast" {
		t.Errorf("the environment is %v", got.Env)
	}
	if kept := r.m.command("c1"); kept.Env["DB"] != "secret://DB" {
		t.Errorf("kept is %v", kept.Env)
	}
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
			r := newRig(t, with(safe{err: c.err}))
			r.orderWith("bad", map[string]string{"VALUE": c.env})
			r.order("good", false)
			if got := r.connect(c.hello).next(); got.RequestID != "good" {
				t.Errorf("sent is %+v", got)
			}
			if kept := r.m.command("bad"); kept.Status != domain.CommandFailed || !strings.Contains(kept.Error, c.want) {
				t.Errorf("it is %s: %s", kept.Status, kept.Error)
			}
			if !slices.Contains(r.waiters.list(), "bad") {
				t.Error("nobody was told")
			}
		})
	}
}

// A command of who may do nothing any more is not sent; one that was sent goes on.
func TestBarredCommandsAreNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	begun, waits := order(r.agent, "a-begun", "true"), order(r.agent, "b-waits", "true")
	begun.UserID, waits.UserID = "eve", "eve"
	r.m.order(begun, false)
	l := r.connect(ours("m"))
	if got := l.next(); got.RequestID != "a-begun" {
		t.Fatalf("sent is %+v", got)
	}
	l.hangUp()
	r.m.do(func() { r.m.barred = map[string]string{"eve": "the account of eve is disabled"} })
	r.m.order(waits, false)
	r.order("c-other", false)
	l = r.connect(ours("m"))
	for _, id := range []string{"a-begun", "c-other"} {
		if got := l.next(); got.RequestID != id || got.Type != agentwire.Execute {
			t.Errorf("sent is %+v, not %s", got, id)
		}
	}
	if kept := r.m.command("b-waits"); kept.Status != domain.CommandCanceled || !strings.Contains(kept.Error, "the account of eve is disabled; it never ran") {
		t.Errorf("it is %s: %s", kept.Status, kept.Error)
	}
}

// Where the secrets can't be read now, an agent with a journal is sent the command with its
// next stream.
func TestSecretsAwayForAWhile(t *testing.T) {
	t.Parallel()
	r := newRig(t, with(safe{err: errors.New("down")}))
	back := newHub(r.m, "two", with(safe{opened: map[string]string{"secret://DB@1": "correct horse"}}))
	r.orderWith("c1", map[string]string{"DB": "secret://DB@1"})
	l := r.connect(ours("m"))
	if got := l.next(); got.Type != agentwire.ErrorNotice {
		t.Errorf("it is told %+v", got)
	}
	<-l.over
	if got := connect(t, back, r.token, ours("m")).next(); got.RequestID != "c1" || got.Env["DB"] != "correct horse" {
		t.Errorf("then comes %+v", got)
	}
}

// The result of a plain agent is waited for a little, that of one with a journal long.
func TestPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for id, c := range map[string]struct {
			hello domain.AgentHello
			want  time.Duration
		}{"plain": {domain.AgentHello{}, 31500 * time.Millisecond}, "ours": {ours("m"), 10*time.Minute + 1500*time.Millisecond}} {
			r := newRig(t)
			r.order(id, false)
			r.connect(c.hello).next()
			if got := time.Until(*r.m.command(id).ResultBy); got != c.want {
				t.Errorf("%s: the result is waited for %s", id, got)
			}
		}
	})
}

// A database that is away for a moment ends no stream: the next look delivers.
func TestDeliveryGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		l := r.connect(ours("m"))
		r.m.do(func() { r.m.failing = domain.Errorf(domain.CodeUnavailable, "away") })
		r.order("c1", true)
		synctest.Wait()
		r.m.do(func() { r.m.failing = nil })
		if got := l.next(); got.RequestID != "c1" {
			t.Errorf("then comes %+v", got)
		}
	})
}
