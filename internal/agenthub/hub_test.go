package agenthub_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// A machine joins by an install token, and is greeted by its permanent one from then on.
func TestJoin(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one")
	install, hash := domain.NewMachineToken(domain.InstallTokenPrefix)
	m.installs[string(hash)] = domain.InstallToken{ProjectID: "p1", ExpiresAt: time.Now().Add(time.Hour)}

	first := dial(h, install, ours("m1"))
	hi := first.next(t)
	if hi.Type != agentwire.Registered || !strings.HasPrefix(hi.AgentToken, domain.AgentTokenPrefix) || hi.AgentID == "" {
		t.Fatalf("a new machine is greeted with %+v", hi)
	}
	first.hangUp(t)
	again := dial(h, install, ours("m1")) // the greeting was lost
	if second := again.next(t); second.AgentID != hi.AgentID || second.AgentToken == hi.AgentToken {
		t.Errorf("the same machine is %+v, was %+v", second, hi)
	}
	again.hangUp(t)
	back := dial(h, hi.AgentToken, ours("m1"))
	if m := back.next(t); m.Type != agentwire.HelloAck || m.AgentID != hi.AgentID || m.AgentToken != "" {
		t.Errorf("a known machine is greeted with %+v", m)
	}
	back.hangUp(t)
}

// Who has no token that is good, or another machine's, is refused before the stream begins.
func TestRefused(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one")
	_, token := m.agent(domain.Agent{Machine: "m1"})
	expired, hash := domain.NewMachineToken(domain.InstallTokenPrefix)
	m.installs[string(hash)] = domain.InstallToken{ProjectID: "p1", ExpiresAt: time.Now().Add(-time.Second)}
	for name, c := range map[string]struct {
		token string
		hello domain.AgentHello
		code  domain.Code
	}{
		"no token":        {"", ours("m1"), domain.CodeUnauthorized},
		"a key":           {"hvk_x", ours("m1"), domain.CodeUnauthorized},
		"unknown":         {"hva_x", ours("m1"), domain.CodeUnauthorized},
		"expired":         {expired, ours("m1"), domain.CodeUnauthorized},
		"another machine": {token, ours("m2"), domain.CodeUnauthorized},
		"a long name":     {token, domain.AgentHello{Hostname: strings.Repeat("x", 300)}, domain.CodeInvalid},
		"two lines":       {token, domain.AgentHello{Hostname: "a\nb"}, domain.CodeInvalid},
	} {
		l := dial(h, c.token, c.hello)
		if err := <-l.over; domain.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		l.stop()
	}
	l := dial(h, token, domain.AgentHello{}) // a plain agent, which names no machine
	l.next(t)
	l.hangUp(t)
}

// The newest connection of an agent wins: on the same process at once, on another with its
// next look.
func TestNewestConnectionWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		here, there := newHub(m, "here"), newHub(m, "there")
		stop := running(here, there)
		defer stop()
		agent, token := m.agent(domain.Agent{})
		first := dial(here, token, domain.AgentHello{})
		first.next(t)
		second := dial(here, token, domain.AgentHello{})
		second.next(t)
		if notice := first.next(t); notice.Type != agentwire.ErrorNotice || !strings.Contains(notice.Message, "has connected again") {
			t.Errorf("the older one is told %+v", notice)
		}
		if err := <-first.over; err != nil {
			t.Error(err)
		}
		third := dial(there, token, domain.AgentHello{})
		third.next(t)
		if notice := second.next(t); notice.Type != agentwire.ErrorNotice {
			t.Errorf("the one elsewhere is told %+v", notice)
		}
		m.order(domain.Command{CommandOrder: domain.CommandOrder{ID: "c1", AgentID: agent.ID, Command: "true"}}, true)
		if got := third.next(t); got.RequestID != "c1" {
			t.Errorf("the newest gets %+v", got)
		}
		third.hangUp(t)
		if len(m.current) != 0 {
			t.Errorf("connections stay: %+v", m.current)
		}
	})
}

// running runs hubs until it is stopped.
func running(hubs ...*agenthub.Hub) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, h := range hubs {
		group.Go(func() { _ = h.Run(ctx) })
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// A sign of life comes every 25 seconds.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := newHub(m, "one")
		_, token := m.agent(domain.Agent{})
		l := dial(h, token, domain.AgentHello{})
		l.next(t)
		begun := time.Now()
		for i := range 3 {
			if m := <-l.messages; m.Type != "" || time.Since(begun) != time.Duration(i+1)*agentwire.KeepAlive {
				t.Errorf("after %s comes %+v", time.Since(begun), m)
			}
		}
		l.hangUp(t)
	})
}

// An agent that goes silent is noticed within 45 seconds; one that pings, whichever process
// that reaches, stays.
func TestSilentAgentsAreNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		here, there := newHub(m, "here"), newHub(m, "there")
		stop := running(here, there)
		defer stop()
		_, silent := m.agent(domain.Agent{})
		alive, lively := m.agent(domain.Agent{})
		dead, living := dial(here, silent, domain.AgentHello{}), dial(here, lively, domain.AgentHello{})
		dead.next(t)
		living.next(t)
		begun := time.Now()
		go func() {
			for range 4 {
				time.Sleep(agentwire.PingEvery)
				if err := there.Ping(context.Background(), alive); err != nil {
					t.Error(err)
				}
			}
		}()
		if notice := dead.next(t); notice.Type != agentwire.ErrorNotice || time.Since(begun) > agentwire.DeadAfter {
			t.Errorf("after %s it is told %+v", time.Since(begun), notice)
		}
		if took := time.Since(begun); took < agentwire.PingEvery {
			t.Errorf("it was given up after %s, before its next ping", took)
		}
		time.Sleep(2 * agentwire.DeadAfter)
		if !here.Connected(alive.ID) {
			t.Error("the one that pings was given up")
		}
		living.hangUp(t)
	})
}

