package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/harvest-engine/harvest/internal/domain"
)

// housekeepEvery is how often what is past its time is removed.
const housekeepEvery = time.Hour

// HousekeepingStore removes what is past its time, and makes room for what comes.
type HousekeepingStore interface {
	// Housekeep does nothing where another process is at it.
	Housekeep(ctx context.Context, keep domain.Retention) (domain.Housekeeping, error)
}

// HousekeepingGraph removes what nobody can ask for any more.
type HousekeepingGraph interface {
	Housekeep(ctx context.Context) error
}

// Housekeep removes what is past its time. Doing it from several processes at once is harmless.
func (e *Engine) Housekeep(ctx context.Context) error {
	keep := domain.Retention{Events: e.EventsRetention, Audit: e.AuditRetention}
	closed, err := e.historyRetention(ctx)
	if err == nil {
		keep.Values = closed + 24*time.Hour // values stay until the histories that led to them are gone
	}
	done, storeErr := e.House.Housekeep(ctx, keep)
	if done.Any() {
		e.Log.Info().Strs("partitions", done.Partitions).Int64("runs", done.Runs).Int64("commands", done.Commands).Int64("keys", done.Keys).
			Int64("values", done.Values).Int64("audit", done.Audit).Int64("leftovers", done.Leftovers).Msg("old_data_removed")
	}
	failures := []error{err, storeErr}
	for _, graph := range e.Graphs {
		failures = append(failures, graph.Housekeep(ctx))
	}
	return errors.Join(failures...)
}

// historyRetention is how long Temporal keeps the histories of closed workflows.
func (e *Engine) historyRetention(ctx context.Context) (time.Duration, error) {
	described, err := e.Temporal.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: e.Namespace})
	if err != nil {
		return 0, fmt.Errorf("ask for the retention of histories: %w", err)
	}
	return described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(), nil
}
