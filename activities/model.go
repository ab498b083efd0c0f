package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/workflows"
)

// ModelStore keeps the calls of models.
type ModelStore interface {
	StreamStore
	Dialogue(ctx context.Context, turnID string) (domain.Dialogue, error)
	// ClaimModelCall gives the right to write, or the outcome of a call that was committed
	// before; budget_exhausted, or superseded where the turn has ended.
	// The budget of a day is checked again: another turn may have taken it meanwhile.
	ClaimModelCall(ctx context.Context, call domain.ModelCall) (domain.CallClaim, error)
	// DayLeft gives what a day's budget leaves for the call: negative where it is overdrawn.
	DayLeft(ctx context.Context, turnID, callID string, limit float64) (float64, error)
	CommitModelCall(ctx context.Context, c domain.ModelCommit) (last int64, err error)
	// CutBlocks shortens blocks that the call has closed to the texts given.
	CutBlocks(ctx context.Context, claim domain.CallClaim, blocks []domain.ClosedBlock) error
	// ConfirmSettings gives what holds for the actions of a project.
	ConfirmSettings(ctx context.Context, projectID string) (domain.ConfirmSettings, error)
	// KeepDocument stores what was read of a document that is attached in the turn's conversation.
	KeepDocument(ctx context.Context, turn domain.Turn, document []byte, text domain.DocumentText) error
	// FailModelCall ends an attempt; failures counts what the provider refused.
	FailModelCall(ctx context.Context, claim domain.CallClaim, failures int, events ...domain.NewEvent) error
}

// Models calls model providers.
type Models interface {
	Stream(ctx context.Context, sel domain.ProviderSelection, req domain.ModelRequest, sink domain.ModelSink) (domain.ModelResponse, error)
	// RetryDelay says whether a call that failed, after so many failures before, is worth
	// another try, and when.
	RetryDelay(sel domain.ProviderSelection, err error, failures int) (wait time.Duration, retry bool)
	// Quote gives the most that a call may take.
	Quote(sel domain.ProviderSelection, req domain.ModelRequest) domain.Usage
}

// ToolBox is the set of tools, as calls are offered, described and run.
type ToolBox interface {
	Specs() []tools.Spec
	Lookup(name string) (tools.Spec, bool)
	Describe(name string, input json.RawMessage) string
	// Explain tells the person who decides a call what it is about.
	Explain(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) []domain.Detail
	// Pin gives the input of a call that asks as it is to be approved and run.
	Pin(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) json.RawMessage
	// Hostname names the machine that a call is about; "" for none.
	Hostname(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) string
	// Asks reports whether a call must wait for a person's approval.
	Asks(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) bool
	// Run gives a result, an error result with its cause for the log, or, with an error
	// alone, nothing: the same call may succeed later.
	Run(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) (domain.ToolResult, error)
}

// Model makes the model calls of turns.
type Model struct {
	Store   ModelStore
	Models  Models
	Tools   ToolBox
	Budgets Budgets
	Secrets Vault // nil for none
	// Memories finds what a turn of a project is reminded of; nil for nothing.
	Memories Memories
	// Documents reads attached PDF files; nil leaves them to models that open them.
	Documents Documents
}

// Memories finds notes.
type Memories interface {
	// Recall gives the few notes of a project that fit a question, the best first; none
	// without a project.
	Recall(ctx context.Context, projectID, question string) ([]domain.Memory, error)
}

// Generate makes a round's model call: what it says streams to readers as it comes, and its
// outcome, with the tool calls that it asks for, is one commit.
func (a *Model) Generate(ctx context.Context, in workflows.GenerateInput) (workflows.Generated, error) {
	defer beat(ctx)()
	d, err := a.Store.Dialogue(ctx, in.TurnID)
	if err != nil {
		return workflows.Generated{}, err
	}
	if d.Turn.Status.Final() {
		return workflows.Generated{Ended: true}, nil
	}
	notes, err := a.recall(ctx, d)
	if err != nil {
		return workflows.Generated{}, err
	}
	unread, err := a.readDocuments(ctx, &d)
	if err != nil {
		return workflows.Generated{}, err
	}
	req := request(d, in, a.Tools.Specs(), notes)
	req, claim, err := a.claim(ctx, d, req, fmt.Sprintf("m%d", in.Round), in.Round)
	switch domain.CodeOf(err) {
	case "":
	case domain.CodeBudgetExhausted:
		return workflows.Generated{Reason: domain.EndBudgetExhausted, Note: domain.PublicMessage(err)}, nil
	case domain.CodeSuperseded:
		return workflows.Generated{Ended: true}, nil
	default:
		return workflows.Generated{}, err
	}
	if claim.Outcome != nil {
		return readOutcome[workflows.Generated](claim)
	}
	if claim, err = a.tellNotes(ctx, claim, unread); err != nil {
		return workflows.Generated{}, err
	}
	return a.round(ctx, d, in, req, claim)
}

