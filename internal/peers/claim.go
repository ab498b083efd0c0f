package peers

import (
	"context"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/domain"
)

var errNobodyWaits = domain.NotFound("nobody waits for this session any more")

// Claim takes an agent's end of a session, which is at home here or at another process. Once it
// is sure that somebody waits for it, accept is called for the agent's connection; what is wrong
// before that is an error: not_found for a session that is not the agent's to claim, late or
// claimed already. It returns as the session ends.
func (s *Sessions) Claim(ctx context.Context, agentID, id string, kind domain.SessionKind, accept func() (*websocket.Conn, error)) error {
	session, err := s.store.ClaimSession(ctx, agentID, id, kind, s.limits.Claim)
	if err != nil {
		return err
	}
	if session.ProcessID == s.self {
		return s.claimHere(ctx, id, accept)
	}
	home, err := s.store.Process(ctx, session.ProcessID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return errNobodyWaits
	}
	if err != nil {
		return err
	}
	far, err := s.peers.attach(ctx, home, id)
	if err != nil {
		return err
	}
	near, err := accept()
	if err != nil {
		_ = far.CloseNow()
		return nil // accept has answered
	}
	s.open.Add(1)
	defer s.open.Done()
	s.relay(ctx, session, newEnd(near), newEnd(far))
	return nil
}

// agentDead reports whether an agent is connected nowhere any more.
func (s *Sessions) agentDead(agentID string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		_, err := s.store.AgentHome(ctx, agentID)
		return domain.CodeOf(err) == domain.CodeNotFound
	}
}

// processDead reports whether a process runs no more.
func (s *Sessions) processDead(id string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		_, err := s.store.Process(ctx, id)
		return domain.CodeOf(err) == domain.CodeNotFound
	}
}

func (s *Sessions) claimHere(ctx context.Context, id string, accept func() (*websocket.Conn, error)) error {
	waiting := s.take(id)
	if waiting == nil {
		return errNobodyWaits
	}
	conn, err := accept()
	waiting.give(conn)
	if err != nil {
		return nil // accept has answered
	}
	select {
	case <-waiting.over:
	case <-ctx.Done(): // the server stops
	}
	_ = conn.CloseNow() // where the session did not
	<-waiting.over
	return nil
}

// relay carries both ways, between an agent and the home of its session, until one end closes,
// and closes the other as that one did.
func (s *Sessions) relay(ctx context.Context, session domain.AgentSession, near, far *end) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := []func() error{
		func() error { return carry(ctx, near, far, passAll, nil) },
		func() error { return carry(ctx, far, near, passAll, nil) },
		func() error { return near.stayAlive(ctx, s.limits.Silence, s.agentDead(session.AgentID)) },
		func() error { return far.stayAlive(ctx, s.limits.Silence, s.processDead(session.ProcessID)) },
	}
	left := make(chan error, len(parts))
	for _, part := range parts {
		go func() { left <- part() }()
	}
	first := <-left
	closeBoth(near, far, codeOf(first))
	cancel()
	for range len(parts) - 1 {
		<-left
	}
}
