package peers_test

import (
	"bytes"
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/peers"
)

// An end that does not read holds up the one that writes: nothing gathers between them, the
// console stays open, and nothing is lost once it reads again.
func TestSlowReaders(t *testing.T) {
	const (
		much  = 64 << 20 // bytes, far more than the sockets on the way hold
		bound = 48 << 20
	)
	for name, fromAgent := range map[string]bool{"the person does not read": true, "the agent does not read": false} {
		t.Run(name, func(t *testing.T) {
			agent, person := newPair(t, peers.Limits{Silence: 50 * time.Millisecond})
			from, to := agent, person
			if !fromAgent {
				from, to = person, agent
			}
			var sent atomic.Int64
			before := heap()
			wrote := make(chan error, 1)
			go func() {
				piece := make([]byte, agentwire.MaxFrame)
				for i := range int64(much / len(piece)) {
					for n := range piece {
						piece[n] = byte(i)
					}
					if err := from.Write(context.Background(), websocket.MessageBinary, piece); err != nil {
						wrote <- err
						return
					}
					sent.Add(int64(len(piece)))
				}
				wrote <- nil
			}()
			held := stalled(&sent)
			if held > bound {
				t.Errorf("%d bytes were taken that nobody read", held)
			}
			if grown := heap() - before; grown > 16<<20 {
				t.Errorf("%d bytes more are in memory", grown)
			}
			expect, got := make([]byte, agentwire.MaxFrame), int64(0)
			for got < much {
				_, data, err := to.Read(context.Background())
				if err != nil {
					t.Fatalf("after %d bytes: %v", got, err)
				}
				for n := range data {
					expect[n] = byte((got + int64(n)) / agentwire.MaxFrame)
				}
				if !bytes.Equal(data, expect[:len(data)]) {
					t.Fatalf("other bytes come after %d", got)
				}
				got += int64(len(data))
			}
			if err := <-wrote; err != nil {
				t.Error(err)
			}
		})
	}
}

// stalled waits until a number no longer grows for a while, through several of the times at
// which ends are asked for a sign of life.
func stalled(n *atomic.Int64) int64 {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	last := int64(-1)
	for range tick.C {
		now := n.Load()
		if now == last {
			return now
		}
		last = now
	}
	return last
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// newPair gives the ends of a console whose person and agent are at different processes.
func newPair(t *testing.T, limits peers.Limits) (agent, person *websocket.Conn) {
	t.Helper()
	on := newShared()
	home, relay := newProcess(t, on, "a", limits), newProcess(t, on, "b", limits)
	claimed := make(chan *websocket.Conn, 1)
	connect(on, relay, "agent", func(m agentwire.Message) {
		conn, _, _ := claimAt(context.Background(), relay, "agent", domain.ConsoleSession, m.SessionID)
		claimed <- conn
	})
	person, agent = dial(t, home, "agent"), <-claimed
	t.Cleanup(func() { _ = agent.CloseNow() })
	return agent, person
}

// An end that takes its time with what it was sent is not taken for dead, however little that is.
func TestUnhurriedEnds(t *testing.T) {
	t.Parallel()
	limits := peers.Limits{Silence: 20 * time.Millisecond}
	agent, person := newPair(t, limits)
	for range 3 { // nobody reads for a while, of either end
		write(t, person, websocket.MessageBinary, "typed")
		write(t, agent, websocket.MessageBinary, "shown")
		<-time.After(10 * limits.Silence)
		want(t, person, "shown")
		want(t, agent, "typed")
	}
}

// An end that is connected still, but whose agent is gone, is noticed.
func TestSilentEnds(t *testing.T) {
	t.Parallel()
	on := newShared()
	home := newProcess(t, on, "a", peers.Limits{Silence: 100 * time.Millisecond})
	claimed := make(chan *websocket.Conn, 1)
	connect(on, home, "agent", func(m agentwire.Message) {
		conn, _, _ := claimAt(context.Background(), home, "agent", domain.ConsoleSession, m.SessionID)
		claimed <- conn // nobody reads it: it answers no ping
	})
	person := dial(t, home, "agent")
	agent := <-claimed
	defer agent.CloseNow()
	on.mu.Lock()
	delete(on.homes, "agent")
	on.mu.Unlock()
	want(t, person, `{"type":"error","message":"the connection to host-of-agent was cut off; the shell is ended with all that ran in it, so open a new console"}`)
	if got := reason(t, home); got != "the agent's connection was lost" {
		t.Errorf("it ended because %s", got)
	}
}
