package domain

import (
	"crypto/rand"
	"time"
)

// SessionKind says what an AgentSession carries.
type SessionKind string

// The kinds of sessions.
const (
	ConsoleSession SessionKind = "console" // a shell, for a person's terminal
	TunnelSession  SessionKind = "tunnel"  // a connection to a port of the machine
)

// AgentSession is a console or a tunnel to a machine. It is opened by the process that has
// the person's request, and claimed by the agent, once, at whichever process it reaches.
type AgentSession struct {
	ID        string // a secret: see NewSessionID
	AgentID   string
	ProjectID string
	Kind      SessionKind
	ProcessID string // its home, which has the person's request
	Cols      int    // of a console
	Rows      int
	Port      int    // of a tunnel
	UserID    string // who opened it
	UserName  string
	Address   string // from where
	CreatedAt time.Time
}

// The bounds of a terminal, in characters.
const (
	DefaultCols = 80
	DefaultRows = 24
	MaxCols     = 1000
	MaxRows     = 1000
)

// NewSessionID gives a fresh secret that names a session: 26 characters of base32, which are
// 130 random bits.
func NewSessionID() string { return rand.Text() }

// ErrAgentAway says that no process has the event stream of an agent.
func ErrAgentAway(hostname string) *Error {
	if hostname == "" {
		hostname = "the machine"
	}
	return Errorf(CodeUpstream, "%s is not connected; start harvest-agent there, or wait until it is back", hostname)
}
