package api_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/domain"
)

// fakeSessions opens consoles that repeat what is typed, and tunnels that are connections to
// this machine.
type fakeSessions struct {
	mu      sync.Mutex
	orders  []domain.AgentSession
	away    bool
	dials   atomic.Int64
	claimed chan string
}

func newFakeSessions() *fakeSessions { return &fakeSessions{claimed: make(chan string, 8)} }

// opened counts the consoles that were asked for.
func (f *fakeSessions) opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.orders)
}

func (f *fakeSessions) Console(ctx context.Context, order domain.AgentSession, accept func() (*websocket.Conn, error)) (string, error) {
	f.mu.Lock()
	f.orders = append(f.orders, order)
	away := f.away
	f.mu.Unlock()
	if away {
		return "", domain.ErrAgentAway("box")
	}
	conn, err := accept()
	if err != nil {
		return "", err
	}
	defer conn.CloseNow()
	for {
		kind, data, err := conn.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return domain.PublicMessage(context.Cause(ctx)), nil
		case err != nil:
			return "the person closed it", nil
		}
		_ = conn.Write(ctx, kind, data)
	}
}

func (f *fakeSessions) Claim(ctx context.Context, agentID, id string, kind domain.SessionKind, accept func() (*websocket.Conn, error)) error {
	if agentID != "a1" || id != "s1" {
		return domain.NotFound("there is no such session")
	}
	conn, err := accept()
	if err != nil {
		return nil
	}
	defer conn.CloseNow()
	f.claimed <- string(kind)
	_, _, _ = conn.Read(ctx)
	return nil
}

func (f *fakeSessions) DialPort(ctx context.Context, agentID string, port int) (net.Conn, error) {
	f.mu.Lock()
	away := f.away
	f.mu.Unlock()
	if away {
		return nil, domain.ErrAgentAway("box")
	}
	f.dials.Add(1)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		return nil, domain.Wrap(domain.CodeUpstream, err, "nothing answers on port %d of box: connection refused", port)
	}
	return conn, nil
}

// fakeForwards keeps port forwards of the agent "a1" of p1 and of "b1" of p2.
type fakeForwards struct {
	mu       sync.Mutex
	forwards map[string]domain.PortForward
	made     int
}

func newFakeForwards() *fakeForwards {
	return &fakeForwards{forwards: map[string]domain.PortForward{}}
}

func (f *fakeForwards) AgentPlace(_ context.Context, id string) (string, string, error) {
	switch id {
	case "a1":
		return "p1", "box", nil
	case "b1":
		return "p2", "other", nil
	}
	return "", "", domain.NotFound("there is no agent %q", id)
}

func (f *fakeForwards) at(ctx context.Context, projectID, agentID string) error {
	if project, _, err := f.AgentPlace(ctx, agentID); err != nil || project != projectID {
		return domain.NotFound("there is no agent %q", agentID)
	}
	return nil
}

func (f *fakeForwards) PortForwards(ctx context.Context, projectID, agentID string) (list []domain.PortForward, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, forward := range f.forwards {
		if forward.AgentID == agentID {
			list = append(list, forward)
		}
	}
	return list, f.at(ctx, projectID, agentID)
}

func (f *fakeForwards) CreatePortForward(ctx context.Context, forward domain.PortForward, _ domain.Author) (domain.PortForward, error) {
	if err := f.at(ctx, forward.ProjectID, forward.AgentID); err != nil {
		return forward, err
	}
	if _, err := f.Forwarded(ctx, forward.AgentID, forward.RouteName); err == nil {
		return forward, domain.Errorf(domain.CodeConflict, "the machine has a port forward %q already", forward.RouteName)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made++
	forward.ID, forward.CreatedAt, forward.UpdatedAt, forward.Hostname = fmt.Sprint("f", f.made), day, day, "box"
	f.forwards[forward.ID] = forward
	return forward, nil
}

func (f *fakeForwards) UpdatePortForward(ctx context.Context, at domain.PortForward, change domain.PortForwardChange) (domain.PortForward, error) {
	if err := change.Check(); err != nil {
		return at, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	forward, ok := f.forwards[at.ID]
	if !ok || forward.AgentID != at.AgentID || f.at(ctx, at.ProjectID, at.AgentID) != nil {
		return at, domain.NotFound("there is no port forward %q", at.ID)
	}
	if change.Port != nil {
		forward.Port = *change.Port
	}
	if change.RouteName != nil {
		forward.RouteName = *change.RouteName
	}
	f.forwards[at.ID] = forward
	return forward, nil
}

func (f *fakeForwards) DeletePortForward(ctx context.Context, projectID, agentID, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if forward, ok := f.forwards[id]; !ok || forward.AgentID != agentID || f.at(ctx, projectID, agentID) != nil {
		return domain.NotFound("there is no port forward %q", id)
	}
	delete(f.forwards, id)
	return nil
}

func (f *fakeForwards) Forwarded(_ context.Context, agentID, name string) (domain.PortForward, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, forward := range f.forwards {
		if forward.AgentID == agentID && forward.RouteName == name {
			return forward, nil
		}
	}
	return domain.PortForward{}, domain.NotFound("the machine has no port forward %q", name)
}

// Nobody visits these on host names of their own; the tests of that have the real store.
func (f *fakeForwards) NewForwardTicket(context.Context, []byte, string, string, []byte, time.Duration) error {
	return domain.Errorf(domain.CodeUnauthorized, "the session has ended")
}

func (f *fakeForwards) TakeForwardTicket(context.Context, string, []byte, []byte, time.Duration) error {
	return domain.Errorf(domain.CodeUnauthorized, "there is no such ticket")
}

func (f *fakeForwards) ForwardVisit(context.Context, string, []byte) (domain.PortForward, domain.Actor, error) {
	return domain.PortForward{}, domain.Actor{}, domain.Errorf(domain.CodeUnauthorized, "there is no such visit")
}
