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
// reach Temporal, or no worker has taken them yet. Doing it twice, or from several processes at once, is harmless; each row is
// looked at once.
func (e *Engine) Sweep(ctx context.Context) error {
	return errors.Join(
		pass(ctx, "unstarted turns", e.Turns.UnstartedTurns, sweepAge, e.startTurn),
		e.sweepDecisions(ctx),
		pass(ctx, "unstarted ingests", e.Ingests.UnstartedIngests, sweepAge, e.startIngest),
	)
}

func (e *Engine) startTurn(ctx context.Context, turn domain.Turn) error {
	return e.begin(ctx, unstarted{
		kind: "turn", id: turn.ID, mark: e.Turns.MarkLaunched,
		launch: func(ctx context.Context) error { return e.launchTurn(ctx, turn) },
		refuse: func(ctx context.Context, cause error) error {
			_, err := e.Turns.FinishTurn(ctx, domain.TurnEnd{
				TurnID: turn.ID, Status: domain.TurnFailed, Reason: domain.EndFailed,
				Code: domain.CodeInternal, Error: domain.PublicMessage(cause),
			})
			if err != nil {
				return fmt.Errorf("end turn %s: %w", turn.ID, err)
			}
			return nil
		},
	})
}

func (e *Engine) startIngest(ctx context.Context, run domain.OpenIngest) error {
	return e.begin(ctx, unstarted{
		kind: "ingest", id: run.ID, mark: e.Ingests.MarkIngestLaunched,
		launch: func(ctx context.Context) error { return e.launchIngest(ctx, run.IngestOrder) },
		refuse: func(ctx context.Context, cause error) error {
			_, err := e.Ingests.EndIngest(ctx, run.ID, domain.CodeInternal, domain.PublicMessage(cause))
			return err
		},
	})
}
