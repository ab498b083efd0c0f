package peers_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/peers"
)

// tunnels is an agent that opens tunnels, and counts them.
func tunnels(at *process, agent string, opened *atomic.Int64) func(agentwire.Message) {
	return func(m agentwire.Message) {
		ctx := context.Background()
		conn, _, err := claimAt(ctx, at, agent, domain.TunnelSession, m.SessionID)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		target, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", m.Port))
		if err != nil {
			_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"error","message":"connection refused"}`))
			_, _, _ = conn.Read(ctx)
			return
		}
		opened.Add(1)
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"connected"}`))
		stream := websocket.NetConn(ctx, conn, websocket.MessageBinary)
		var both sync.WaitGroup
		both.Go(func() { _, _ = io.Copy(target, stream); target.Close() })
		both.Go(func() { _, _ = io.Copy(stream, target); stream.Close() })
		both.Wait()
	}
}

// One tunnel takes one request after the other, at whichever processes its parts are.
func TestTunnels(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %d", r.URL.Path, len(body))
	}))
	t.Cleanup(target.Close)
	port := target.Listener.Addr().(*net.TCPAddr).Port
	on := newShared()
	a, b, c := newProcess(t, on, "a", peers.Limits{}), newProcess(t, on, "b", peers.Limits{}), newProcess(t, on, "c", peers.Limits{})
	for name, at := range map[string]*process{"all": a, "two": b, "three": c} {
		var opened atomic.Int64
		stream := at
		if name == "three" {
			stream = b
		}
		connect(on, stream, name, tunnels(at, name, &opened))
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return a.sessions.DialPort(ctx, name, port) }}
		client := &http.Client{Transport: transport}
		for i := range 20 {
			resp, err := client.Post(fmt.Sprint("http://target/", i), "text/plain", strings.NewReader(strings.Repeat("x", i*20_000)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(text) != fmt.Sprintf("/%d %d", i, i*20_000) {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		if n := opened.Load(); n != 1 {
			t.Errorf("%s: 20 requests took %d tunnels", name, n)
		}
		transport.CloseIdleConnections()
	}
	if n := on.open(); n != 0 {
		t.Errorf("%d rows stay", n)
	}
}

// What keeps a tunnel from opening is told.
func TestTunnelsRefused(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	on := newShared()
	p := newProcess(t, on, "a", peers.Limits{})
	var opened atomic.Int64
	connect(on, p, "agent", tunnels(p, "agent", &opened))
	for agent, says := range map[string]string{"agent": "connection refused", "away": "host-of-away is not connected", "nobody": "no agent"} {
		_, err := p.sessions.DialPort(t.Context(), agent, port)
		if err == nil || !strings.Contains(domain.PublicMessage(err), says) {
			t.Errorf("%s: %v", agent, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	connect(on, p, "slow", func(agentwire.Message) { cancel() })
	if _, err := p.sessions.DialPort(ctx, "slow", port); err == nil {
		t.Error("a tunnel opens for who has left")
	}
	eventually(t, "the rows go", func() bool { return on.open() == 0 })
}
