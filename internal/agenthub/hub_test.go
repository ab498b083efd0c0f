package agenthub_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
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
	r := newRig(t)
	install := r.installs(time.Hour)
	first := dial(t, r.Hub, install, ours("m1"))
	hi := first.next()
	if hi.Type != agentwire.Registered || !strings.HasPrefix(hi.AgentToken, domain.AgentTokenPrefix) || hi.AgentID == "" {
		t.Fatalf("a new machine is greeted with %+v", hi)
	}
	first.hangUp()
	again := dial(t, r.Hub, install, ours("m1")) // the greeting was lost
	if second := again.next(); second.AgentID != hi.AgentID || second.AgentToken == hi.AgentToken {
		t.Errorf("the same machine is %+v, was %+v", second, hi)
	}
	again.hangUp()
	back := dial(t, r.Hub, hi.AgentToken, ours("m1"))
	if m := back.next(); m.Type != agentwire.HelloAck || m.AgentID != hi.AgentID || m.AgentToken != "" {
		t.Errorf("a known machine is greeted with %+v", m)
	}
}

// Who has no token that is good, or another machine's, is refused before the stream begins.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, token := r.m.agent(domain.Agent{Machine: "m1"})
	expired := r.installs(-time.Second)
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
		l := dial(t, r.Hub, c.token, c.hello)
		if err := <-l.over; domain.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	connect(t, r.Hub, token, domain.AgentHello{}) // a plain agent, which names no machine
}

// The newest connection of an agent wins: on the same process at once, on another with its
// next look.
func TestNewestConnectionWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := pair(t)
		first := here.connect(domain.AgentHello{})
		second := here.connect(domain.AgentHello{})
		if notice := first.next(); notice.Type != agentwire.ErrorNotice || !strings.Contains(notice.Message, "has connected again") {
			t.Errorf("the older one is told %+v", notice)
		}
		if err := <-first.over; err != nil {
			t.Error(err)
		}
		third := connect(t, there, here.token, domain.AgentHello{})
		if notice := second.next(); notice.Type != agentwire.ErrorNotice || !strings.Contains(notice.Message, "has connected elsewhere") {
			t.Errorf("the one elsewhere is told %+v", notice)
		}
		here.order("c1", true)
		if got := third.next(); got.RequestID != "c1" {
			t.Errorf("the newest gets %+v", got)
		}
		third.hangUp()
		if len(here.m.current) != 0 {
			t.Errorf("connections stay: %+v", here.m.current)
		}
	})
}

// A sign of life comes every 25 seconds.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := r.connect(domain.AgentHello{})
		begun := time.Now()
		for i := range 3 {
			if m := <-l.messages; m.Type != "" || time.Since(begun) != time.Duration(i+1)*agentwire.KeepAlive {
				t.Errorf("after %s comes %+v", time.Since(begun), m)
			}
		}
	})
}

// An agent that goes silent is noticed within 45 seconds; one that pings, whichever process
// that reaches, stays.
func TestSilentAgentsAreNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := pair(t)
		alive, lively := here.m.agent(domain.Agent{})
		dead := here.connect(domain.AgentHello{})
		connect(t, here.Hub, lively, domain.AgentHello{})
		begun := time.Now()
		go func() {
			for range 4 {
				time.Sleep(agentwire.PingEvery)
				if err := there.Ping(context.Background(), alive); err != nil {
					t.Error(err)
				}
			}
		}()
		if notice := dead.next(); notice.Type != agentwire.ErrorNotice || !strings.Contains(notice.Message, "nothing was heard") || time.Since(begun) > agentwire.DeadAfter {
			t.Errorf("after %s it is told %+v", time.Since(begun), notice)
		}
		if took := time.Since(begun); took < agentwire.PingEvery {
			t.Errorf("it was given up after %s, before its next ping", took)
		}
		time.Sleep(2 * agentwire.DeadAfter)
		if !here.Connected(alive.ID) {
			t.Error("the one that pings was given up")
		}
	})
}

// An agent that was removed is told to go, at once where it was removed here.
func TestRemovedAgentUninstalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, told := range []bool{true, false} {
			r := newRig(t)
			r.run()
			l := r.connect(ours("m"))
			r.m.remove(r.agent.ID)
			begun := time.Now()
			if told {
				r.Forget(r.agent.ID)
			}
			if got := l.next(); got.Type != agentwire.Uninstall {
				t.Errorf("a removed agent is told %+v", got)
			}
			if took := time.Since(begun); told && took != 0 {
				t.Errorf("it is told after %s", took)
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
		here, there := pair(t)
		install := here.installs(time.Hour)
		old := dial(t, here.Hub, install, ours("m1"))
		before := old.next()
		connect(t, there, install, ours("m1"))
		here.m.do(func() { delete(here.m.tokens, string(domain.MachineTokenHash(before.AgentToken))) })
		if got := old.next(); got.Type != agentwire.ErrorNotice {
			t.Errorf("the older stream is told %+v", got)
		}
	})
}

