package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// ActionStore keeps actions: tool calls that wait for a person's approval.
type ActionStore interface {
	// Action gives an action, or not_found.
	Action(ctx context.Context, id string) (domain.Action, error)
	// Actions lists actions, the newest first.
	Actions(ctx context.Context, q domain.ActionQuery) ([]domain.Action, error)
	// ActionOf finds an action of a project's conversation by its id or that of its call.
	ActionOf(ctx context.Context, projectID, conversationID, name string) (domain.Action, error)
	// WaitingActions lists what a turn waits for.
	WaitingActions(ctx context.Context, turnID string) ([]domain.Action, error)
	// ConfirmSettings gives what holds for the actions of a project; "" is no project.
	ConfirmSettings(ctx context.Context, projectID string) (domain.ConfirmSettings, error)
	// Decide records decisions, all or none. For its errors see Engine.DecideActions.
	Decide(ctx context.Context, who domain.Actor, decisions []domain.Decision) ([]domain.Action, error)
	// NotePerformed records what a person did by a route.
	NotePerformed(ctx context.Context, by domain.Performance) error
	// UntoldDecisions lists actions that were decided longer than age ago and whose workflow
	// was not told.
	UntoldDecisions(ctx context.Context, age time.Duration, limit int) ([]domain.Action, error)
	// MarkTold records that the workflows of these actions were told, or that their commands were
	// let go or ended.
	MarkTold(ctx context.Context, ids ...string) error

	// ProposeAction stores an action of a person that belongs to no turn, or finds the one of that id.
	ProposeAction(ctx context.Context, a domain.Action) (domain.Action, error)
	// ExpireActions ends the wait of such actions that nobody decided in time.
	ExpireActions(ctx context.Context, limit int) ([]string, error)
	// StrandedCommands lists commands that wait for an approval that never comes, with the status
	// of their action; "" for one that was not stored within age.
	StrandedCommands(ctx context.Context, age time.Duration, limit int) (map[string]domain.ActionStatus, error)
	// SettleActions ends the actions of commands that have ended.
	SettleActions(ctx context.Context) error
}

// Calls knows what the calls of tools are about; tools.Registry does.
type Calls interface {
	// Holds is unprocessable where what a call that asked is about is not as it was shown any more.
	Holds(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) error
	// Handles finds the handles of secrets in a call, by environment variable.
	Handles(name string, input json.RawMessage) (map[string]domain.SecretRef, error)
}

// Action gives an action, or not_found.
func (e *Engine) Action(ctx context.Context, id string) (domain.Action, error) {
	return e.Config.Actions.Action(ctx, id)
}

// Actions lists actions, the newest first.
func (e *Engine) Actions(ctx context.Context, q domain.ActionQuery) ([]domain.Action, error) {
	return e.Config.Actions.Actions(ctx, q)
}

// ActionOf finds an action of a project's conversation by its id or that of its call.
func (e *Engine) ActionOf(ctx context.Context, projectID, conversationID, name string) (domain.Action, error) {
	return e.Config.Actions.ActionOf(ctx, projectID, conversationID, name)
}

// WaitingActions lists what a turn waits for.
func (e *Engine) WaitingActions(ctx context.Context, turnID string) ([]domain.Action, error) {
	return e.Config.Actions.WaitingActions(ctx, turnID)
}

// DecideActions records what a person decides, all of it or nothing, and lets the turns go on.
// A decision that is recorded will be carried out: where Temporal can't be reached now, the
// sweeper tells the workflow. That the person may see the actions is the caller's to check.
//
// Errors: forbidden where the person may not decide, or the nonce is wrong; conflict where an
// action is decided already (the text says by whom), has expired, is not what the person saw,
// is about what has changed meanwhile, would run for somebody who is out, or its turn was
// canceled; unprocessable where it must bring a secret's value and doesn't;
// invalid or too_large for a value that is unfit, or that the action doesn't take; not_found.
func (e *Engine) DecideActions(ctx context.Context, who domain.Actor, decisions []domain.Decision) ([]domain.Action, error) {
	decisions = slices.Clone(decisions)
	hide := e.hideGiven(decisions)
	for i, d := range decisions {
		d.Reason = hide(d.Reason)
		action, err := e.Config.Actions.Action(ctx, d.ActionID)
		if err != nil {
			return nil, err
		}
		settings, err := e.Config.Actions.ConfirmSettings(ctx, action.ProjectID)
		if err != nil {
			return nil, err
		}
		if err := settings.MayDecide(who, action); err != nil {
			return nil, err
		}
		if err := e.holds(ctx, action, d); err != nil {
			return nil, err
		}
		if decisions[i], err = e.scrubReason(ctx, action.ProjectID, d); err != nil {
			return nil, err
		}
		if decisions[i], err = e.sealValue(who, action, decisions[i]); err != nil {
			return nil, err
		}
	}
	decided, err := e.Config.Actions.Decide(ctx, who, decisions)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), launchTimeout)
	defer stop()
	for _, action := range decided {
		if err := e.tellDecision(ctx, action); err != nil {
			e.Log.Warn().Str("turn_id", action.TurnID).Str("action_id", action.ID).Err(err).Msg("decision_postponed")
		}
	}
	return decided, nil
}

