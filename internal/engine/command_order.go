package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// strandedAge is how long a command may wait for an approval that was not asked for: who
// ordered it died between the two.
const strandedAge = 5 * time.Minute

// OrderCommand orders a command of a person, or gives the one of that id: at once where the
// person may approve what is run in the project, else pending, with the action that others
// decide. An action is given for as long as the command waits. For its errors see StartCommand.
func (e *Engine) OrderCommand(ctx context.Context, who domain.Actor, order domain.CommandOrder) (domain.Command, *domain.Action, error) {
	settings, err := e.Config.Actions.ConfirmSettings(ctx, order.ProjectID)
	if err != nil {
		return domain.Command{}, nil, err
	}
	order.UserID = who.UserID
	mine := domain.Action{ProjectID: order.ProjectID, Requester: who.UserID}
	why := whyItAsks(who, settings.MayDecide(who, mine) == nil)
	order.Pending = why != ""
	c, err := e.StartCommand(ctx, order)
	if err == nil && c.Status != domain.CommandPending {
		e.noteSoon(ctx, c.ID)
	}
	if err != nil || c.Status != domain.CommandPending {
		return c, nil, err
	}
	a, err := e.Config.Actions.ProposeAction(ctx, proposal(c, who, why, settings.Expiry))
	return c, &a, err
}

// whyItAsks says why a person's command waits for an approval; "" where it runs at once.
func whyItAsks(who domain.Actor, may bool) string {
	switch {
	case !may:
		return who.Name + " asked for it, and may not approve commands in this project"
	case !who.Allows(domain.ScopeApprove):
		return who.Name + " asked for it, by an API key that is not good for \"approve\""
	}
	return ""
}

// proposal is the action of a person's command.
func proposal(c domain.Command, who domain.Actor, why string, expiry time.Duration) domain.Action {
	input := map[string]any{"agent_id": c.AgentID, "hostname": c.Hostname, "command": c.Command, "timeout_secs": int(c.Timeout / time.Second)}
	if c.Description != "" {
		input["description"] = c.Description
	}
	if len(c.Env) > 0 {
		input["env"] = c.Env
	}
	body, _ := json.Marshal(input) // plain values always marshal
	return domain.Action{
		ID: c.ID, CallID: c.ID, ProjectID: c.ProjectID, Requester: who.UserID, RequesterName: who.Name, Hostname: c.Hostname, Name: domain.ToolRunCommand, Input: body,
		Hash: domain.ActionHash(domain.ToolRunCommand, body), Nonce: domain.NewNonce(),
		Description: domain.DescribeAction(domain.ToolRunCommand, body,
			domain.Detail{Name: "machine", Value: c.Hostname + ", id " + c.AgentID},
			domain.Detail{Name: "why it asks", Value: why}),
		ExpiresAt: time.Now().Add(expiry).UTC().Truncate(time.Millisecond),
	}
}

// CommandKey gives the id of the command that a person's idempotency key stands for: id, or that
// of the same request before. Unprocessable where the key came with another request.
func (e *Engine) CommandKey(ctx context.Context, userID, key string, hash []byte, id string) (string, error) {
	return e.Config.Commands.KeepCommandKey(ctx, userID, key, hash, id)
}

// Command gives a command of a project with its output, or not_found.
func (e *Engine) Command(ctx context.Context, projectID, id string) (domain.Command, error) {
	return e.Config.Commands.Command(ctx, projectID, id)
}

// CommandByID gives a command without its output, whatever its project, or not_found.
func (e *Engine) CommandByID(ctx context.Context, id string) (domain.Command, error) {
	return e.Config.Commands.CommandByID(ctx, id)
}

// AgentCommands lists the commands of an agent of a project, the newest first, without outputs.
func (e *Engine) AgentCommands(ctx context.Context, projectID, agentID string, page domain.Page) ([]domain.Command, error) {
	return e.Config.Commands.Commands(ctx, projectID, agentID, page)
}

// carryOut does what was decided about a person's command. One that does not wait any more
// stays as it is, so that doing it twice is harmless.
func (e *Engine) carryOut(ctx context.Context, a domain.Action) (err error) {
	if a.Status == domain.ActionApproved {
		_, err = e.ReleaseCommand(ctx, a.ID)
	} else {
		_, err = e.RejectCommand(ctx, a.ID, rejection(a))
	}
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return fmt.Errorf("carry out the decision on command %s: %w", a.ID, err)
	}
	return e.Config.Actions.MarkTold(ctx, a.ID)
}

func rejection(a domain.Action) string {
	text := "rejected by " + a.DecidedByName + "; it never ran"
	if a.Reason != "" {
		text += ". The reason given: " + a.Reason
	}
	return text
}

// sweepCommandActions ends what waited for an approval in vain, the commands of canceled turns,
// and the actions of commands that have ended.
func (e *Engine) sweepCommandActions(ctx context.Context) error {
	if e.Commands == nil {
		return nil
	}
	if _, err := e.Config.Actions.ExpireActions(ctx, sweepLimit); err != nil {
		return err
	}
	stranded, err := e.Config.Actions.StrandedCommands(ctx, strandedAge, sweepLimit)
	if err != nil {
		return err
	}
	var failure error
	for id, status := range stranded {
		why := map[domain.ActionStatus]string{
			domain.ActionExpired: "nobody decided on it in time; it never ran", domain.ActionRejected: "it was rejected; it never ran",
		}[status]
		if why == "" {
			why = "no approval was asked for; it never ran"
		}
		if _, err := e.RejectCommand(ctx, id, why); err != nil {
			failure = errors.Join(failure, fmt.Errorf("reject command %s: %w", id, err))
		}
	}
	return errors.Join(failure, e.cancelAbandoned(ctx), e.Config.Actions.SettleActions(ctx))
}

// cancelAbandoned cancels the commands of turns that were canceled: nobody waits for them.
func (e *Engine) cancelAbandoned(ctx context.Context) error {
	abandoned, err := e.Commands.AbandonedCommands(ctx, sweepLimit)
	if err != nil {
		return err
	}
	return each(abandoned, func(c domain.Command) error {
		_, err := e.CancelCommand(ctx, c.ProjectID, c.ID, domain.Actor{Name: "the end of its turn"})
		if domain.CodeOf(err) == domain.CodeConflict || domain.CodeOf(err) == domain.CodeNotFound {
			return nil // it has ended meanwhile
		}
		return err
	})
}
