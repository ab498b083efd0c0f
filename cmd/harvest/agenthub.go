package main

import (
	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/config"
)

// newHub builds what the agents connect to that reach the API of this process.
func (a *assembly) newHub(processID string) *agenthub.Hub {
	cfg := agenthub.Config{
		Store: a.store, Secrets: a.secrets, Commands: a.engine, ProcessID: processID, Patience: config.DefaultResultPatience, Log: a.log,
	}
	if agents := a.cfg.Agents; agents != nil {
		cfg.Patience, cfg.PublicURL, cfg.BinaryPath = agents.ResultPatience, agents.PublicURL, agents.BinaryPath
	}
	return agenthub.New(cfg)
}
