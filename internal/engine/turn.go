package engine

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// TurnStore keeps the turns.
type TurnStore interface {
	// CreateTurn accepts a query in one commit, or gives the turn that its idempotency key
	// stands for. For its errors see Engine.StartTurn.
	CreateTurn(ctx context.Context, req domain.TurnRequest) (turn domain.Turn, created bool, err error)
	// Turn gives a turn, or not_found.
	Turn(ctx context.Context, id string) (domain.Turn, error)
	// RequestCancel records that the turn is to stop; conflict where it has ended.
	RequestCancel(ctx context.Context, id string) (launched bool, err error)
	// MarkLaunched records that the turn's workflow was started.
	MarkLaunched(ctx context.Context, id string) error
	// UnstartedTurns lists turns older than age that are not known to have a workflow.
	UnstartedTurns(ctx context.Context, age time.Duration, limit int) ([]domain.Turn, error)
	// OpenTurns lists turns older than age that have not ended, by id, after the given one.
	OpenTurns(ctx context.Context, age time.Duration, after string, limit int) ([]domain.Turn, error)
	// PartialAnswer gives what the turn's models have said so far.
	PartialAnswer(ctx context.Context, id string) (string, error)
	// FinishTurn ends a turn with its terminal event; one that has ended stays as it is.
	FinishTurn(ctx context.Context, end domain.TurnEnd) (domain.Turn, error)
}

// StartTurn stores the turn and starts it, or gives the earlier turn of the same idempotency
// key. A turn that is stored will run: where Temporal can't be reached now, the sweeper
// starts it. That a workflow was started is recorded by its own first step, and else by the
// sweeper: another commit here would only delay the model.
//
// Errors: conflict where the conversation is busy, unprocessable where the key came with
// another body, not_found for a conversation that is not the user's and for a repository
// or version that has not been read.
func (e *Engine) StartTurn(ctx context.Context, req domain.TurnRequest) (domain.Turn, error) {
	req, err := e.scrubTurn(ctx, req)
	if err != nil {
		return domain.Turn{}, err
	}
	turn, created, err := e.Turns.CreateTurn(ctx, req)
	if err != nil || !created {
		return turn, err
	}
	if err := e.launchTurn(context.WithoutCancel(ctx), turn); err != nil {
		e.Log.Warn().Str("turn_id", turn.ID).Err(err).Msg("turn_launch_postponed")
	}
	return turn, nil
}

func (e *Engine) launchTurn(ctx context.Context, turn domain.Turn) error {
	ctx, stop := context.WithTimeout(ctx, launchTimeout)
	defer stop()
	return e.start(ctx, launch{
		id: workflows.TurnWorkflowID(turn.ID), queue: e.Queues.Turns,
		workflow: workflows.TurnQuery.Name,
		input:    workflows.TurnInput{TurnID: turn.ID, Queues: e.Queues, Limits: e.TurnLimits},
		labels: labels{
			kind: "turn", user: turn.UserID, project: turn.ProjectID, conversation: turn.ConversationID,
			subject: turn.ID, repositories: turn.Repositories,
		},
		memo:    map[string]any{"turn_id": turn.ID, "conversation_id": turn.ConversationID},
		summary: oneLine(turn.Query),
		details: turnDetails(turn),
	})
}

// oneLine folds the blanks of text.
func oneLine(text string) string {
	if len(text) > 4*summaryLength { // what is cut off anyway need not be folded
		text = text[:4*summaryLength]
	}
	return strings.Join(strings.Fields(text), " ")
}

// turnDetails is what the Temporal UI shows above a turn's history.
func turnDetails(turn domain.Turn) string {
	var text strings.Builder
	fmt.Fprintf(&text, "**Turn** `%s`", turn.ID)
	if turn.ConversationID != "" {
		fmt.Fprintf(&text, " of conversation `%s`", turn.ConversationID)
	}
	if len(turn.Repositories) > 0 {
		fmt.Fprintf(&text, " on %s", strings.Join(turn.Repositories, ", "))
	}
	fmt.Fprintf(&text, "\n\n> %s\n", strings.ReplaceAll(cut(turn.Query, quoteLength), "\n", "\n> "))
	return text.String()
}

// Turn gives a turn, or not_found.
func (e *Engine) Turn(ctx context.Context, id string) (domain.Turn, error) {
	return e.Turns.Turn(ctx, id)
}

// WaitTurn blocks until the turn is final, or waits for a person. An end of ctx ends the
// wait, not the turn.
func (e *Engine) WaitTurn(ctx context.Context, id string) (domain.Turn, error) {
	turn, err := e.Turns.Turn(ctx, id)
	if err != nil || turn.Status.Final() || turn.Status == domain.TurnWaiting {
		return turn, err
	}
	for event, err := range e.Events.Follow(ctx, id, domain.Cursor{}) {
		if err != nil {
			return domain.Turn{}, err
		}
		if event.Type != domain.EventConfirmAction {
			continue
		}
		if turn, err = e.Turns.Turn(ctx, id); err != nil || turn.Status == domain.TurnWaiting {
			return turn, err
		}
	}
	return e.Turns.Turn(ctx, id)
}

// waitEnd blocks until the turn is final, whatever it waits for.
func (e *Engine) waitEnd(ctx context.Context, id string) error {
	for _, err := range e.Events.Follow(ctx, id, domain.Cursor{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// CancelTurn asks the turn to stop and gives it as it stands; a final turn is left alone.
// The row comes first: a turn that has not begun finds the request there, and should it not
// reach the workflow of one that has, the reconciler repeats it.
func (e *Engine) CancelTurn(ctx context.Context, id string) (domain.Turn, error) {
	_, err := e.Turns.RequestCancel(ctx, id)
	if err != nil && domain.CodeOf(err) != domain.CodeConflict {
		return domain.Turn{}, err
	}
	if err == nil {
		if err := e.cancel(context.WithoutCancel(ctx), workflows.TurnWorkflowID(id)); err != nil {
			e.Log.Warn().Str("turn_id", id).Err(err).Msg("turn_cancel_postponed")
		}
	}
	return e.Turns.Turn(ctx, id)
}

// Follow gives the turn's events after the cursor, the stored ones first and then those to
// come, and ends after the terminal event or with ctx.
func (e *Engine) Follow(ctx context.Context, turnID string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	return e.Events.Follow(ctx, turnID, after)
}
