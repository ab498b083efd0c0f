package activities

import (
	"context"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// operator names who canceled a command's workflow.
const operator = "an operator of Temporal"

// CommandStore keeps commands on machines.
type CommandStore interface {
	// LookAtCommand gives a command, and how long it is until time settles it; not_found where it
	// was removed.
	LookAtCommand(ctx context.Context, id string) (c domain.Command, left time.Duration, err error)
	// LapseCommand settles a command whose time is up.
	LapseCommand(ctx context.Context, id string) (domain.Command, error)
	// CancelCommand cancels a command, or asks its agent to; conflict where that can't be.
	CancelCommand(ctx context.Context, projectID, id, by string) (domain.Command, error)
}

// Command sees commands to their ends.
type Command struct {
	Store CommandStore
}

// Look tells how a command stands.
func (a *Command) Look(ctx context.Context, in workflows.CommandInput) (workflows.CommandSeen, error) {
	defer beatUnlessLocal(ctx)()
	return a.look(ctx, in)
}

func (a *Command) look(ctx context.Context, in workflows.CommandInput) (workflows.CommandSeen, error) {
	c, left, err := a.Store.LookAtCommand(ctx, in.CommandID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return workflows.CommandSeen{Over: true}, nil
	}
	return workflows.CommandSeen{Status: c.Status, Over: c.Status.Over(), Left: left}, err
}

// Lapse settles a command whose time is up, and tells how it stands.
func (a *Command) Lapse(ctx context.Context, in workflows.CommandInput) (workflows.CommandSeen, error) {
	defer beatUnlessLocal(ctx)()
	if _, err := a.Store.LapseCommand(ctx, in.CommandID); err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return workflows.CommandSeen{}, err
	}
	return a.look(ctx, in)
}

// Cancel cancels a command as far as its agent lets it, and tells how it stands.
func (a *Command) Cancel(ctx context.Context, in workflows.CommandInput) (workflows.CommandSeen, error) {
	defer beatUnlessLocal(ctx)()
	c, _, err := a.Store.LookAtCommand(ctx, in.CommandID)
	if err == nil {
		_, err = a.Store.CancelCommand(ctx, c.ProjectID, in.CommandID, operator)
	}
	switch domain.CodeOf(err) {
	case "", domain.CodeNotFound, domain.CodeConflict:
		return a.look(ctx, in)
	}
	return workflows.CommandSeen{}, err
}
