package domain

import (
	"slices"
	"time"
)

// ProviderLXD is the provider of agents in containers that Harvest made.
const ProviderLXD = "lxd"

// Agent is a machine of a project, by the daemon that runs on it.
type Agent struct {
	ID           string
	ProjectID    string
	Hostname     string
	Description  string
	Provider     string // ProviderLXD; "" for one installed by hand
	Instance     string // the name of its container; "" for none
	Machine      string // the id that the agent made for its machine; "" of plain agents
	Version      string // of the agent
	Capabilities []string
	Online       bool // some process has its event stream open
	LastSeen     *time.Time
	CreatedAt    time.Time
}

// Can reports whether the agent announced a capability of the wire.
func (a Agent) Can(capability string) bool { return slices.Contains(a.Capabilities, capability) }

// AgentHello is what an agent says of itself as it connects.
type AgentHello struct {
	Hostname     string
	Machine      string
	Version      string
	Capabilities []string
}

// AgentConnection is an open event stream of an agent. The newest of an agent's is the one
// that is delivered to.
type AgentConnection struct {
	ID        string
	AgentID   string
	ProcessID string // see Process
	AgentHello
}

// AgentPulse is how an event stream of this process stands in the database.
type AgentPulse struct {
	AgentID      string
	ConnectionID string
	Quiet        time.Duration // since anything was heard of the agent, by any process
	Due          bool          // a command waits to be delivered, or to be canceled
}

// InstallToken is what a machine joins a project with. The token itself is shown once.
type InstallToken struct {
	ID        string
	ProjectID string
	Hash      []byte // SHA-256 of the token
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
	UsesLeft  *int // nil: any number
	// Instance names the container that it is for; machines that join with it are that one's.
	Instance    string
	Description string // of the agent that joins
}