// round streams the call and commits it.
func (a *Model) round(ctx context.Context, d domain.Dialogue, in workflows.GenerateInput, req domain.ModelRequest, claim domain.CallClaim) (workflows.Generated, error) {
	calling, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stream := newTextStream(ctx, a.Store, claim, stop)
	resp, err := a.Models.Stream(calling, d.Provider, req, domain.ModelSink{Delta: stream.delta, Failover: stream.failover})
	block, claim, refused := stream.end()
	out := outcome{in: in, dialogue: d, response: resp, tools: a.Tools, shortened: req.MaxTokens > 0}
	if err == nil && refused == nil {
		if err := a.ready(ctx, &out, claim.Attempt); err != nil {
			return workflows.Generated{}, err
		}
		if err := a.confirmations(ctx, d, &out); err != nil {
			return workflows.Generated{}, err
		}
		err = out.build()
	}
	switch {
	case refused != nil:
		return workflows.Generated{}, again(refused)
	case ctx.Err() != nil: // canceled, or the worker stops
		a.keep(ctx, claim, block)
		return workflows.Generated{}, ctx.Err()
	case err != nil:
		return workflows.Generated{}, a.fail(ctx, d, claim, block, err)
	}
	if err := a.retract(ctx, stream, claim, block, &out); err != nil {
		return workflows.Generated{}, again(err)
	}
	encoded, err := json.Marshal(out.generated)
	if err != nil {
		return workflows.Generated{}, fmt.Errorf("commit round %d: %w", in.Round, err)
	}
	commit := domain.ModelCommit{
		CallWrite: domain.CallWrite{Claim: claim, Close: block, Events: out.events},
		Outcome:   encoded, Usage: resp.Usage, Provider: &resp.Provider, Round: in.Round, Message: &out.message, Tools: out.calls, Actions: out.actions,
	}
	return out.generated, a.commit(ctx, commit)
}

// confirmations finds which calls of an answer wait for a person: the tool's own policy,
// which a project may tighten. Where that can't be told, a call waits.
func (a *Model) confirmations(ctx context.Context, d domain.Dialogue, out *outcome) error {
	settings := domain.DefaultConfirmSettings()
	if d.Turn.ProjectID != "" && len(out.response.ToolCalls()) > 0 {
		var err error
		if settings, err = a.Store.ConfirmSettings(ctx, d.Turn.ProjectID); err != nil {
			return err
		}
	}
	scrub, err := domain.ScrubOf(ctx, a.Secrets, d.Turn.ProjectID)
	if err != nil {
		return err
	}
	out.expiry = settings.Expiry
	out.explain = func(call domain.ToolCall) []domain.Detail {
		about := a.Tools.Explain(ctx, d.Scope, call.Name, call.Input)
		for i := range about {
			about[i].Value = scrub(about[i].Value) // what something is called may be older than the secret
		}
		return about
	}
	out.pin = func(name string, input json.RawMessage) json.RawMessage {
		return a.Tools.Pin(ctx, d.Scope, name, input)
	}
	out.place = func(call domain.ToolCall) string { return a.Tools.Hostname(ctx, d.Scope, call.Name, call.Input) }
	out.asks = func(call domain.ToolCall) bool {
		return call.Name != tools.AskUserName &&
			(slices.Contains(settings.Asking, call.Name) || a.Tools.Asks(ctx, d.Scope, call.Name, call.Input))
	}
	return nil
}

func (a *Model) commit(ctx context.Context, c domain.ModelCommit) error {
	return persist(ctx, func(ctx context.Context) error {
		_, err := a.Store.CommitModelCall(ctx, c)
		return err
	})
}

// keep stores what a call said that was stopped: it is part of the partial answer.
func (a *Model) keep(ctx context.Context, claim domain.CallClaim, block *domain.ClosedBlock) {
	if block == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitPatience)
	defer cancel()
	_, _ = a.Store.WriteModelCall(ctx, domain.CallWrite{Claim: claim, Close: block}) // what is lost was never promised
}

// fail records a failure of the provider and says when the call is worth another try.
func (a *Model) fail(ctx context.Context, d domain.Dialogue, claim domain.CallClaim, block *domain.ClosedBlock, cause error) error {
	wait, retry := a.Models.RetryDelay(d.Provider, cause, claim.Failures)
	var events []domain.NewEvent
	if retry {
		events = append(events, retryEvent(domain.CodeOf(cause), domain.PublicMessage(cause), wait))
	} else {
		a.keep(ctx, claim, block)
	}
	if err := a.Store.FailModelCall(ctx, claim, 1, events...); err != nil {
		return again(err)
	}
	if retry {
		return temporal.NewApplicationErrorWithOptions(domain.PublicMessage(cause), string(domain.CodeOf(cause)),
			temporal.ApplicationErrorOptions{Cause: cause, NextRetryDelay: max(wait, time.Millisecond)})
	}
	return temporal.NewNonRetryableApplicationError(domain.PublicMessage(cause), string(domain.CodeOf(cause)), cause)
}

// recall finds the notes of the turn's project that fit its question. It is asked the same in
// each round, so that what was said before stays as it was.
func (a *Model) recall(ctx context.Context, d domain.Dialogue) ([]domain.Memory, error) {
	if a.Memories == nil || d.Scope.ProjectID == "" {
		return nil, nil
	}
	notes, err := a.Memories.Recall(ctx, d.Scope.ProjectID, d.Turn.Query)
	if err != nil {
		return nil, fmt.Errorf("recall memories: %w", err)
	}
	return notes, nil
}
