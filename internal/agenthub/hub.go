package agenthub

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// lookEvery is how often the database is asked about all connections at once: a hint may be
	// lost.
	lookEvery = 5 * time.Second
	// quietLimit is when an agent that pings every 30 s counts as dead. With lookEvery it is
	// noticed within agentwire.DeadAfter.
	quietLimit = agentwire.DeadAfter - lookEvery
	// plainGrace is how long behind its time limit the result of a command is waited for whose
	// agent keeps no journal.
	plainGrace = 30 * time.Second
	// defaultLimit bounds what agents make the database do at once: after a restart a thousand
	// of them connect in one second.
	defaultLimit = 8
	// patienceForRoom is how long a request waits for its turn.
	patienceForRoom = 15 * time.Second
	// closingLimit bounds what is done for a connection that has ended.
	closingLimit = 10 * time.Second
)

// Config is what a Hub needs.
type Config struct {
	Store    Store
	Secrets  Secrets
	Commands Commands
	// ProcessID names this process in the registry of processes.
	ProcessID string
	// Patience is how long behind its time limit the result of a command is waited for whose
	// agent keeps a journal.
	Patience time.Duration
	// PublicURL is where machines find this server; "" where that is not known.
	PublicURL string
	// BinaryPath is the agent's program, or a folder or pattern with one for each architecture.
	BinaryPath string
	Log        zerolog.Logger
	// Limit bounds what is asked of the database at once; 0: 8.
	Limit int
	// KeepAlive is the time between signs of life on a stream, and LookEvery that between looks
	// at the database; 0: what the wire says, and 5 s.
	KeepAlive, LookEvery time.Duration
}

// Hub has the agents that are connected to this process.
type Hub struct {
	Config
	room     chan struct{}
	binaries binaries
	turns    stripes

	mu   sync.Mutex
	open map[string]*connection // the newest of each agent here, by its id
}

// New builds a hub. Run must run beside it.
func New(cfg Config) *Hub {
	if cfg.Limit == 0 {
		cfg.Limit = defaultLimit
	}
	if cfg.KeepAlive == 0 {
		cfg.KeepAlive = agentwire.KeepAlive
	}
	if cfg.LookEvery == 0 {
		cfg.LookEvery = lookEvery
	}
	h := &Hub{Config: cfg, room: make(chan struct{}, cfg.Limit), open: map[string]*connection{}}
	h.binaries.path = cfg.BinaryPath
	cfg.Store.OnAgent(h.hint)
	return h
}

// Run keeps the connections alive and finds what hints have missed, until ctx ends.
func (h *Hub) Run(ctx context.Context) error {
	tick := time.NewTicker(h.LookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := h.look(ctx); err != nil && ctx.Err() == nil {
				h.Log.Warn().Err(err).Msg("agents_unwatched")
			}
		}
	}
}

// look asks the database about all connections, and wakes those that have something to do.
func (h *Hub) look(ctx context.Context) error {
	connections := h.connections()
	if len(connections) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closingLimit)
	defer cancel()
	pulses, err := h.Store.AgentPulses(ctx, h.ProcessID)
	if err != nil {
		return err
	}
	of := make(map[string]domain.AgentPulse, len(pulses))
	for _, p := range pulses {
		of[p.AgentID] = p
	}
	for _, c := range connections {
		switch p := of[c.AgentID]; { // none of one that is with another process, or gone
		case p.ConnectionID != c.ID:
			c.end(endLost)
		case min(p.Quiet, c.quiet()) > quietLimit:
			c.end(endQuiet)
		case p.Due:
			c.lookAgain()
		}
	}
	return nil
}

func (h *Hub) connections() []*connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*connection, 0, len(h.open))
	for _, c := range h.open {
		list = append(list, c)
	}
	return list
}

// connected gives the connection of an agent here; nil for none.
func (h *Hub) connected(agentID string) *connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open[agentID]
}

// hint is told that there is something to do for an agent, wherever it is connected.
func (h *Hub) hint(agentID string) {
	if c := h.connected(agentID); c != nil {
		c.lookAgain()
	}
}

// Forget ends the connection here of an agent that was removed; other processes find out.
func (h *Hub) Forget(agentID string) {
	if c := h.connected(agentID); c != nil {
		c.end(endLost)
	}
}

// Send sends a message to an agent that is connected to this process. Unavailable where it is
// not, or does not read what it is sent.
func (h *Hub) Send(_ context.Context, agentID string, m agentwire.Message) error {
	c := h.connected(agentID)
	if c == nil {
		return domain.Errorf(domain.CodeUnavailable, "the agent is not connected here; try again once it is online")
	}
	if !c.add(m) {
		return domain.Errorf(domain.CodeUnavailable, "the agent does not read what it is sent; try again")
	}
	return nil
}

// Connected reports whether an agent has its event stream with this process.
func (h *Hub) Connected(agentID string) bool { return h.connected(agentID) != nil }

// enter waits for room to ask the database for an agent, and gives what leaves it.
func (h *Hub) enter(ctx context.Context) (leave func(), err error) {
	select {
	case h.room <- struct{}{}:
		return func() { <-h.room }, nil
	default:
	}
	limit := time.NewTimer(patienceForRoom)
	defer limit.Stop()
	select {
	case h.room <- struct{}{}:
		return func() { <-h.room }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-limit.C:
		busy := domain.Errorf(domain.CodeUnavailable, "too many agents connect at once; try again")
		busy.Wait = 2 * time.Second
		return nil, busy
	}
}
