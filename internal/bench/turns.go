package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	bareTurn = "a bare workflow with the same activities and the same commits"
	// turnLimit is the most that a turn may take, as a multiple of the reference.
	turnLimit    = 1.3
	arrivalLimit = 1.5
	crowdSize    = 50
	crowdLeast   = 15 // turns a second
	runningTurns = 200
)

// turn runs a turn and gives the time from its request to the terminal event at a reader.
func (h *house) turn(ctx context.Context, rounds int) (time.Duration, error) {
	started := time.Now()
	turn, err := h.engine.StartTurn(ctx, domain.TurnRequest{UserID: domain.OwnerID, Query: query(domain.NewID(), rounds)})
	if err != nil {
		return 0, err
	}
	h.counter.called("")
	last := domain.Event{}
	for event, err := range h.engine.Follow(ctx, turn.ID, domain.Cursor{}) {
		if err != nil {
			return 0, err
		}
		last = event
	}
	took := time.Since(started)
	if last.Type != domain.EventDone {
		return 0, fmt.Errorf("turn %s ended with %s %s", turn.ID, last.Type, last.Payload)
	}
	return took, nil
}

// costs measures what each step of turns commits. Turns with no round and with several
// tell the model calls that ask for tools from those that answer.
func (h *house) costs(ctx context.Context, turns, rounds int) (costs, error) {
	h.counter.on.Store(true)
	defer h.counter.on.Store(false)
	h.counter.reset()
	for range turns {
		if _, err := h.turn(ctx, 0); err != nil {
			return costs{}, err
		}
	}
	per := func(c cost, calls int) cost { return cost{calls, c.commits, c.bytes}.each() }
	model := h.counter.of(workflows.GenerateModel.Name)
	found := costs{
		create: h.counter.of("").each(), begin: per(h.counter.of(workflows.BeginTurn.Name), turns),
		answer: per(model, turns), finish: per(h.counter.of(workflows.FinishTurn.Name), turns),
	}
	h.counter.reset()
	for range turns {
		if _, err := h.turn(ctx, rounds); err != nil {
			return costs{}, err
		}
	}
	all := h.counter.of(workflows.GenerateModel.Name)
	found.ask = per(cost{0, all.commits - model.commits, all.bytes - model.bytes}, turns*rounds)
	found.tool = per(h.counter.of(workflows.LocalTool.Name), turns*rounds)
	return found, nil
}

// turns measures turns of one and of six rounds beside the reference.
func (b *bench) turns(ctx context.Context, h *house) ([]Row, error) {
	c, err := h.costs(ctx, 5, 3)
	if err != nil {
		return nil, err
	}
	b.say(fmt.Sprintf("commits and bytes of each step: create %v, begin %v, ask %v, tool %v, answer %v, finish %v",
		c.create, c.begin, c.ask, c.tool, c.answer, c.finish))
	var rows []Row
	for _, rounds := range []int{1, 6} {
		var ours, bare times
		for range b.samples(40) {
			took, err := h.turn(ctx, rounds)
			if err != nil {
				return nil, err
			}
			ours = append(ours, took)
			if took, err = h.bare.turn(ctx, rounds, c); err != nil {
				return nil, err
			}
			bare = append(bare, took)
		}
		name := fmt.Sprintf("turn of %d tool rounds, %s", rounds, layoutName(h.split))
		rows = append(rows, compare(name, ours, bare, bareTurn, turnLimit))
	}
	return rows, nil
}

// arrival measures the time from a request's arrival to the call of the model.
func (b *bench) arrival(ctx context.Context, h *house) ([]Row, error) {
	var ours, bare times
	for range b.samples(60) {
		key := domain.NewID()
		gate := h.model.watch(key, false)
		started := time.Now()
		response, err := h.call(ctx, "POST", "/query", &request{Query: query(key, 0)})
		if err != nil {
			return nil, err
		}
		response.Body.Close()
		ours = append(ours, (<-gate.called).Sub(started))
		took, err := h.bare.arrival(ctx)
		if err != nil {
			return nil, err
		}
		bare = append(bare, took)
	}
	return []Row{compare("request to model called, "+layoutName(h.split), ours, bare, "a bare start with one activity", arrivalLimit)}, nil
}

