package engine

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// ReconcileTurn looks at one turn, however young it is.
func (e *Engine) ReconcileTurn(ctx context.Context, turn domain.Turn) error {
	return e.reconcileTurn(ctx, turn)
}
