package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	sweepEvery = 2 * time.Second
	// sweepAge is how old a row without a workflow must be: its creator is about to start it.
	sweepAge = 2 * time.Second
	// sweepLimit bounds what one sweep starts, so that a backlog does not hold the tick up.
	sweepLimit = 50

	watchEvery = time.Minute
)

// Run sweeps, reconciles, keeps the watches and keeps house until ctx ends, and returns once
// none of it is at work any more. What fails is logged and tried again at the next tick.
func (e *Engine) Run(ctx context.Context) error {
	reconcile := reconciler{engine: e}
	var duties sync.WaitGroup
	for _, duty := range []struct {
		name  string
		every time.Duration
		do    func(context.Context) error
	}{
		{"sweep", sweepEvery, e.Sweep},
		{"afterwords", sweepEvery, e.sweepAfterwords},
		{"commands", sweepEvery, e.sweepCommands},
		{"command actions", sweepEvery, e.sweepCommandActions},
		{"provisions", sweepEvery, e.sweepProvisions},
		{"reconcile", reconcileEvery, reconcile.page},
		{"reconcile provisions", reconcileEvery, e.reconcileProvisions},
		{"containers", reapEvery, e.Reap},
		{"watches", watchEvery, e.keepWatches},
		{"deletions", deletionAge, e.sweepProjects},
		{"housekeeping", housekeepEvery, e.Housekeep},
	} {
		duties.Go(func() { e.repeat(ctx, duty.name, duty.every, duty.do) })
	}
	duties.Wait()
	e.launches.Wait()
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

// Sweep tells turns of decisions, and starts the turns and runs that have not begun: their creator died, or could not
// reach Temporal, or no worker has taken them yet. A workflow that is there already is left
// alone, so that doing it twice, or from several processes at once, is harmless; each row is
// looked at once.
func (e *Engine) Sweep(ctx context.Context) error {
	turns, err := e.Turns.UnstartedTurns(ctx, sweepAge, sweepLimit)
	if err != nil {
		return fmt.Errorf("list unstarted turns: %w", err)
	}
	failure := each(turns, func(turn domain.Turn) error { return e.startTurn(ctx, turn) })
	failure = errors.Join(failure, e.sweepDecisions(ctx))
	runs, err := e.Ingests.UnstartedIngests(ctx, sweepAge, sweepLimit)
	if err != nil {
		return errors.Join(failure, fmt.Errorf("list unstarted ingests: %w", err))
	}
	return errors.Join(failure, each(runs, func(run domain.OpenIngest) error { return e.startIngest(ctx, run) }))
}

// startTurn starts a turn that was not, or ends one that can't be.
func (e *Engine) startTurn(ctx context.Context, turn domain.Turn) error {
	err := e.launchTurn(ctx, turn)
	if domain.CodeOf(err) == domain.CodeUnprocessable {
		return e.refuseTurn(ctx, turn.ID, err)
	}
	if err != nil {
		return err
	}
	if err := e.Turns.MarkLaunched(ctx, turn.ID); err != nil {
		return fmt.Errorf("mark turn launched: %w", err)
	}
	e.Log.Info().Str("turn_id", turn.ID).Msg("turn_swept")
	return nil
}

// refuseTurn ends a turn whose workflow can never be started.
func (e *Engine) refuseTurn(ctx context.Context, id string, cause error) error {
	e.Log.Error().Str("turn_id", id).Err(cause).Msg("turn_refused")
	_, err := e.Turns.FinishTurn(ctx, domain.TurnEnd{
		TurnID: id, Status: domain.TurnFailed, Reason: domain.EndFailed,
		Code: domain.CodeInternal, Error: domain.PublicMessage(cause),
	})
	if err != nil {
		return fmt.Errorf("end turn %s: %w", id, err)
	}
	return nil
}

// startIngest starts a run that was not, or ends one that can't be.
func (e *Engine) startIngest(ctx context.Context, run domain.OpenIngest) error {
	err := e.launchIngest(ctx, run.IngestOrder)
	if domain.CodeOf(err) == domain.CodeUnprocessable {
		e.Log.Error().Str("ingest_id", run.ID).Err(err).Msg("ingest_refused")
		_, err = e.Ingests.EndIngest(ctx, run.ID, domain.CodeInternal, domain.PublicMessage(err))
		return err
	}
	if err != nil {
		return err
	}
	if err := e.Ingests.MarkIngestLaunched(ctx, run.ID); err != nil {
		return fmt.Errorf("mark ingest launched: %w", err)
	}
	e.Log.Info().Str("ingest_id", run.ID).Msg("ingest_swept")
	return nil
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
