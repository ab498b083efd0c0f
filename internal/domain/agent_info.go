package domain

import "time"

// providerManual is how the provider of an agent that was installed by hand is told.
const providerManual = "manual"

// AgentInfo is an agent as people and programs are told of it.
type AgentInfo struct {
	ID           string     `json:"id"`
	Hostname     string     `json:"hostname"`
	Description  string     `json:"description"`
	Online       bool       `json:"online"`
	LastSeen     *time.Time `json:"last_seen"` // nil: never
	CreatedAt    time.Time  `json:"created_at"`
	Provider     string     `json:"provider"` // "manual" or ProviderLXD
	Version      string     `json:"version"`  // "": it does not say
	Capabilities []string   `json:"capabilities"`
}

// Info gives what is told of a.
func (a Agent) Info() AgentInfo {
	provider := a.Provider
	if provider == "" {
		provider = providerManual
	}
	return AgentInfo{
		ID: a.ID, Hostname: a.Hostname, Description: a.Description, Online: a.Online, LastSeen: a.LastSeen, CreatedAt: a.CreatedAt,
		Provider: provider, Version: a.Version, Capabilities: append([]string{}, a.Capabilities...),
	}
}
