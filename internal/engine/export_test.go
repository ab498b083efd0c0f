package engine

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// ReconcileTurn looks at one turn, however young it is.
func (e *Engine) ReconcileTurn(ctx context.Context, turn domain.Turn) error {
	return e.reconcileTurn(ctx, turn)
}

// SweepCommands starts, settles and tells what nobody has.
func (e *Engine) SweepCommands(ctx context.Context) error { return e.sweepCommands(ctx) }

// SweepCommandActions ends what waits for an approval in vain.
func (e *Engine) SweepCommandActions(ctx context.Context) error { return e.sweepCommandActions(ctx) }

// Launched waits until all workflows that are being started are, or could not be.
func (e *Engine) Launched() { e.launches.Wait() }
