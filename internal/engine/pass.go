package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// pass lists the rows that wait for something since longer than age, and does it for each.
func pass[T any](ctx context.Context, what string, list func(context.Context, time.Duration, int) ([]T, error), age time.Duration, do func(context.Context, T) error) error {
	rows, err := list(ctx, age, sweepLimit)
	if err != nil {
		return fmt.Errorf("list %s: %w", what, err)
	}
	return each(rows, func(row T) error { return do(ctx, row) })
}

// failuresInRow is how many items of a pass may fail one after the other before the pass
// ends: then the fault is not theirs.
const failuresInRow = 3

// each does something for every item. One that fails keeps the others waiting no longer.
func each[T any](items []T, do func(T) error) error {
	var failures []error
	row := 0
	for _, item := range items {
		err := do(item)
		if err == nil {
			row = 0
			continue
		}
		failures = append(failures, err)
		if row++; row == failuresInRow {
			break
		}
	}
	return errors.Join(failures...)
}

// unstarted is a row whose workflow is to be started.
type unstarted struct {
	kind, id string
	launch   func(context.Context) error
	refuse   func(context.Context, error) error // where no workflow can ever be started for it, and why
	mark     func(ctx context.Context, id string) error
}

// begin starts the workflow of a row that was not, or refuses it. A workflow that is there
// already is left alone.
func (e *Engine) begin(ctx context.Context, row unstarted) error {
	err := row.launch(ctx)
	if domain.CodeOf(err) == domain.CodeUnprocessable {
		e.Log.Error().Str(row.kind+"_id", row.id).Err(err).Msg(row.kind + "_refused")
		return row.refuse(ctx, err)
	}
	if err != nil {
		return err
	}
	if err := row.mark(ctx, row.id); err != nil {
		return fmt.Errorf("mark %s launched: %w", row.kind, err)
	}
	e.Log.Info().Str(row.kind+"_id", row.id).Msg(row.kind + "_swept")
	return nil
}