// crowd measures how many turns a second there are, with many at once.
func (b *bench) crowd(ctx context.Context, h *house) ([]Row, error) {
	c, err := h.costs(ctx, 2, 3)
	if err != nil {
		return nil, err
	}
	ours, err := b.together(ctx, func(ctx context.Context) error {
		_, err := h.turn(ctx, 6)
		return err
	})
	if err != nil {
		return nil, err
	}
	bare, err := b.together(ctx, func(ctx context.Context) error {
		_, err := h.bare.turn(ctx, 6, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return []Row{{
		Name: fmt.Sprintf("%d turns of 6 rounds at once, %s", crowdSize, layoutName(h.split)), Unit: "turns/s",
		Ours: ours.perSecond, Bare: bare.perSecond, Ratio: ours.perSecond / bare.perSecond, Reference: bareTurn, AtLeast: crowdLeast,
	}, {
		Name: "CPU of each of them, " + layoutName(h.split), Unit: "ms", Ours: ours.cpu.sum(), Bare: bare.cpu.sum(),
		Ratio: ours.cpu.sum() / bare.cpu.sum(), Reference: bareTurn, Parts: ours.cpu, BareParts: bare.cpu,
	}}, nil
}

// crowded is how a crowd fared.
type crowded struct {
	perSecond float64
	cpu       shares // of each of the crowd
}

// together does something crowdSize times at once, again and again. The first time does not
// count: each connection prepares and plans its statements then.
func (b *bench) together(ctx context.Context, do func(context.Context) error) (crowded, error) {
	times := b.samples(3)
	if err := atOnce(ctx, do); err != nil {
		return crowded{}, err
	}
	before, err := b.cpuShares()
	if err != nil {
		return crowded{}, err
	}
	started := time.Now()
	for range times {
		if err := atOnce(ctx, do); err != nil {
			return crowded{}, err
		}
	}
	took := time.Since(started).Seconds()
	after, err := b.cpuShares()
	if err != nil {
		return crowded{}, err
	}
	all := times * crowdSize
	return crowded{perSecond: float64(all) / took, cpu: after.since(before).each(all)}, nil
}

func atOnce(ctx context.Context, do func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for range crowdSize {
		group.Go(func() error { return do(ctx) })
	}
	return group.Wait()
}

// turnMemory measures what a turn holds while its model is silent.
func (b *bench) turnMemory(ctx context.Context, h *house) ([]Row, error) {
	before := heldMemory()
	gates := make([]*gate, runningTurns)
	ids := make([]string, runningTurns)
	for i := range gates {
		key := domain.NewID()
		gates[i] = h.model.watch(key, true)
		turn, err := h.engine.StartTurn(ctx, domain.TurnRequest{UserID: domain.OwnerID, Query: query(key, 0)})
		if err != nil {
			return nil, err
		}
		ids[i] = turn.ID
	}
	for _, gate := range gates {
		select {
		case <-gate.called:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	held := heldMemory()
	for i, gate := range gates {
		close(gate.open)
		if _, err := h.engine.WaitTurn(ctx, ids[i]); err != nil {
			return nil, err
		}
	}
	kib := float64(held-before) / 1024 / runningTurns
	return []Row{{Name: fmt.Sprintf("memory of each of %d running turns, %s", runningTurns, layoutName(h.split)), Unit: "KiB", Ours: kib}}, nil
}

// heldMemory gives the bytes of heap and stacks in use.
func heldMemory() int64 {
	runtime.GC()
	runtime.GC() // the first one only finds what finalizers keep
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
