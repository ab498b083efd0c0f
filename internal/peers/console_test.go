package peers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/peers"
)

// The person, the agent's event stream and the agent's end of the console may each be at any
// process.
func TestConsoleAcrossProcesses(t *testing.T) {
	t.Parallel()
	on := newShared()
	all := []*process{newProcess(t, on, "a", peers.Limits{}), newProcess(t, on, "b", peers.Limits{}), newProcess(t, on, "c", peers.Limits{})}
	for i, person := range all {
		for j, stream := range all {
			for k, claim := range all {
				agent := fmt.Sprint("agent", i, j, k)
				connect(on, stream, agent, shell(t, claim, agent))
				conn := dial(t, person, agent)
				want(t, conn, `{"type":"ready"}`, "80x24")
				write(t, conn, websocket.MessageBinary, "ls\n")
				want(t, conn, "ls\n")
				write(t, conn, websocket.MessageText, `{"type":"resize","cols":120,"rows":40}`)
				want(t, conn, "size 120x40")
				write(t, conn, websocket.MessageText, `{"type":"resize","cols":-1,"rows":40}`)
				write(t, conn, websocket.MessageText, `{"type":"run","message":"rm"}`)
				write(t, conn, websocket.MessageText, `what is this`)
				write(t, conn, websocket.MessageBinary, "\x00\xff")
				want(t, conn, "\x00\xff")
				write(t, conn, websocket.MessageBinary, "exit 3")
				want(t, conn, `{"type":"exited","code":3}`)
				if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
					t.Errorf("%s: it ends with %v", agent, err)
				}
				if got := reason(t, person); got != "the shell ended with exit code 3" {
					t.Errorf("%s: it ended because %s", agent, got)
				}
			}
		}
	}
	if n := on.open(); n != 0 {
		t.Errorf("%d rows stay", n)
	}
}

// A session is claimed by its agent alone, as what it is, once, and in time.
func TestClaims(t *testing.T) {
	t.Parallel()
	on := newShared()
	home, other := newProcess(t, on, "a", peers.Limits{Claim: time.Second}), newProcess(t, on, "b", peers.Limits{Claim: time.Second})
	told := make(chan agentwire.Message, 1)
	connect(on, other, "agent", func(m agentwire.Message) { told <- m })
	refused := func(what string, at *process, agent string, kind domain.SessionKind, sid string) {
		t.Helper()
		if _, status, err := claimAt(t.Context(), at, agent, kind, sid); err == nil || status != http.StatusNotFound {
			t.Errorf("%s: %d, %v", what, status, err)
		}
	}
	conn := dial(t, home, "agent")
	m := <-told
	if m.Type != agentwire.OpenShell || len(m.SessionID) < 26 || m.Cols != 80 || m.Rows != 24 {
		t.Errorf("told %+v", m)
	}
	refused("another agent", home, "stranger", domain.ConsoleSession, m.SessionID)
	refused("as a tunnel", home, "agent", domain.TunnelSession, m.SessionID)
	refused("unknown", home, "agent", domain.ConsoleSession, "unknown")
	mine, _, err := claimAt(t.Context(), other, "agent", domain.ConsoleSession, m.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.CloseNow()
	refused("twice", home, "agent", domain.ConsoleSession, m.SessionID)
	refused("twice, elsewhere", other, "agent", domain.ConsoleSession, m.SessionID)
	write(t, mine, websocket.MessageBinary, "hello")
	want(t, conn, "hello")

	late := dial(t, home, "agent")
	m = <-told
	if got := read(t, late); !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, "did not connect within 1s") {
		t.Errorf("a claim that does not come is told as %s", got)
	}
	refused("late", home, "agent", domain.ConsoleSession, m.SessionID)
}

// What is wrong before the console opens is an answer of HTTP.
func TestConsoleRefused(t *testing.T) {
	t.Parallel()
	on := newShared()
	home, gone := newProcess(t, on, "a", peers.Limits{}), newProcess(t, on, "b", peers.Limits{})
	connect(on, gone, "cut", func(agentwire.Message) {})
	connect(on, home, "left", nil)
	gone.kill()
	for agent, status := range map[string]int{"nobody": 404, "away": 502, "left": 502, "cut": 502} {
		_, resp, err := websocket.Dial(t.Context(), home.url+"/console/"+agent, nil)
		if err == nil || resp == nil || resp.StatusCode != status {
			t.Errorf("%s: %v, %v", agent, resp, err)
		}
		reason(t, home)
	}
	if n := on.open(); n != 0 {
		t.Errorf("%d rows stay", n)
	}
}

