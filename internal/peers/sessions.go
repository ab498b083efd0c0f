package peers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// Store keeps sessions, and knows which process has what.
type Store interface {
	// AgentPlace gives the project and the host name of an agent, or not_found.
	AgentPlace(ctx context.Context, agentID string) (projectID, hostname string, err error)
	// AgentHome gives the process that has an agent's event stream, or not_found.
	AgentHome(ctx context.Context, agentID string) (domain.Process, error)
	// Process gives a process that runs, or not_found.
	Process(ctx context.Context, id string) (domain.Process, error)
	// OpenSession keeps a session for its agent to claim.
	OpenSession(ctx context.Context, a domain.AgentSession) error
	// ClaimSession gives an agent its session, once, or not_found.
	ClaimSession(ctx context.Context, agentID, id string, kind domain.SessionKind, within time.Duration) (domain.AgentSession, error)
	// SessionStands reports whether a session is open still.
	SessionStands(ctx context.Context, id string) (bool, error)
	// CloseSession forgets a session.
	CloseSession(ctx context.Context, id string) error
}

// Local sends messages to the agents whose event streams this process has.
type Local interface {
	// Send gives unavailable for an agent that is not connected here, or does not read.
	Send(ctx context.Context, agentID string, message agentwire.Message) error
}

// Limits bound sessions. What is zero is the default.
type Limits struct {
	Claim       time.Duration // for an agent to claim a session
	ConsoleIdle time.Duration // without a byte from either end
	ConsoleMax  time.Duration // in all
	Silence     time.Duration // after which an end that says nothing is asked for a sign of life
	Look        time.Duration // between looks whether a console's agent is still there
}

// The defaults of Limits.
const (
	DefaultConsoleIdle = 30 * time.Minute
	DefaultConsoleMax  = 12 * time.Hour
	defaultSilence     = 20 * time.Second
	defaultLook        = 15 * time.Second
	closeLimit         = 5 * time.Second // for what is told at the end
)

// Sessions carries consoles and tunnels between people and agents, wherever each is connected.
type Sessions struct {
	self   string // the id of this process
	store  Store
	local  Local
	log    zerolog.Logger
	limits Limits
	peers  callers

	mu      sync.Mutex
	waiting map[string]*waiter
	open    sync.WaitGroup // consoles and relays
}

// Config is all that Sessions need.
type Config struct {
	ProcessID string
	Store     Store
	Local     Local
	Log       zerolog.Logger
	Limits    Limits
}

// New gives the sessions of a process. Close them in the end.
func New(c Config) *Sessions {
	fill := func(limit *time.Duration, otherwise time.Duration) {
		if *limit == 0 {
			*limit = otherwise
		}
	}
	fill(&c.Limits.Claim, agentwire.ClaimWithin)
	fill(&c.Limits.ConsoleIdle, DefaultConsoleIdle)
	fill(&c.Limits.ConsoleMax, DefaultConsoleMax)
	fill(&c.Limits.Silence, defaultSilence)
	fill(&c.Limits.Look, defaultLook)
	return &Sessions{
		self: c.ProcessID, store: c.Store, local: c.Local, log: c.Log, limits: c.Limits, waiting: map[string]*waiter{},
	}
}

// Close frees the connections to other processes, once the sessions have ended: those of people
// end with their requests.
func (s *Sessions) Close() {
	s.open.Wait()
	s.peers.close()
}

// waiter is a session of this process that its agent has not reached yet.
type waiter struct {
	conn chan *websocket.Conn // room for one
	over chan struct{}        // closed as the session ends
}

// give hands over what the agent sends; nil where its connection failed.
func (w *waiter) give(conn *websocket.Conn) { w.conn <- conn }

// take gives a session to who has its agent's connection, once; nil where none waits.
func (s *Sessions) take(id string) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[id]
	delete(s.waiting, id)
	return w
}

// opened is a session that its agent was told of.
type opened struct {
	domain.AgentSession
	*waiter
	sessions *Sessions
	hostname string
}

// start keeps a session and tells the agent to claim it.
func (s *Sessions) start(ctx context.Context, o domain.AgentSession) (*opened, error) {
	_, hostname, err := s.store.AgentPlace(ctx, o.AgentID)
	if err != nil {
		return nil, err
	}
	home, err := s.homeOf(ctx, o.AgentID, hostname)
	if err != nil {
		return nil, err
	}
	o.ID, o.ProcessID = domain.NewSessionID(), s.self
	if err := s.store.OpenSession(ctx, o); err != nil {
		return nil, err
	}
	session := &opened{o, &waiter{make(chan *websocket.Conn, 1), make(chan struct{})}, s, hostname}
	s.mu.Lock()
	s.waiting[o.ID] = session.waiter
	s.mu.Unlock()
	if err := s.tell(ctx, home, session); err != nil {
		session.end()
		return nil, err
	}
	return session, nil
}

func (s *Sessions) homeOf(ctx context.Context, agentID, hostname string) (domain.Process, error) {
	home, err := s.store.AgentHome(ctx, agentID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return home, domain.ErrAgentAway(hostname)
	}
	return home, err
}

// tell sends the agent what it is to open. One that has moved to another process meanwhile is
// looked up again, once.
func (s *Sessions) tell(ctx context.Context, home domain.Process, o *opened) error {
	message := agentwire.Message{Type: agentwire.OpenTunnel, SessionID: o.ID, Port: o.Port}
	if o.Kind == domain.ConsoleSession {
		message = agentwire.Message{Type: agentwire.OpenShell, SessionID: o.ID, Cols: o.Cols, Rows: o.Rows}
	}
	err := s.send(ctx, home, o.AgentID, message)
	if errors.Is(err, errNotThere) {
		if home, err = s.homeOf(ctx, o.AgentID, o.hostname); err != nil {
			return err
		}
		err = s.send(ctx, home, o.AgentID, message)
	}
	if errors.Is(err, errNotThere) {
		return domain.ErrAgentAway(o.hostname)
	}
	return err
}

// errNotThere says that the process which was to have an agent does not have it.
var errNotThere = errors.New("the agent is not connected to that process")

func (s *Sessions) send(ctx context.Context, home domain.Process, agentID string, message agentwire.Message) error {
	switch {
	case home.ID == s.self:
		err := s.local.Send(ctx, agentID, message)
		if domain.CodeOf(err) == domain.CodeUnavailable {
			return errNotThere
		}
		return err
	case home.Peer.Address == "":
		return errNotThere
	}
	return s.peers.tell(ctx, home, agentID, message)
}

// await gives the connection of the agent once it has claimed the session.
func (o *opened) await(ctx context.Context) (*websocket.Conn, error) {
	within := time.NewTimer(o.sessions.limits.Claim)
	defer within.Stop()
	select {
	case conn := <-o.conn:
		if conn == nil {
			return nil, domain.Errorf(domain.CodeUpstream, "the connection from %s failed as it began; try again", o.hostname)
		}
		return conn, nil
	case <-within.C:
		return nil, domain.Errorf(domain.CodeUpstream, "%s was told, but did not connect within %s; look at the log of harvest-agent there", o.hostname, o.sessions.limits.Claim)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// end forgets the session. Whoever has the agent's connection closes it then.
func (o *opened) end() {
	s := o.sessions
	s.take(o.ID)
	close(o.over)
	s.forget(o.ID)
}

// forget removes the row of a session. One that stays is dropped with those of dead processes.
func (s *Sessions) forget(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := s.store.CloseSession(ctx, id); err != nil {
		s.log.Warn().Err(err).Msg("session_row_kept")
	}
}
