package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/flow"
)

// TurnWorkflowID is the ID of a turn's workflow.
func TurnWorkflowID(turnID string) string { return "turn/" + turnID }

// The bounds of a turn where its input says nothing.
const (
	DefaultMaxIterations    = 20
	DefaultCompactThreshold = 40_000
	DefaultCompactKeep      = 6
	DefaultParallelTools    = 8
	// maxSqueezes bounds how often a turn that is too long for its model is compacted.
	maxSqueezes = 4
)

// TurnInput starts a turn. The turn itself is a row.
type TurnInput struct {
	TurnID string     `json:"turn_id"`
	Queues Queues     `json:"queues"`
	Limits TurnLimits `json:"limits"`
}

// TurnLimits bounds a turn; 0 means the default.
type TurnLimits struct {
	MaxIterations    int `json:"max_iterations,omitempty"`    // model rounds before the synthesis
	CompactThreshold int `json:"compact_threshold,omitempty"` // characters of history beyond which it is summed up
	CompactKeep      int `json:"compact_keep,omitempty"`      // newest messages that a summary leaves alone
	ParallelTools    int `json:"parallel_tools,omitempty"`    // tool calls that run at once
}

// TurnResult says how a turn ended.
type TurnResult struct {
	Status domain.TurnStatus `json:"status"`
	Reason domain.EndReason  `json:"reason,omitempty"`
}

// TurnRef names a turn to a step.
type TurnRef struct {
	TurnID string `json:"turn_id"`
}

// TurnBegun is what a turn begins with.
type TurnBegun struct {
	Intent      domain.Intent `json:"intent,omitempty"` // "" where a model must tell
	HistorySize int           `json:"history_size"`     // characters
	Canceled    bool          `json:"canceled,omitempty"`
	Ended       bool          `json:"ended,omitempty"` // there is nothing left to do
}

// Classified is the intent that a model saw.
type Classified struct {
	Intent domain.Intent `json:"intent"`
}

// CompactInput asks for the older part of a turn's dialogue to be summed up.
type CompactInput struct {
	TurnID string `json:"turn_id"`
	CallID string `json:"call_id"`
	Keep   int    `json:"keep"`            // newest messages left alone
	Force  bool   `json:"force,omitempty"` // the model refused the dialogue: sum up all that can be
}

// Compacted says whether anything was summed up.
type Compacted struct {
	Done bool `json:"done"`
}

// GenerateInput asks for a round of the model.
type GenerateInput struct {
	TurnID         string `json:"turn_id"`
	Round          int    `json:"round"`
	Conversational bool   `json:"conversational,omitempty"` // ask_user is the only tool
	Synthesis      bool   `json:"synthesis,omitempty"`      // the rounds are used up: no tools
}

// Generated is what a round leads to: tool calls, or the turn's end.
type Generated struct {
	Calls  []CallRef        `json:"calls,omitempty"`  // to run before the next round
	Reason domain.EndReason `json:"reason,omitempty"` // set where the turn is over
	Note   string           `json:"note,omitempty"`   // more about the reason, for people
	Ended  bool             `json:"ended,omitempty"`  // somebody else has ended the turn
}

// CallRef names a tool call, with all that the loop decides by.
type CallRef struct {
	ID    string        `json:"id"`
	Name  string        `json:"name"`
	Local bool          `json:"local,omitempty"` // short: may run inside the workflow task
	Asks  bool          `json:"asks,omitempty"`  // must wait for a person's approval
	Limit time.Duration `json:"limit"`
	// Expires is when a call that Asks is not waited for any longer.
	Expires time.Time `json:"expires,omitzero"`
}

// ToolInput names the call to run.
type ToolInput struct {
	TurnID string `json:"turn_id"`
	CallID string `json:"call_id"`
}

// ToolRan is the outcome of a tool call as far as the loop needs it.
type ToolRan struct {
	Error bool `json:"error,omitempty"`
}

// AbandonInput ends a tool call that could not be run.
type AbandonInput struct {
	TurnID string `json:"turn_id"`
	CallID string `json:"call_id"`
	Reason string `json:"reason"` // for the model
}

// FinishInput ends a turn.
type FinishInput struct {
	TurnID string            `json:"turn_id"`
	Status domain.TurnStatus `json:"status"`
	Reason domain.EndReason  `json:"reason"`
	Note   string            `json:"note,omitempty"`  // more about the reason, for people
	Code   domain.Code       `json:"code,omitempty"`  // of a failure
	Error  string            `json:"error,omitempty"` // of a failure, for people
}

