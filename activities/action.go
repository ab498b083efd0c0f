package activities

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/workflows"
)

// ActionStore keeps actions: tool calls that wait for a person's approval.
type ActionStore interface {
	// ClaimAction takes the call of an action over: an approved one to run it, which is
	// applying from then on, and one that is applying of these tools; any other that is over to
	// settle it.
	ClaimAction(ctx context.Context, turnID, callID string, resumable []string) (domain.ActionClaim, error)
	// CloseAction takes one over that could not be run, to settle it.
	CloseAction(ctx context.Context, turnID, callID string) (domain.ActionClaim, error)
	// CommitAction stores the outcome; superseded where a later attempt has claimed the call.
	CommitAction(ctx context.Context, end domain.ActionEnd) error
}

// Action runs what people approved, once.
type Action struct {
	Store   ActionStore
	Tools   ToolBox
	Secrets Vault // nil for none
}

// Apply runs an approved action, or settles one that is not to be run. An action is begun at
// most once: an attempt that finds it begun ends it as unknown, but where the tool itself finds
// what it began for the same action.
func (a *Action) Apply(ctx context.Context, in workflows.ToolInput) (workflows.Applied, error) {
	defer beatUnlessLocal(ctx)()
	claim, err := a.Store.ClaimAction(ctx, in.TurnID, in.CallID, a.resumable())
	switch {
	case err != nil:
		return workflows.Applied{}, again(err)
	case !claim.Open():
		return workflows.Applied{Error: claim.Call.Result.Error}, nil
	case !claim.Claimed:
		return workflows.Applied{Pending: true}, nil
	case claim.Action.Status != domain.ActionApplying:
		return a.settle(ctx, claim, claim.Action.Status, notApplied(claim.Action))
	case domain.ActionHash(claim.Call.Name, claim.Call.Input) != claim.Action.Hash:
		return a.settle(ctx, claim, domain.ActionFailed, domain.ToolResult{Text: "Error: not run: the call is not the one that was approved.", Error: true})
	case claim.Barred != "" && claim.Call.Attempt == 1: // what an attempt before began goes on
		text := "Not run: it was approved, but " + claim.Barred.Says(claim.Action.RequesterName) + "."
		return a.settle(ctx, claim, domain.ActionFailed, domain.ToolResult{Text: text, Error: true})
	}
	return a.run(ctx, claim)
}

// run runs an action that was claimed for it, and settles it. What is missing for the run, or
// has changed since the approval, makes it fail before it begins.
func (a *Action) run(ctx context.Context, claim domain.ActionClaim) (workflows.Applied, error) {
	running, scrub, err := private(ctx, a.Secrets, a.Tools, claim.Scope, claim.Call)
	switch {
	case actionable(err) && scrub != nil && claim.Call.Attempt > 1:
		// What an earlier attempt began had what it needed then; only its end is to be told.
		running = tools.WithPrivate(ctx, tools.Private{Scrub: scrub})
	case actionable(err):
		return a.settle(ctx, claim, domain.ActionFailed, domain.ToolResult{Text: refusalOf(err) + ". It was approved for what was there then: ask again.", Error: true})
	case err != nil:
		return a.settle(ctx, claim, domain.ActionFailed, domain.ToolResult{Text: "Not run: the project's secrets could not be read. Try again.", Error: true})
	}
	spec, _ := a.Tools.Lookup(claim.Call.Name)
	result, err := a.Tools.Run(running, claim.Scope, claim.Call.Name, claim.Call.Input)
	if err = scrubError(scrub, err); err != nil {
		zerolog.Ctx(ctx).Error().Err(err).Str("event", "action_failed").Str("tool", claim.Call.Name).Str("action_id", claim.Action.ID).Send()
	}
	switch {
	case err != nil && result.Text == "" && spec.Resumable:
		return workflows.Applied{}, err // the next attempt finds what this one began
	case result.Unknown, err != nil && result.Text == "":
		return a.settle(ctx, claim, domain.ActionUnknown, unknown(claim.Action, result.Text))
	case result.Error:
		return a.settle(ctx, claim, domain.ActionFailed, result)
	}
	return a.settle(ctx, claim, domain.ActionApplied, result)
}

