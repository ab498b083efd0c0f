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
	engine                           *Engine
	turn, ingest, command, provision string // the last ids that were looked at; "" at the beginning
}

func (r *reconciler) page(ctx context.Context) error {
	e := r.engine
	failure := errors.Join(
		page(ctx, "open turns", e.Turns.OpenTurns, &r.turn, func(turn domain.Turn) string { return turn.ID }, e.reconcileTurn),
		page(ctx, "open ingests", e.Ingests.OpenIngests, &r.ingest, func(run domain.OpenIngest) string { return run.ID }, e.reconcileIngest),
	)
	if e.Commands != nil {
		failure = errors.Join(failure, page(ctx, "open commands", e.Commands.OpenCommands, &r.command,
			func(c domain.Command) string { return c.ID }, e.reconcileCommand))
	}
	if e.Provisions != nil {
		failure = errors.Join(failure, page(ctx, "open provisions", e.Provisions.OpenProvisions, &r.provision,
			func(p domain.Provision) string { return p.ID }, e.reconcileProvision))
	}
	return failure
}

// page looks at the open rows after a place, and moves it: to the beginning after the last page.
func page[T any](ctx context.Context, what string, list func(context.Context, time.Duration, string, int) ([]T, error), after *string,
	id func(T) string, do func(context.Context, T) error) error {
	open, err := list(ctx, reconcileAge, *after, reconcilePage)
	if err != nil {
		return fmt.Errorf("list %s: %w", what, err)
	}
	*after = ""
	if len(open) == reconcilePage {
		*after = id(open[len(open)-1])
	}
	return each(open, func(row T) error { return do(ctx, row) })
}

// Reconcile looks at every open row once.
func (e *Engine) Reconcile(ctx context.Context) error {
	r := reconciler{engine: e}
	for {
		if err := r.page(ctx); err != nil {
			return err
		}
		if r == (reconciler{engine: e}) {
			return nil
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

// openRow is a row that its workflow is to end.
type openRow struct {
	kind, id string
	workflow string
	launched bool // else it is the sweeper's
	cancel   bool // was asked for
	end      func(context.Context, verdict) error
}

// settle ends a row whose workflow will not, and cancels a workflow that was not told to stop.
func (e *Engine) settle(ctx context.Context, row openRow) error {
	if !row.launched {
		return nil
	}
	found, err := e.judge(ctx, row.workflow)
	switch {
	case err != nil:
		return err
	case !found.over && row.cancel:
		return e.cancel(ctx, row.workflow)
	case !found.over:
		return nil
	}
	if err := row.end(ctx, found); err != nil {
		return fmt.Errorf("end %s %s: %w", row.kind, row.id, err)
	}
	e.Log.Warn().Str(row.kind+"_id", row.id).Str("reason", found.message).Msg(row.kind + "_reconciled")
	return nil
}

func (e *Engine) reconcileTurn(ctx context.Context, turn domain.Turn) error {
	return e.settle(ctx, openRow{
		kind: "turn", id: turn.ID, workflow: workflows.TurnWorkflowID(turn.ID), launched: turn.Launched, cancel: turn.CancelRequested,
		end: func(ctx context.Context, found verdict) error {
			answer, err := e.Turns.PartialAnswer(ctx, turn.ID)
			if err != nil {
				return fmt.Errorf("keep the partial answer: %w", err)
			}
			end := domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnFailed, Reason: domain.EndFailed, Answer: answer, Code: found.code, Error: found.message}
			if found.code == domain.CodeCanceled {
				end.Status, end.Reason = domain.TurnCanceled, domain.EndCanceled
			}
			_, err = e.Turns.FinishTurn(ctx, end)
			return err
		},
	})
}

func (e *Engine) reconcileIngest(ctx context.Context, run domain.OpenIngest) error {
	return e.settle(ctx, openRow{
		kind: "ingest", id: run.ID, workflow: run.WorkflowID, launched: run.Launched, cancel: run.CancelRequested,
		end: func(ctx context.Context, found verdict) error {
			_, err := e.Ingests.EndIngest(ctx, run.ID, found.code, found.message)
			return err
		},
	})
}
