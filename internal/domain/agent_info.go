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

// AgentFilter asks for machines; each field leaves out those that it does not fit.
type AgentFilter struct {
	Hostname string // "" for any, like the rest
	Provider string // "manual" or ProviderLXD
	Online   *bool
}

// Check is invalid for a provider that there isn't.
func (f AgentFilter) Check() error {
	if f.Provider != "" && f.Provider != providerManual && f.Provider != ProviderLXD {
		return Invalid("provider", "is %s or %s", providerManual, ProviderLXD)
	}
	return nil
}

// PlacedAgent is an agent with the name of its project.
type PlacedAgent struct {
	Agent
	ProjectName string
}

// AgentPlace is an agent as it is told of among those of other projects.
type AgentPlace struct {
	AgentInfo
	ProjectID   string `json:"project_id"`
	ProjectName string `json:"project_name"`
}

// Place gives what is told of a.
func (a PlacedAgent) Place() AgentPlace { return AgentPlace{a.Info(), a.ProjectID, a.ProjectName} }

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