// Messages of other parts reach an agent that is connected here.
func TestSend(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	shell := agentwire.Message{Type: agentwire.OpenShell, SessionID: "s1", Cols: 80, Rows: 24}
	if err := r.Send(t.Context(), r.agent.ID, shell); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("to one that is away: %v", err)
	}
	l := r.connect(domain.AgentHello{})
	if err := r.Send(t.Context(), r.agent.ID, shell); err != nil {
		t.Error(err)
	}
	if got := l.next(); got.SessionID != "s1" {
		t.Errorf("it gets %+v", got)
	}
}

// A thousand agents that connect at once are all let in, and the database sees few at a time.
func TestReconnectStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.m.pause = 2 * time.Millisecond
		const agents = 1000
		lines := make([]*line, agents)
		ids := make([]string, agents)
		begun := time.Now()
		for i := range lines {
			agent, token := r.m.agent(domain.Agent{})
			ids[i] = agent.ID
			r.m.commands[agent.ID] = domain.Command{CommandOrder: domain.CommandOrder{ID: agent.ID, AgentID: agent.ID}, Status: domain.CommandQueued}
			lines[i] = dial(t, r.Hub, token, ours(fmt.Sprint("m", i)))
		}
		for i, l := range lines {
			l.next()
			if got := l.next(); got.RequestID != ids[i] {
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
		if r.m.busiest > 8 {
			t.Errorf("%d calls at once", r.m.busiest)
		}
		t.Logf("%d agents were let in and served after %s, %d calls at once", agents, took, r.m.busiest)
	})
}

// What waits too long for the database is told to come again.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *agenthub.Config) { c.Limit = 1 })
		r.m.pause = time.Minute
		go func() { _ = r.Ping(context.Background(), r.agent) }()
		synctest.Wait()
		err := r.Ping(context.Background(), r.agent)
		var fault *domain.Error
		if !errors.As(err, &fault) || fault.Code != domain.CodeUnavailable || fault.Wait == 0 {
			t.Errorf("without room: %v", err)
		}
		time.Sleep(time.Minute)
	})
}

// Of a connected agent the hub itself keeps little.
func TestMemoryOfAConnection(t *testing.T) {
	r := newRig(t)
	const agents = 500
	lines := make([]*line, 0, agents)
	before := memoryInUse()
	for range agents {
		_, token := r.m.agent(domain.Agent{})
		lines = append(lines, connect(t, r.Hub, token, ours("m")))
	}
	each := (memoryInUse() - before) / agents
	for _, l := range lines {
		l.hangUp()
	}
	// The channel of each line of this test takes a good part of it.
	if each > 50<<10 {
		t.Errorf("a connected agent takes %d bytes", each)
	}
	t.Logf("%d bytes for each agent, with what the test itself keeps", each)
}

// A thousand agents that come and go again and again leave nothing behind.
func TestComingAndGoing(t *testing.T) {
	m := newMemory()
	h := newHub(m, "one")
	const agents, rounds = 1000, 20
	ids, tokens := make([]string, agents), make([]string, agents)
	for i := range ids {
		agent, token := m.agent(domain.Agent{})
		ids[i], tokens[i] = agent.ID, token
	}
	var memory int64
	var running int
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			lines := make([]*line, agents)
			for i, token := range tokens {
				lines[i] = dial(t, h, token, ours(fmt.Sprint("m", i)))
			}
			for _, l := range lines {
				l.next()
			}
			for _, l := range lines {
				l.hangUp()
			}
		})
		if round == 1 { // what is kept for good is there
			memory, running = memoryInUse(), runtime.NumGoroutine()
		}
	}
	if grown := memoryInUse() - memory; grown > 4<<20 {
		t.Errorf("it grew by %d bytes", grown)
	}
	if now := runtime.NumGoroutine(); now > running+20 {
		t.Errorf("%d goroutines run, and %d did at first", now, running)
	}
	for _, id := range ids {
		if h.Connected(id) {
			t.Fatalf("%s is still connected", id)
		}
	}
}

func memoryInUse() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapInuse + s.StackInuse)
}
