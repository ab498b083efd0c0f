package activities

import (
	"context"
	"time"

	"github.com/rs/zerolog"
	"go.temporal.io/sdk/activity"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// ToolStore keeps tool calls and their outcomes.
type ToolStore interface {
	// ClaimToolCall takes a call over, or gives one with a final status as it is; superseded
	// where the turn has ended.
	ClaimToolCall(ctx context.Context, turnID, callID string) (domain.ToolCall, domain.Scope, error)
	// CommitToolCall stores call.Result with its event; superseded where a later attempt has
	// claimed the call.
	CommitToolCall(ctx context.Context, call domain.ToolCall, event domain.NewEvent) error
}

// Tool runs the tool calls of turns.
type Tool struct {
	Store   ToolStore
	Tools   ToolBox
	Secrets Vault // nil for none
}

const (
	// localLimit ends a local call before its activity is cut off.
	localLimit = 1500 * time.Millisecond
	// maxToolAttempts is how often a call may begin: one that takes its worker down each time
	// must not do so for ever.
	maxToolAttempts = 5
)

// RunLocal runs a short, read-only call inside the workflow task.
func (a *Tool) RunLocal(ctx context.Context, in workflows.ToolInput) (workflows.ToolRan, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, localLimit, domain.Errorf(domain.CodeTimeout, "the tool took longer than %s; ask for less", localLimit))
	defer cancel()
	return a.run(ctx, in)
}

// Run runs a call as an activity of its own.
func (a *Tool) Run(ctx context.Context, in workflows.ToolInput) (workflows.ToolRan, error) {
	defer beat(ctx)()
	return a.run(ctx, in)
}

func (a *Tool) run(ctx context.Context, in workflows.ToolInput) (workflows.ToolRan, error) {
	call, scope, err := a.Store.ClaimToolCall(ctx, in.TurnID, in.CallID)
	if err != nil {
		return workflows.ToolRan{}, err
	}
	if call.Status != domain.CallRunning {
		return workflows.ToolRan{Error: call.Result.Error}, nil
	}
	if spec, _ := a.Tools.Lookup(call.Name); call.Attempt > maxToolAttempts && !spec.Resumable {
		return a.settle(ctx, call, domain.ToolResult{Text: "Error: this call was interrupted several times and is not tried again.", Error: true})
	}
	running, scrub, err := private(ctx, a.Secrets, a.Tools, scope, call)
	if err != nil && !actionable(err) {
		return workflows.ToolRan{}, err
	}
	if err != nil {
		return a.settle(ctx, call, domain.ToolResult{Text: refusalOf(err), Error: true})
	}
	result, err := a.Tools.Run(running, scope, call.Name, call.Input)
	err = scrubError(scrub, err)
	if err != nil && result.Text == "" {
		return workflows.ToolRan{}, err // it may succeed later
	}
	if err != nil {
		zerolog.Ctx(ctx).Error().Err(err).Str("event", "tool_failed").Str("tool", call.Name).Str("call_id", call.ID).Send()
	}
	return a.settle(ctx, call, result)
}

// settle commits the outcome, which a cancel must not cut off.
func (a *Tool) settle(ctx context.Context, call domain.ToolCall, result domain.ToolResult) (workflows.ToolRan, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitPatience)
	defer cancel()
	call.Result = result
	if err := a.Store.CommitToolCall(ctx, call, resultEvent(call)); err != nil {
		return workflows.ToolRan{}, again(err)
	}
	return workflows.ToolRan{Error: result.Error}, nil
}

// Abandon gives a call that could not be run an error result.
func (a *Tool) Abandon(ctx context.Context, in workflows.AbandonInput) (workflows.ToolRan, error) {
	if !activity.GetInfo(ctx).IsLocalActivity {
		defer beat(ctx)()
	}
	call, _, err := a.Store.ClaimToolCall(ctx, in.TurnID, in.CallID)
	if err != nil {
		return workflows.ToolRan{}, err
	}
	if call.Status != domain.CallRunning {
		return workflows.ToolRan{Error: call.Result.Error}, nil
	}
	return a.settle(ctx, call, domain.ToolResult{Text: "Error: the tool could not be run: " + in.Reason, Error: true})
}
