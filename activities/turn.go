package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/workflows"
)

// TurnStore keeps turns from their beginning to their end.
type TurnStore interface {
	Dialogue(ctx context.Context, turnID string) (domain.Dialogue, error)
	// BeginTurn marks a queued turn running; one that was begun before stays as it is.
	BeginTurn(ctx context.Context, id string, intent domain.Intent, events ...domain.NewEvent) error
	// PartialAnswer gives what the turn's models have said so far.
	PartialAnswer(ctx context.Context, turnID string) (string, error)
	// FinishTurn ends a turn; one that has ended stays as it is, and is given.
	FinishTurn(ctx context.Context, end domain.TurnEnd) (domain.Turn, error)
}

// Turn begins and ends turns.
type Turn struct {
	Store   TurnStore
	Sources CodeSources
	Symbols CodeSymbols
}

const (
	// quickCheck bounds the check of citations inside a workflow task; longer ones go on as
	// an activity of their own, with patientCheck.
	quickCheck   = 1200 * time.Millisecond
	patientCheck = 20 * time.Second
	// spentAnswer begins what stands for an answer that the budget did not allow.
	spentAnswer = "The budget was used up before there was an answer"
)

// Begin marks the turn running and tells its intent where words are enough.
func (a *Turn) Begin(ctx context.Context, in workflows.TurnRef) (workflows.TurnBegun, error) {
	defer beatUnlessLocal(ctx)()
	d, err := a.Store.Dialogue(ctx, in.TurnID)
	if err != nil {
		return workflows.TurnBegun{}, err
	}
	begun := workflows.TurnBegun{HistorySize: d.HistorySize(), Canceled: d.Canceled, Ended: d.Turn.Status.Final(), Intent: d.Turn.Intent}
	if d.Canceled || d.Turn.Status != domain.TurnQueued {
		return begun, nil
	}
	var events []domain.NewEvent
	if begun.Intent = guessIntent(d); begun.Intent != "" {
		events = append(events, intentEvent(begun.Intent))
	}
	if d.Turn.ConversationID != "" && len(d.History) == 0 && d.Summary == "" {
		events = append(events, domain.NewPayload(domain.EventTitleUpdated, map[string]string{
			"title": d.Title, "conv_id": d.Turn.ConversationID,
		}))
	}
	return begun, a.Store.BeginTurn(ctx, in.TurnID, begun.Intent, events...)
}

// Finish ends the turn: its answer's citations are checked, and the outcome, the message
// and the terminal event are one commit.
func (a *Turn) Finish(ctx context.Context, in workflows.FinishInput) (workflows.TurnResult, error) {
	defer beatUnlessLocal(ctx)()
	d, err := a.Store.Dialogue(ctx, in.TurnID)
	if err != nil {
		return workflows.TurnResult{}, err
	}
	if d.Turn.Status.Final() {
		return workflows.TurnResult{Status: d.Turn.Status, Reason: d.Turn.Reason}, nil
	}
	end := domain.TurnEnd{TurnID: in.TurnID, Status: in.Status, Reason: in.Reason, Code: in.Code, Error: in.Error}
	if in.Status == domain.TurnDone { // every call of it has ended
		end.Known = &d.Turn
	}
	if err := a.answer(ctx, d, &end); err != nil {
		return workflows.TurnResult{}, err
	}
	if end.Answer == "" && end.Reason == domain.EndBudgetExhausted {
		end.Answer = withReason(spentAnswer, in.Note)
	}
	if end.Sources, err = a.check(ctx, d.Scope, end.Answer); err != nil {
		return workflows.TurnResult{}, err
	}
	if claims(d, end) {
		end.Note = evidence(end.Sources)
	}
	ended, err := a.Store.FinishTurn(ctx, end)
	return workflows.TurnResult{Status: ended.Status, Reason: ended.Reason}, err
}

// answer finds the answer: the last round's text, or of a turn that was cut short what was
// said so far.
func (a *Turn) answer(ctx context.Context, d domain.Dialogue, end *domain.TurnEnd) error {
	switch end.Reason {
	case domain.EndCanceled, domain.EndFailed, domain.EndBudgetExhausted:
		partial, err := a.Store.PartialAnswer(ctx, d.Turn.ID)
		if err != nil {
			return err
		}
		end.Answer = partial
		return nil
	}
	if len(d.Rounds) == 0 {
		return domain.Errorf(domain.CodeInternal, "turn %s ends as %s without a round", d.Turn.ID, end.Reason)
	}
	last := d.Rounds[len(d.Rounds)-1]
	end.Answer = last.Message.Text()
	if end.Reason != domain.EndAsked {
		return nil
	}
	for _, call := range last.Calls {
		if q := asked(call); q != nil && end.Question == nil {
			end.Question = q
		}
	}
	if end.Answer == "" && end.Question != nil {
		end.Answer = end.Question.Question
	}
	return nil
}

// check resolves the citations of an answer. A graph that can't be asked must not keep a
// turn from ending: its sources stay unverified then.
func (a *Turn) check(ctx context.Context, scope domain.Scope, answer string) ([]domain.Source, error) {
	local := activity.GetInfo(ctx).IsLocalActivity
	limit := patientCheck
	if local {
		limit = quickCheck
	}
	checking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := checker{sources: a.Sources, symbols: a.Symbols, scope: scope,
		versions: map[graph.FileRef]*domain.VersionDetail{}, files: map[graph.FileRef]*citedFile{}}
	sources, err := c.check(checking, answer)
	if err == nil {
		return sources, nil
	}
	if local || ctx.Err() != nil {
		return nil, domain.Wrap(domain.CodeUnavailable, err, "the citations could not be checked in time")
	}
	c.scope.Repositories = []string{"\x00"} // nothing is looked up any more
	sources, err = c.check(ctx, answer)
	if err != nil {
		return nil, fmt.Errorf("list the citations: %w", err)
	}
	return sources, nil
}

// withReason makes a sentence of what happened and why, where that is known.
func withReason(what, why string) string {
	if why == "" {
		return what + "."
	}
	return what + ": " + why + "."
}

// claims reports whether an answer is one that must show evidence.
func claims(d domain.Dialogue, end domain.TurnEnd) bool {
	if d.Turn.Intent == domain.IntentConversational {
		return false
	}
	switch end.Reason {
	case domain.EndAnswered, domain.EndSynthesized, domain.EndMaxTokens:
		return true
	}
	return false
}

// beatUnlessLocal heartbeats for a step that runs as an activity of its own.
func beatUnlessLocal(ctx context.Context) (stop func()) {
	if activity.GetInfo(ctx).IsLocalActivity {
		return func() {}
	}
	return beat(ctx)
}
