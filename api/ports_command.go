package api

import (
	"context"
	"iter"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Commands runs commands on machines; engine.Engine does. Whether the caller may see the project
// is the API's to check.
type Commands interface {
	// OrderCommand orders a command of a person, or gives the one of that id. Where the person may
	// not approve it, it waits for the action that is given with it. Errors: invalid; not_found
	// where the agent is not one of the project's; unprocessable; conflict.
	OrderCommand(ctx context.Context, who domain.Actor, order domain.CommandOrder) (domain.Command, *domain.Action, error)
	// CommandKey gives the id of the command that a person's idempotency key stands for: id, or
	// that of the same request before; unprocessable where the key came with another one.
	CommandKey(ctx context.Context, userID, key string, hash []byte, id string) (string, error)
	// AwaitCommand gives a command with its output once it is over. An end of ctx ends the wait,
	// not the command.
	AwaitCommand(ctx context.Context, id string) (domain.Command, error)
	// Command gives a command of a project with its output, or not_found.
	Command(ctx context.Context, projectID, id string) (domain.Command, error)
	// CommandByID gives a command without its output, or not_found.
	CommandByID(ctx context.Context, id string) (domain.Command, error)
	// AgentCommands lists the commands of an agent of a project, the newest first.
	AgentCommands(ctx context.Context, projectID, agentID string, page domain.Page) ([]domain.Command, error)
	// CancelCommand cancels a command of a project: not_found, or conflict where it has ended, or
	// its agent can't cancel.
	CancelCommand(ctx context.Context, projectID, id string, who domain.Actor) (domain.Command, error)
	// FollowCommand gives the events of a command after the cursor, like Turns.Follow.
	FollowCommand(ctx context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error]
}