// The workflow and its activities.
var (
	TurnQuery = flow.Workflow[TurnInput, TurnResult]{Name: "turn.query"}

	BeginTurn     = flow.Activity[TurnRef, TurnBegun]{Name: "turn.begin"}
	ClassifyTurn  = flow.Activity[TurnRef, Classified]{Name: "turn.classify"}
	CompactTurn   = flow.Activity[CompactInput, Compacted]{Name: "turn.compact"}
	FinishTurn    = flow.Activity[FinishInput, TurnResult]{Name: "turn.finish"}
	GenerateModel = flow.Activity[GenerateInput, Generated]{Name: "model.generate"}
	LocalTool     = flow.Activity[ToolInput, ToolRan]{Name: "tool.local"}
	RunTool       = flow.Activity[ToolInput, ToolRan]{Name: "tool.run"}
	ApplyAction   = flow.Activity[ToolInput, Applied]{Name: "action.apply"}
	CloseAction   = flow.Activity[AbandonInput, ToolRan]{Name: "action.close"}
	AbandonTool   = flow.Activity[AbandonInput, ToolRan]{Name: "tool.abandon"}
)

// RunTurnQuery answers a query: it begins the turn, lets the model and its tools take turns,
// and ends with exactly one terminal event, whatever happens.
func RunTurnQuery(ctx workflow.Context, in TurnInput) (TurnResult, error) {
	t := newTurn(in)
	reason, err := t.run(ctx)
	if errors.Is(err, errTurnEnded) {
		return TurnResult{}, nil
	}
	return t.finish(ctx, reason, err)
}

// errTurnEnded says that the turn's row is final already.
var errTurnEnded = errors.New("the turn has ended")

// turn is the state of a running turn.
type turn struct {
	in             TurnInput
	limits         TurnLimits
	conversational bool
	squeezes       int
	decided        map[string]bool // calls of which a decision was told; nil before the first that asks
	note           string          // more about the reason of the end
}

func newTurn(in TurnInput) *turn {
	return &turn{in: in, limits: TurnLimits{
		MaxIterations:    positive(in.Limits.MaxIterations, DefaultMaxIterations),
		CompactThreshold: positive(in.Limits.CompactThreshold, DefaultCompactThreshold),
		CompactKeep:      positive(in.Limits.CompactKeep, DefaultCompactKeep),
		ParallelTools:    positive(in.Limits.ParallelTools, DefaultParallelTools),
	}}
}

// positive gives n, or the standard where n is not positive.
func positive(n, standard int) int {
	if n > 0 {
		return n
	}
	return standard
}

func (t *turn) run(ctx workflow.Context) (domain.EndReason, error) {
	if err := t.begin(ctx); err != nil {
		return "", err
	}
	for round := 0; ; round++ {
		out, err := t.generate(ctx, round)
		switch {
		case err != nil:
			return "", err
		case out.Ended:
			return "", errTurnEnded
		case out.Reason != "":
			t.note = out.Note
			return out.Reason, nil
		}
		if err := t.runTools(ctx, out.Calls); err != nil {
			return "", err
		}
	}
}

// begin marks the turn running, finds its intent and makes its history fit.
func (t *turn) begin(ctx workflow.Context) error {
	begun, err := step(ctx, BeginTurn, TurnRef{t.in.TurnID}, "Begin the turn")
	switch {
	case err != nil:
		return err
	case begun.Ended:
		return errTurnEnded
	case begun.Canceled:
		return temporal.NewCanceledError()
	}
	if begun.Intent == "" {
		classified, err := ClassifyTurn.Execute(modelCall(ctx, t.in.Queues, "Classify the message"), TurnRef{t.in.TurnID}).Result(ctx)
		if err != nil {
			return err
		}
		begun.Intent = classified.Intent
	}
	t.conversational = begun.Intent == domain.IntentConversational
	if begun.HistorySize <= t.limits.CompactThreshold {
		return nil
	}
	in := CompactInput{TurnID: t.in.TurnID, CallID: "compact", Keep: t.limits.CompactKeep}
	_, err = CompactTurn.Execute(modelCall(ctx, t.in.Queues, "Sum the history up"), in).Result(ctx)
	if temporal.IsCanceledError(err) {
		return err
	}
	return nil // a model that takes the whole history needs no summary
}

