package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
)

// persistLimit is how long an outcome waits for a database that is away: it was paid for, or
// done, and nobody else knows of it.
const (
	persistLimit = 45 * time.Second
	persistPause = 200 * time.Millisecond
)

// persist stores an outcome, which a cancel must not cut off, and waits where the database is
// away.
func persist(ctx context.Context, commit func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), persistLimit)
	defer cancel()
	for {
		err := commit(ctx)
		if domain.CodeOf(err) != domain.CodeUnavailable {
			return again(err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(persistPause):
		}
	}
}

// again makes the refusal of a write one that another attempt may mend: it claims the call
// anew and finds out what happened.
func again(err error) error {
	if domain.CodeOf(err) != domain.CodeSuperseded {
		return err
	}
	var known *domain.Error
	errors.As(err, &known)
	return temporal.NewApplicationErrorWithOptions(known.Message, string(domain.CodeSuperseded),
		temporal.ApplicationErrorOptions{Cause: err, NextRetryDelay: persistPause})
}
