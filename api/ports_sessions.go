package api

import (
	"context"
	"net"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Sessions carries consoles and tunnels between people and agents, whichever processes these
// are connected to; peers.Sessions does. In its methods accept is called for the caller's own
// connection once nothing more can be refused; errors before that are answered as any other.
type Sessions interface {
	// Console opens a shell on the agent of the order and carries until it ends, for the reason
	// that is given. Errors: not_found, and upstream where the machine is not connected.
	Console(ctx context.Context, order domain.AgentSession, accept func() (*websocket.Conn, error)) (reason string, err error)
	// Claim takes an agent's end of a session that it was told to open, and carries until that
	// ends: not_found for one that is not the agent's, or is claimed already, or too late.
	Claim(ctx context.Context, agentID, id string, kind domain.SessionKind, accept func() (*websocket.Conn, error)) error
	// DialPort connects to a port of a machine: upstream where the machine is away, or nothing
	// answers there. ctx bounds the connecting alone.
	DialPort(ctx context.Context, agentID string, port int) (net.Conn, error)
}

// Forwards keeps the names under which people reach ports of machines. Methods with a project
// give not_found for an agent, or a port forward, of another.
type Forwards interface {
	// AgentPlace gives the project and the host name of an agent, or not_found.
	AgentPlace(ctx context.Context, agentID string) (projectID, hostname string, err error)
	// PortForwards lists those of an agent by name.
	PortForwards(ctx context.Context, projectID, agentID string) ([]domain.PortForward, error)
	// CreatePortForward keeps one of f.ProjectID's agent: invalid, or a conflict where its name
	// is taken.
	CreatePortForward(ctx context.Context, f domain.PortForward, by domain.Author) (domain.PortForward, error)
	// UpdatePortForward changes the one that at names by its ids: invalid, conflict.
	UpdatePortForward(ctx context.Context, at domain.PortForward, change domain.PortForwardChange) (domain.PortForward, error)
	// DeletePortForward removes one.
	DeletePortForward(ctx context.Context, projectID, agentID, id string) error
	// Forwarded gives the one that is reached under a name, or not_found; whether the caller may
	// see the agent's project is the API's to check, beforehand.
	Forwarded(ctx context.Context, agentID, routeName string) (domain.PortForward, error)
	// NewForwardTicket keeps a ticket by which a browser of a person comes to a port forward on
	// its own host name, once, and TakeForwardTicket makes a visit of it; tickets, visits and the
	// secret of the person's session are named by their SHA-256. Unauthorized where the session
	// has ended, or the ticket is used or too old.
	NewForwardTicket(ctx context.Context, ticket []byte, forwardID, userID string, session []byte, life time.Duration) error
	TakeForwardTicket(ctx context.Context, forwardID string, ticket, visit []byte, life time.Duration) error
	// ForwardVisit gives the port forward of a visit, and who visits it: unauthorized where the
	// visit or the person's session has ended.
	ForwardVisit(ctx context.Context, forwardID string, visit []byte) (domain.PortForward, domain.Actor, error)
}