// However a console ends, both ends hear of it, and the reason is known.
func TestConsoleEnds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		limits peers.Limits
		do     func(on *shared, person, agent *websocket.Conn, home, relay *process)
		told   string // to the person; "" where they have left
		reason string
	}{
		"the person leaves": {
			do: func(_ *shared, person, _ *websocket.Conn, _, _ *process) {
				_ = person.Close(websocket.StatusGoingAway, "")
			},
			reason: "the person closed it",
		},
		"the person is cut off": {
			do:     func(_ *shared, person, _ *websocket.Conn, _, _ *process) { _ = person.CloseNow() },
			reason: "the person's connection was lost",
		},
		"the agent closes": {
			do: func(_ *shared, _, agent *websocket.Conn, _, _ *process) {
				_ = agent.Close(websocket.StatusNormalClosure, "")
			},
			told: "the connection to host-of-agent was cut off; the shell is ended with all that ran in it, so open a new console", reason: "the agent closed it",
		},
		"the agent is cut off": {
			do:   func(_ *shared, _, agent *websocket.Conn, _, _ *process) { _ = agent.CloseNow() },
			told: "the connection to host-of-agent was cut off; the shell is ended with all that ran in it, so open a new console", reason: "the agent's connection was lost",
		},
		"the relay dies": {
			do:   func(_ *shared, _, _ *websocket.Conn, _, relay *process) { relay.kill() },
			told: "the connection to host-of-agent was cut off; the shell is ended with all that ran in it, so open a new console", reason: "the agent's connection was lost",
		},
		"the agent is removed": {
			limits: peers.Limits{Look: 20 * time.Millisecond},
			do: func(on *shared, _, _ *websocket.Conn, _, _ *process) {
				on.mu.Lock()
				clear(on.sessions)
				on.mu.Unlock()
			},
			told: "the machine was removed", reason: "the machine was removed",
		},
		"nothing moves": {
			limits: peers.Limits{ConsoleIdle: 100 * time.Millisecond},
			do:     func(*shared, *websocket.Conn, *websocket.Conn, *process, *process) {},
			told:   "nothing was typed or shown for too long", reason: "nothing was typed or shown for too long",
		},
		"it is too long": {
			limits: peers.Limits{ConsoleMax: 2 * time.Second},
			do:     func(*shared, *websocket.Conn, *websocket.Conn, *process, *process) {},
			told:   "the console was open for as long as one may be", reason: "the console was open for as long as one may be",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := newShared()
			home, relay := newProcess(t, on, "a", c.limits), newProcess(t, on, "b", c.limits)
			claimed := make(chan *websocket.Conn, 1)
			connect(on, relay, "agent", func(m agentwire.Message) {
				conn, _, err := claimAt(context.Background(), relay, "agent", domain.ConsoleSession, m.SessionID)
				if err != nil {
					t.Errorf("claim: %v", err)
				}
				claimed <- conn
			})
			person := dial(t, home, "agent")
			agent := <-claimed
			defer agent.CloseNow()
			if c.limits == (peers.Limits{}) { // else it may be over by then
				write(t, agent, websocket.MessageBinary, "$ ")
				want(t, person, "$ ")
			}
			left := make(chan error, 1)
			go func() {
				_, _, err := agent.Read(context.Background())
				left <- err
			}()
			c.do(on, person, agent, home, relay)
			if c.told != "" {
				if got := read(t, person); got != fmt.Sprintf(`{"type":"error","message":%q}`, c.told) {
					t.Errorf("the person is told %s", got)
				}
			}
			if got := reason(t, home); got != c.reason {
				t.Errorf("it ended because %s", got)
			}
			select {
			case <-left:
			case <-time.After(patience):
				t.Error("the agent's end stays open")
			}
			eventually(t, "the row goes", func() bool { return on.open() == 0 })
		})
	}
}

// A console is idle since the last byte, and not since it was opened.
func TestConsoleIsIdleSinceTheLastByte(t *testing.T) {
	t.Parallel()
	// On a busy machine what is typed may come too late: then it gets more time.
	for idle := 500 * time.Millisecond; ; idle *= 2 {
		on := newShared()
		home := newProcess(t, on, "a", peers.Limits{ConsoleIdle: idle})
		connect(on, home, "agent", func(m agentwire.Message) {
			conn, _, err := claimAt(context.Background(), home, "agent", domain.ConsoleSession, m.SessionID)
			if err != nil {
				return
			}
			defer conn.CloseNow()
			for err == nil {
				_, _, err = conn.Read(context.Background())
			}
		})
		person := dial(t, home, "agent")
		<-time.After(idle * 6 / 10)
		last := time.Now()
		_ = person.Write(context.Background(), websocket.MessageBinary, []byte("x")) // it may be over
		read(t, person)
		if took := time.Since(last); took >= idle {
			return
		}
		if idle > 10*time.Second {
			t.Fatal("it ends though something was typed")
		}
	}
}