// resumable names the tools whose runs find what an earlier one of the same action began.
func (a *Action) resumable() (names []string) {
	for _, spec := range a.Tools.Specs() {
		if spec.Resumable {
			names = append(names, spec.Name)
		}
	}
	return names
}

// Close ends an action that could not be run.
func (a *Action) Close(ctx context.Context, in workflows.AbandonInput) (workflows.ToolRan, error) {
	defer beatUnlessLocal(ctx)()
	claim, err := a.Store.CloseAction(ctx, in.TurnID, in.CallID)
	if err != nil {
		return workflows.ToolRan{}, err
	}
	if !claim.Open() {
		return workflows.ToolRan{Error: claim.Call.Result.Error}, nil
	}
	result := notApplied(claim.Action)
	if claim.Action.Status == domain.ActionFailed && !claim.Action.Reported {
		result = domain.ToolResult{Text: "Error: it was approved, but could not be run: " + in.Reason, Error: true}
	}
	applied, err := a.settle(ctx, claim, claim.Action.Status, result)
	return workflows.ToolRan{Error: applied.Error}, err
}

// settle commits the outcome.
func (a *Action) settle(ctx context.Context, claim domain.ActionClaim, status domain.ActionStatus, result domain.ToolResult) (workflows.Applied, error) {
	call := claim.Call
	call.Result, call.Status = result, domain.CallDone
	switch {
	case status == domain.ActionRejected || status == domain.ActionExpired:
		call.Status = domain.CallDenied
	case result.Error:
		call.Status = domain.CallError
	}
	action := claim.Action
	action.Status = status
	if action.Outcome == "" { // a client may have reported one
		action.Outcome = previewOf(result)
	}
	end := domain.ActionEnd{Call: call, Action: action, Event: actionResult(action, call)}
	return workflows.Applied{Error: result.Error}, persist(ctx, func(ctx context.Context) error { return a.Store.CommitAction(ctx, end) })
}

// actionResult tells readers of the outcome of a call that asked.
func actionResult(action domain.Action, call domain.ToolCall) domain.NewEvent {
	return domain.NewPayload(domain.EventToolResult, map[string]any{
		"id": call.ID, "name": call.Name, "preview": previewOf(call.Result), "error": call.Result.Error, "truncated": call.Result.Truncated,
		"action_id": action.ID, "status": action.Status,
	})
}

// notApplied tells the model of an action that the server did not run, or not to its end.
func notApplied(action domain.Action) domain.ToolResult {
	who := action.DecidedByName
	switch {
	case action.Reported:
		return reported(action)
	case action.Status == domain.ActionRejected:
		text := "Denied: " + who + " rejected this call, and it was not run."
		if action.Reason != "" {
			text += " The reason given: " + action.Reason
		}
		return domain.ToolResult{Text: text + "\nDon't try to reach the same in another way; go on without it.", Preview: "rejected by " + who, Error: true}
	case action.Status == domain.ActionExpired:
		return domain.ToolResult{Text: "Denied: nobody decided on this call in time, and it was not run. Go on without it.", Preview: "nobody decided in time", Error: true}
	}
	return unknown(action, "")
}

// unknown tells model and people that nobody can know what an action did.
func unknown(action domain.Action, detail string) domain.ToolResult {
	text := "Unknown: this call was begun and cut off, so that it may have taken effect or not. It is not tried again. " +
		"Say so to the person, and find out how things stand before anything else."
	if detail != "" {
		text += "\n" + detail
	}
	return domain.ToolResult{Text: text, Preview: "was cut off: it may have taken effect or not; check how things stand", Error: true, Unknown: true}
}

// reported gives what a client says of a call that it ran itself.
func reported(action domain.Action) domain.ToolResult {
	how := "unverified: the server saw no such call"
	if action.Verified {
		how = "verified: the server saw the call"
	}
	result := domain.ToolResult{Error: action.Status != domain.ActionApplied}
	said := map[domain.ActionStatus]string{domain.ActionApplied: "done", domain.ActionRejected: "denied"}[action.Status]
	if said == "" {
		said = "failed"
	}
	result.Text = fmt.Sprintf("Reported by the client of %s (%s): %s.", action.DecidedByName, how, said)
	if action.Outcome != "" {
		result.Text += "\n" + action.Outcome
	}
	result.Preview = "reported as " + said + " (" + how + ")"
	return result
}
