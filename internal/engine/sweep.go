package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	sweepEvery = 2 * time.Second
	// sweepAge is how old a row without a workflow must be: its creator is about to start it.
	sweepAge = 2 * time.Second
	// sweepLimit bounds what one sweep starts, so that a backlog does not hold the tick up.
	sweepLimit = 50

	watchEvery = time.Minute
)

// Run sweeps, reconciles and keeps the watches until ctx ends. What fails is logged and
// tried again at the next tick.
func (e *Engine) Run(ctx context.Context) error {
	reconcile := reconciler{engine: e}
	for _, duty := range []struct {
		name  string
		every time.Duration
		do    func(context.Context) error
	}{
		{"sweep", sweepEvery, e.Sweep},
		{"reconcile", reconcileEvery, reconcile.page},
		{"watches", watchEvery, e.keepWatches},
	} {
		go e.repeat(ctx, duty.name, duty.every, duty.do)
	}
	<-ctx.Done()
	return nil
}

// repeat does a duty at once and then again and again, a little off the beat so that
// several processes don't do theirs in the same moment.
func (e *Engine) repeat(ctx context.Context, name string, every time.Duration, do func(context.Context) error) {
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			e.Log.Warn().Str("duty", name).Err(err).Msg("duty_postponed")
		}
		timer := time.NewTimer(every - every/10 + rand.N(every/5))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// Sweep starts the turns and runs that have not begun: their creator died, or could not
// reach Temporal, or no worker has taken them yet. A workflow that is there already is left
// alone, so that doing it twice, or from several processes at once, is harmless; each row is
// looked at once.
func (e *Engine) Sweep(ctx context.Context) error {
	turns, err := e.Turns.UnstartedTurns(ctx, sweepAge, sweepLimit)
	if err != nil {
		return fmt.Errorf("list unstarted turns: %w", err)
	}
	for _, turn := range turns {
		if err := e.launchTurn(ctx, turn); err != nil {
			return err
		}
		if err := e.Turns.MarkLaunched(ctx, turn.ID); err != nil {
			return fmt.Errorf("mark turn launched: %w", err)
		}
		e.Log.Info().Str("turn_id", turn.ID).Msg("turn_swept")
	}
	runs, err := e.Ingests.UnstartedIngests(ctx, sweepAge, sweepLimit)
	if err != nil {
		return fmt.Errorf("list unstarted ingests: %w", err)
	}
	for _, run := range runs {
		if err := e.launchIngest(ctx, run.IngestOrder); err != nil {
			return err
		}
		if err := e.Ingests.MarkIngestLaunched(ctx, run.ID); err != nil {
			return fmt.Errorf("mark ingest launched: %w", err)
		}
		e.Log.Info().Str("ingest_id", run.ID).Msg("ingest_swept")
	}
	return nil
}