// holds is a conflict where an action that is approved could not be run as it was shown: the
// machine, the port forward or the version of a secret that it is about has changed. What was
// decided already, or is only reported, is left to the store.
func (e *Engine) holds(ctx context.Context, a domain.Action, d domain.Decision) error {
	if e.Calls == nil || d.Status != domain.ActionApproved || a.Status != domain.ActionPending {
		return nil
	}
	err := e.Calls.Holds(ctx, domain.Scope{TurnID: a.TurnID, CallID: a.CallID, UserID: a.Requester, ProjectID: a.ProjectID}, a.Name, a.Input)
	if err == nil && a.ProjectID != "" && e.Secrets != nil {
		handles, _ := e.Calls.Handles(a.Name, a.Input) // one that is misplaced is refused as it is asked for
		for _, name := range slices.Sorted(maps.Keys(handles)) {
			if _, err = e.Secrets.Pin(ctx, a.ProjectID, handles[name]); err != nil {
				break
			}
		}
	}
	switch domain.CodeOf(err) {
	case domain.CodeUnprocessable, domain.CodeConflict, domain.CodeNotFound:
		return domain.Errorf(domain.CodeConflict, "action %s can't be approved: %s. Nothing is run; reject it", a.ID, domain.PublicMessage(err))
	}
	return err
}

// NotePerformed records that a person did by a route what calls of a tool do that ask: a client
// that reports such an action as done is believed by it.
func (e *Engine) NotePerformed(ctx context.Context, by domain.Performance) error {
	return e.Config.Actions.NotePerformed(ctx, by)
}

// sealValue seals the secret's value that a decision brings, or makes one, for the call of its
// action. From here on nothing holds it open.
func (e *Engine) sealValue(who domain.Actor, action domain.Action, d domain.Decision) (domain.Decision, error) {
	if d.Value.Empty() && !d.Generate {
		return d, nil
	}
	if action.Name != domain.ToolSaveSecret || d.Status != domain.ActionApproved {
		return d, domain.Invalid("value", "only the approval of %s takes a value", domain.ToolSaveSecret)
	}
	if e.Secrets == nil || action.ProjectID == "" {
		return d, domain.Errorf(domain.CodeUnprocessable, "action %s belongs to no project, and secrets do", action.ID)
	}
	by := domain.Author{UserID: who.UserID, TurnID: action.TurnID, CallID: action.CallID}
	sealed, err := domain.SealedSecret{}, error(nil)
	if d.Generate {
		sealed, err = e.Secrets.GenerateOffer(action.ProjectID, by)
	} else {
		sealed, err = e.Secrets.SealOffer(action.ProjectID, d.Value, by)
	}
	d.Value, d.Generate, d.Offer = domain.SecretValue{}, false, &sealed
	return d, err
}

// tellDecision tells a turn's workflow that an action was decided. One that is gone has
// nobody to tell: the reconciler ends its turn. What belongs to no turn is carried out.
func (e *Engine) tellDecision(ctx context.Context, action domain.Action) error {
	if action.TurnID == "" {
		return e.carryOut(ctx, action)
	}
	id := workflows.TurnWorkflowID(action.TurnID)
	err := e.Temporal.SignalWorkflow(ctx, id, "", workflows.ActionDecided.Name, workflows.DecidedCall{CallID: action.CallID})
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("signal workflow %s: %w", id, err)
	}
	return e.Config.Actions.MarkTold(ctx, action.ID)
}

// sweepDecisions tells workflows of decisions whose maker died, or could not reach Temporal.
func (e *Engine) sweepDecisions(ctx context.Context) error {
	return pass(ctx, "untold decisions", e.Config.Actions.UntoldDecisions, sweepAge, e.tellDecision)
}
