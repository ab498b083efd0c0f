package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	reconcileEvery = 5 * time.Second
	// reconcileAge is how old a row must be before anybody doubts its workflow.
	reconcileAge = 10 * time.Second
	// reconcilePage bounds the rows that one tick looks at; the next tick goes on after them.
	reconcilePage = 100
)

// reconciler compares open rows with their workflows, a page at a time: a row whose workflow
// is closed or gone is ended, a workflow whose cancellation was asked for and not delivered
// is canceled. It never hurts to do it twice: a row ends once, and a workflow closes only
// after its row has ended.
type reconciler struct {
	engine                *Engine
	turn, ingest, command string // the last ids that were looked at
}

func (r *reconciler) page(ctx context.Context) error {
	turns, err := r.engine.Turns.OpenTurns(ctx, reconcileAge, r.turn, reconcilePage)
	if err != nil {
		return fmt.Errorf("list open turns: %w", err)
	}
	r.turn = ""
	if len(turns) == reconcilePage {
		r.turn = turns[len(turns)-1].ID
	}
	failure := each(turns, func(turn domain.Turn) error { return r.engine.reconcileTurn(ctx, turn) })
	runs, err := r.engine.Ingests.OpenIngests(ctx, reconcileAge, r.ingest, reconcilePage)
	if err != nil {
		return errors.Join(failure, fmt.Errorf("list open ingests: %w", err))
	}
	r.ingest = ""
	if len(runs) == reconcilePage {
		r.ingest = runs[len(runs)-1].ID
	}
	failure = errors.Join(failure, each(runs, func(run domain.OpenIngest) error { return r.engine.reconcileIngest(ctx, run) }))
	return errors.Join(failure, r.commands(ctx))
}

func (r *reconciler) commands(ctx context.Context) error {
	if r.engine.Commands == nil {
		return nil
	}
	open, err := r.engine.Commands.OpenCommands(ctx, reconcileAge, r.command, reconcilePage)
	if err != nil {
		return fmt.Errorf("list open commands: %w", err)
	}
	r.command = ""
	if len(open) == reconcilePage {
		r.command = open[len(open)-1].ID
	}
	return each(open, func(c domain.Command) error { return r.engine.reconcileCommand(ctx, c) })
}

// Reconcile looks at every open row once.
func (e *Engine) Reconcile(ctx context.Context) error {
	r := reconciler{engine: e}
	for {
		if err := r.page(ctx); err != nil {
			return err
		}
		if r.turn == "" && r.ingest == "" && r.command == "" {
			return e.reconcileProvisions(ctx)
		}
	}
}

// verdict is what the state of a workflow means for its open row.
type verdict struct {
	over    bool // nothing will end the row anymore
	code    domain.Code
	message string
}

// judge asks Temporal for the state of a workflow.
func (e *Engine) judge(ctx context.Context, workflowID string) (verdict, error) {
	described, err := e.Temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return verdict{over: true, code: domain.CodeInternal, message: "its workflow is gone from Temporal"}, nil
	}
	if err != nil {
		return verdict{}, fmt.Errorf("describe workflow %s: %w", workflowID, err)
	}
	switch status := described.GetWorkflowExecutionInfo().GetStatus(); status {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW,
		enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED, enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED:
		return verdict{}, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return verdict{over: true, code: domain.CodeCanceled, message: "its workflow was terminated by an operator"}, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return verdict{over: true, code: domain.CodeCanceled, message: "it was canceled"}, nil
	default:
		return verdict{over: true, code: domain.CodeInternal, message: "its workflow ended without an outcome (" + status.String() + ")"}, nil
	}
}

func (e *Engine) reconcileTurn(ctx context.Context, turn domain.Turn) error {
	if !turn.Launched {
		return nil // the sweeper's
	}
	id := workflows.TurnWorkflowID(turn.ID)
	found, err := e.judge(ctx, id)
	switch {
	case err != nil:
		return err
	case !found.over && turn.CancelRequested:
		return e.cancel(ctx, id)
	case !found.over:
		return nil
	}
	answer, err := e.Turns.PartialAnswer(ctx, turn.ID)
	if err != nil {
		return fmt.Errorf("keep the partial answer: %w", err)
	}
	end := domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnFailed, Reason: domain.EndFailed, Answer: answer, Code: found.code, Error: found.message}
	if found.code == domain.CodeCanceled {
		end.Status, end.Reason = domain.TurnCanceled, domain.EndCanceled
	}
	if _, err := e.Turns.FinishTurn(ctx, end); err != nil {
		return fmt.Errorf("end turn %s: %w", turn.ID, err)
	}
	e.Log.Warn().Str("turn_id", turn.ID).Str("reason", found.message).Msg("turn_reconciled")
	return nil
}

func (e *Engine) reconcileIngest(ctx context.Context, run domain.OpenIngest) error {
	if !run.Launched {
		return nil // the sweeper's
	}
	found, err := e.judge(ctx, run.WorkflowID)
	switch {
	case err != nil:
		return err
	case !found.over && run.CancelRequested:
		return e.cancel(ctx, run.WorkflowID)
	case !found.over:
		return nil
	}
	if _, err := e.Ingests.EndIngest(ctx, run.ID, found.code, found.message); err != nil {
		return fmt.Errorf("end ingest %s: %w", run.ID, err)
	}
	e.Log.Warn().Str("ingest_id", run.ID).Str("reason", found.message).Msg("ingest_reconciled")
	return nil
}
