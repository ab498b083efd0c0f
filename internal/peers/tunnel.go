package peers

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// DialPort connects to a port of a machine, on its loopback interface, by a tunnel to its agent:
// upstream where the machine is away, or nothing answers on the port. ctx bounds the connecting
// alone.
func (s *Sessions) DialPort(ctx context.Context, agentID string, port int) (net.Conn, error) {
	session, err := s.start(ctx, domain.AgentSession{AgentID: agentID, Kind: domain.TunnelSession, Port: port})
	if err != nil {
		return nil, err
	}
	conn, err := session.await(ctx)
	if err != nil {
		session.end()
		return nil, err
	}
	// The connection lives on when ctx ends, but its beginning does not.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	keep := context.AfterFunc(ctx, cancel)
	limit := time.AfterFunc(s.limits.Claim, cancel)
	err = connected(life, conn, session.hostname, port)
	limit.Stop()
	if !keep() && err == nil {
		err = context.Cause(ctx)
	}
	s.forget(session.ID) // it is claimed, and nobody else's
	if err != nil {
		_ = conn.CloseNow()
		cancel()
		close(session.over)
		return nil, err
	}
	t := &tunnel{end: newEnd(conn), Conn: websocket.NetConn(life, conn, websocket.MessageBinary), cancel: cancel, over: session.over}
	t.alive.Go(func() {
		if t.stayAlive(life, s.limits.Silence, s.agentDead(agentID)) != nil && life.Err() == nil {
			_ = conn.CloseNow()
		}
	})
	return t, nil
}

// connected waits for the agent to say that it has reached the port.
func connected(ctx context.Context, conn *websocket.Conn, hostname string, port int) error {
	conn.SetReadLimit(agentwire.MaxFrame)
	kind, text, err := conn.Read(ctx)
	if err != nil {
		return domain.Wrap(domain.CodeUpstream, err, "the tunnel to %s broke off as it began; try again", hostname)
	}
	var frame agentwire.Frame
	if kind != websocket.MessageText || json.Unmarshal(text, &frame) != nil {
		return domain.Errorf(domain.CodeUpstream, "the agent on %s does not speak as it should; update it", hostname)
	}
	switch frame.Type {
	case agentwire.Connected:
		return nil
	case agentwire.FrameError:
		return domain.Errorf(domain.CodeUpstream, "nothing answers on port %d of %s: %s", port, hostname, domain.CleanText(frame.Message))
	}
	return domain.Errorf(domain.CodeUpstream, "the agent on %s does not speak as it should; update it", hostname)
}

// tunnel is a connection to a port of a machine.
type tunnel struct {
	net.Conn
	*end
	cancel context.CancelFunc
	over   chan struct{}
	alive  sync.WaitGroup
	closed sync.Once
}

// Read implements net.Conn.
func (t *tunnel) Read(p []byte) (int, error) {
	t.reading.Store(true)
	defer t.end.read()
	return t.Conn.Read(p)
}

// Write sends frames of the size that agents take.
func (t *tunnel) Write(p []byte) (sent int, err error) {
	t.writing.Store(true)
	defer t.writing.Store(false)
	for len(p) > 0 && err == nil {
		var n int
		n, err = t.Conn.Write(p[:min(len(p), agentwire.MaxFrame)])
		p, sent = p[n:], sent+n
	}
	return sent, err
}

// Close ends the tunnel. The agent closes its connection to the port then.
func (t *tunnel) Close() error {
	err := net.ErrClosed
	t.closed.Do(func() {
		err = t.Conn.Close()
		t.cancel()
		close(t.over)
		t.alive.Wait()
	})
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