// generate runs a round of the model. A dialogue that is too long for it is compacted, as
// often as that changes anything.
func (t *turn) generate(ctx workflow.Context, round int) (Generated, error) {
	in := GenerateInput{TurnID: t.in.TurnID, Round: round, Conversational: t.conversational, Synthesis: round >= t.limits.MaxIterations}
	summary := fmt.Sprintf("Round %d of the model", round+1)
	for {
		out, err := GenerateModel.Execute(modelCall(ctx, t.in.Queues, summary), in).Result(ctx)
		if code, _ := failureReason(err); code != domain.CodeTooLarge || t.squeezes >= maxSqueezes {
			return out, err
		}
		t.squeezes++
		squeeze := CompactInput{TurnID: t.in.TurnID, CallID: fmt.Sprintf("squeeze%d", t.squeezes), Force: true}
		squeezed, squeezeErr := CompactTurn.Execute(modelCall(ctx, t.in.Queues, "Make the dialogue fit the model"), squeeze).Result(ctx)
		if temporal.IsCanceledError(squeezeErr) {
			return out, squeezeErr
		}
		if squeezeErr != nil || !squeezed.Done {
			return out, err // the refusal, by name
		}
	}
}

// runTools runs the calls of a round, several at once. Those that ask wait for a person
// meanwhile, and take no room for it.
func (t *turn) runTools(ctx workflow.Context, calls []CallRef) error {
	room := workflow.NewSemaphore(ctx, int64(t.limits.ParallelTools))
	running := workflow.NewWaitGroup(ctx)
	var failed error
	for _, call := range calls {
		if call.Asks {
			running.Add(1)
			t.listen(ctx)
			workflow.Go(ctx, func(ctx workflow.Context) {
				defer running.Done()
				if err := t.confirm(ctx, call, room); err != nil {
					failed = err
				}
			})
			continue
		}
		if err := room.Acquire(ctx, 1); err != nil {
			failed = err
			break
		}
		running.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer running.Done()
			defer room.Release(1)
			if err := t.runTool(ctx, call); err != nil {
				failed = err
			}
		})
	}
	running.Wait(ctx)
	return failed
}

// runTool runs one call. Only a cancellation, or a store that can't be reached, is an error:
// everything else has become a result for the model.
func (t *turn) runTool(ctx workflow.Context, call CallRef) error {
	in := ToolInput{TurnID: t.in.TurnID, CallID: call.ID}
	if call.Local {
		_, err := LocalTool.ExecuteLocal(localTool(ctx, call.Limit, call.Name), in).Result(ctx)
		if err == nil || temporal.IsCanceledError(err) {
			return err
		}
	}
	_, err := RunTool.Execute(remoteTool(ctx, t.in.Queues, call.Limit, call.Name), in).Result(ctx)
	if err == nil || temporal.IsCanceledError(err) {
		return err
	}
	_, text := failureReason(err)
	_, err = step(ctx, AbandonTool, AbandonInput{TurnID: in.TurnID, CallID: in.CallID, Reason: text}, "Give up "+call.Name)
	return err
}

// finish ends the turn, on a context that a cancel does not reach.
func (t *turn) finish(ctx workflow.Context, reason domain.EndReason, cause error) (TurnResult, error) {
	end := FinishInput{TurnID: t.in.TurnID, Status: domain.TurnDone, Reason: reason, Note: t.note}
	switch {
	case temporal.IsCanceledError(cause):
		end.Status, end.Reason = domain.TurnCanceled, domain.EndCanceled
	case cause != nil:
		end.Status, end.Reason = domain.TurnFailed, domain.EndFailed
		end.Code, end.Error = failureReason(cause)
	}
	apart, _ := workflow.NewDisconnectedContext(ctx)
	return step(apart, FinishTurn, end, "End the turn")
}

// step runs a short step on the store: at once inside the workflow task, or, where that
// fails, for as long as it takes.
func step[In, Out any](ctx workflow.Context, activity flow.Activity[In, Out], in In, summary string) (Out, error) {
	out, err := activity.ExecuteLocal(quickStep(ctx, summary), in).Result(ctx)
	var failure *temporal.ApplicationError
	if err == nil || temporal.IsCanceledError(err) || errors.As(err, &failure) && failure.NonRetryable() {
		return out, err
	}
	return activity.Execute(durableStep(ctx, summary), in).Result(ctx)
}
