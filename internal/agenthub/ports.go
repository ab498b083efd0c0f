package agenthub

import (
	"context"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Store keeps agents and their commands; postgres.Store does.
type Store interface {
	// JoinAgent lets a machine join by the hash of an install token: unauthorized where that is
	// gone, expired or used up. A machine that has joined before is the same agent, with a new token.
	JoinAgent(ctx context.Context, installHash, newHash []byte, hello domain.AgentHello) (domain.Agent, error)
	// AgentByToken gives the agent of a permanent token, or unauthorized.
	AgentByToken(ctx context.Context, hash []byte) (domain.Agent, error)
	// Agent gives an agent of a project, or not_found.
	Agent(ctx context.Context, projectID, id string) (domain.Agent, error)
	// SeeAgent notes that an agent was heard of.
	SeeAgent(ctx context.Context, agentID string) error
	// ConnectAgent makes a connection the newest of its agent.
	ConnectAgent(ctx context.Context, c domain.AgentConnection) error
	// DisconnectAgent ends a connection; nothing where it is not the newest.
	DisconnectAgent(ctx context.Context, agentID, connectionID string) error
	// AgentPulses keeps the connections of a process alive, and tells how they stand. One that
	// is missing was taken over by another, or its agent is gone.
	AgentPulses(ctx context.Context, processID string) ([]domain.AgentPulse, error)
	// DeliverCommands claims what is to be sent to an agent now.
	DeliverCommands(ctx context.Context, agentID, connectionID string, patience time.Duration, limit int) ([]domain.CommandDelivery, error)
	// CommandStarted notes that a command runs; not_found where it is not the agent's, as do
	// those below.
	CommandStarted(ctx context.Context, agentID, id string) error
	// CommandTaken gives a command with how much of its output the log has.
	CommandTaken(ctx context.Context, agentID, id string) (domain.Command, error)
	// TakeOutput appends chunks to the log, which reaches to taken then; written is what the
	// command has written so far. Superseded where the log has grown meanwhile.
	TakeOutput(ctx context.Context, agentID, id string, chunks []domain.CommandChunk, taken, written map[string]int64) error
	// EndCommand ends a command, once; what comes after that is kept where it was unknown.
	// Superseded where the log has grown meanwhile.
	EndCommand(ctx context.Context, agentID string, end domain.CommandEnd) (domain.Command, error)
	// OnAgent has f called for each hint that there is something to do for an agent.
	OnAgent(f func(agentID string))

	// AddInstallToken keeps a token.
	AddInstallToken(ctx context.Context, t domain.InstallToken) error
	// RevokeInstallTokens ends all tokens of a project.
	RevokeInstallTokens(ctx context.Context, projectID string) error
}

// Secrets opens the values of handles, and takes values out of texts; secrets.Vault does.
type Secrets interface {
	Scrubber(ctx context.Context, projectID string) (domain.Scrubber, error)
	// Pin gives the version that a handle means, and Open its value.
	Pin(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SecretRef, error)
	Open(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SecretValue, error)
}

// Commands are told of what has ended; engine.Engine is.
type Commands interface {
	// CommandFinished tells whoever waits for a command that it is over.
	CommandFinished(ctx context.Context, id string) error
}
