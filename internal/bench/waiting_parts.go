package main

import (
	"context"
	"fmt"
	"time"
)

const (
	pausedLimit   = 64.0 // MB that a worker may grow by
	wakeLeast     = 0.5  // of the reference's rate
	decisionLimit = 250.0
	wakeBatch     = 500
	bareWake      = "bare workflows: a signal, one activity, the end"
)

// waitingParts are what can be measured of turns that wait.
var waitingParts = []string{"paused", "wake", "decision"}

// waitingRun measures turns that wait for a person: what many of them cost the worker, how
// fast one is decided, and how fast all are woken.
func (b *bench) waitingRun(ctx context.Context) (rows []Row, err error) {
	w, err := b.openWaiting(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.warmUp(ctx); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	many := b.only != "decision"
	n := b.samples(b.waiting)
	if !many {
		n = min(n, 2*b.samples(600))
	}
	b.say(fmt.Sprintf("%d turns begin to wait", n))
	paused, err := b.paused(ctx, w, n)
	if err != nil {
		return nil, err
	}
	if many {
		rows = append(rows, paused...)
	}
	if b.only == "paused" {
		return rows, nil
	}
	b.say("as many bare workflows begin to wait")
	if err := w.bare.pause(ctx, n); err != nil {
		return nil, fmt.Errorf("start the reference: %w", err)
	}
	for _, p := range []struct {
		name, title string
		do          func(context.Context, *waitingHouse) ([]Row, error)
	}{{"decision", "one decision with nothing else running", b.decision}, {"wake", "all of them are woken", b.wake}} {
		if b.wants(p.name) || b.only == "waiting" {
			b.say(p.title)
			found, err := p.do(ctx, w)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.title, err)
			}
			rows = append(rows, found...)
		}
	}
	return rows, nil
}

// warmUp makes the worker do everything a few times: what it holds then is not counted.
func (w *waitingHouse) warmUp(ctx context.Context) error {
	const few = 50
	if err := w.pause(ctx, few); err != nil {
		return err
	}
	if _, err := w.wake(ctx, w.take(few)); err != nil {
		return err
	}
	if err := w.bare.pause(ctx, few); err != nil {
		return err
	}
	_, err := w.bare.wake(ctx, w.bare.take(few))
	return err
}

// paused lets turns begin to wait, and tells what they cost the worker.
func (b *bench) paused(ctx context.Context, w *waitingHouse, n int) ([]Row, error) {
	before, err := w.worker.ask(askMemory)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	if err := w.pause(ctx, n); err != nil {
		return nil, err
	}
	rate := float64(n) / time.Since(started).Seconds()
	after, err := w.worker.ask(askMemory)
	b.say(fmt.Sprintf("the worker has grown from %.1f MB (heap %.1f) to %.1f MB (%.1f)", before.Resident, before.Heap, after.Resident, after.Heap))
	name := fmt.Sprintf("%d turns wait: ", n)
	return []Row{
		{Name: name + "the worker grows by, resident", Unit: "MB", Ours: after.Resident - before.Resident, Limit: pausedLimit},
		{Name: name + "the worker grows by, heap", Unit: "MB", Ours: after.Heap - before.Heap, Limit: pausedLimit},
		{Name: name + "they began to, of each second", Unit: "turns/s", Ours: rate},
	}, err
}
