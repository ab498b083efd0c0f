package main

import (
	"context"
	"fmt"
	"time"
)

// woken is how long some turns took, from the first decision.
type woken struct{ results, ends time.Duration }

// wake decides on turns, and waits until all have ended.
func (w *waitingHouse) wake(ctx context.Context, turns []waitingTurn) (took woken, err error) {
	ids := make([]string, len(turns))
	for i, t := range turns {
		ids[i] = t.turn
	}
	count := func(sql string) (n int, err error) { // by their ids: it must cost less than what it looks at
		err = w.front.pool.QueryRow(ctx, sql, ids).Scan(&n)
		return n, err
	}
	started := time.Now()
	if err := inParallel(ctx, turns, w.decide); err != nil {
		return took, err
	}
	err = poll(ctx, len(turns), func() (int, error) {
		return count("select count(*) from actions where turn_id = any($1) and status = 'applied'")
	})
	if err != nil {
		return took, err
	}
	took.results = time.Since(started)
	err = poll(ctx, len(turns), func() (int, error) {
		return count("select count(*) from turns where id = any($1) and status = 'done'")
	})
	took.ends = time.Since(started)
	return took, err
}

// wake wakes all turns and as many workflows of the reference, in batches that take turns, so
// that both meet the same machine.
func (b *bench) wake(ctx context.Context, w *waitingHouse) ([]Row, error) {
	var ours woken
	var bare time.Duration
	oursCPU, bareCPU := shares{}, shares{}
	all := len(w.waiting)
	for len(w.waiting) > 0 {
		n := min(wakeBatch, len(w.waiting))
		used, err := w.cpu(b, func() error {
			took, err := w.wake(ctx, w.take(n))
			ours.results, ours.ends = ours.results+took.results, ours.ends+took.ends
			return err
		})
		if err != nil {
			return nil, err
		}
		oursCPU.add(used)
		used, err = w.cpu(b, func() error {
			took, err := w.bare.wake(ctx, w.bare.take(n))
			bare += took
			return err
		})
		if err != nil {
			return nil, err
		}
		bareCPU.add(used)
		b.say(fmt.Sprintf("%d still wait; so far woken in %s, the reference in %s", len(w.waiting), ours.ends.Round(time.Second), bare.Round(time.Second)))
	}
	rate := func(d time.Duration) float64 { return float64(all) / d.Seconds() }
	name := fmt.Sprintf("%d turns are woken: ", all)
	row := func(what string, took time.Duration, least float64) Row {
		return Row{Name: name + what, Unit: "turns/s", Ours: rate(took), Bare: rate(bare), Ratio: rate(took) / rate(bare), LeastRatio: least, Reference: bareWake}
	}
	oursCPU, bareCPU = oursCPU.each(all), bareCPU.each(all)
	return []Row{
		row("their actions are done", ours.results, wakeLeast),
		row("they have ended", ours.ends, wakeLeast),
		{Name: name + "CPU of each", Unit: "ms", Ours: oursCPU.sum(), Bare: bareCPU.sum(), Ratio: oursCPU.sum() / max(bareCPU.sum(), 0.001),
			Reference: bareWake, Parts: oursCPU, BareParts: bareCPU},
	}, nil
}

// cpu gives the CPU time that something takes, of this process, the servers and the workers.
func (w *waitingHouse) cpu(b *bench, do func() error) (shares, error) {
	look := func() (shares, error) {
		all, err := b.cpuShares()
		if err != nil || len(all) == 0 {
			return all, err
		}
		for name, a := range map[string]*apart{"worker": w.worker, "bare worker": w.bare.worker} {
			took, err := treeCPU(a.cmd.Process.Pid)
			if err != nil {
				return nil, err
			}
			all[name] = milliseconds(took)
		}
		return all, nil
	}
	before, err := look()
	if err != nil {
		return nil, err
	}
	if err := do(); err != nil {
		return nil, err
	}
	after, err := look()
	return after.since(before), err
}