// An agent that was removed is told to go, at once where it was removed here.
func TestRemovedAgentUninstalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		here, there := newHub(m, "here"), newHub(m, "there")
		stop := running(here, there)
		defer stop()
		for _, told := range []bool{true, false} {
			agent, token := m.agent(domain.Agent{})
			l := dial(here, token, ours("m"))
			l.next(t)
			m.remove(agent.ID)
			if told {
				here.Forget(agent.ID)
			}
			if got := l.next(t); got.Type != agentwire.Uninstall {
				t.Errorf("a removed agent is told %+v", got)
			}
			<-l.over
		}
	})
}

// An agent that joined again with another token, elsewhere, is not told to go by the process
// that had it.
func TestJoiningAgainRemovesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		here, there := newHub(m, "here"), newHub(m, "there")
		stop := running(here, there)
		defer stop()
		install, hash := domain.NewMachineToken(domain.InstallTokenPrefix)
		m.installs[string(hash)] = domain.InstallToken{ProjectID: "p1", ExpiresAt: time.Now().Add(time.Hour)}
		old := dial(here, install, ours("m1"))
		before := old.next(t)
		again := dial(there, install, ours("m1"))
		again.next(t)
		m.do(func() { delete(m.tokens, string(domain.MachineTokenHash(before.AgentToken))) })
		if got := old.next(t); got.Type != agentwire.ErrorNotice {
			t.Errorf("the older stream is told %+v", got)
		}
		again.hangUp(t)
	})
}

// Messages of other parts reach an agent that is connected here.
func TestSend(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := newHub(m, "one")
	agent, token := m.agent(domain.Agent{})
	shell := agentwire.Message{Type: agentwire.OpenShell, SessionID: "s1", Cols: 80, Rows: 24}
	if err := h.Send(t.Context(), agent.ID, shell); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("to one that is away: %v", err)
	}
	l := dial(h, token, domain.AgentHello{})
	l.next(t)
	if err := h.Send(t.Context(), agent.ID, shell); err != nil {
		t.Error(err)
	}
	if got := l.next(t); got.SessionID != "s1" {
		t.Errorf("it gets %+v", got)
	}
	l.hangUp(t)
}

// A thousand agents that connect at once are all let in, and the database sees few at a time.
func TestReconnectStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.pause = 2 * time.Millisecond
		h := newHub(m, "one")
		const agents = 1000
		lines := make([]*line, agents)
		ids := make([]string, agents)
		begun := time.Now()
		for i := range lines {
			agent, token := m.agent(domain.Agent{})
			ids[i] = agent.ID
			m.commands[agent.ID] = domain.Command{CommandOrder: domain.CommandOrder{ID: agent.ID, AgentID: agent.ID}, Status: domain.CommandQueued}
			lines[i] = dial(h, token, ours(fmt.Sprint("m", i)))
		}
		for i, l := range lines {
			l.next(t)
			if got := l.next(t); got.RequestID != ids[i] {
				t.Errorf("agent %d gets %+v", i, got)
			}
		}
		took := time.Since(begun)
		for _, l := range lines {
			l.stop()
		}
		for _, l := range lines {
			<-l.over
		}
		if m.busiest > 8 {
			t.Errorf("%d calls at once", m.busiest)
		}
		t.Logf("%d agents were let in and served after %s, %d calls at once", agents, took, m.busiest)
	})
}

// What waits too long for the database is told to come again.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.pause = time.Minute
		h := newHub(m, "one", func(c *agenthub.Config) { c.Limit = 1 })
		agent, _ := m.agent(domain.Agent{})
		go func() { _ = h.Ping(context.Background(), agent) }()
		synctest.Wait()
		err := h.Ping(context.Background(), agent)
		var fault *domain.Error
		if !errors.As(err, &fault) || fault.Code != domain.CodeUnavailable || fault.Wait == 0 {
			t.Errorf("without room: %v", err)
		}
		time.Sleep(time.Minute)
	})
}

// Of a connected agent the hub itself keeps little.
func TestMemoryOfAConnection(t *testing.T) {
	m := newMemory()
	h := newHub(m, "one")
	const agents = 500
	lines := make([]*line, 0, agents)
	before := memoryInUse()
	for range agents {
		_, token := m.agent(domain.Agent{})
		l := dial(h, token, ours("m"))
		l.next(t)
		lines = append(lines, l)
	}
	each := (memoryInUse() - before) / agents
	for _, l := range lines {
		l.hangUp(t)
	}
	// The channel of each line of this test takes a good part of it.
	if each > 50<<10 {
		t.Errorf("a connected agent takes %d bytes", each)
	}
	t.Logf("%d bytes for each agent, with what the test itself keeps", each)
}

func memoryInUse() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapInuse + s.StackInuse)
}
