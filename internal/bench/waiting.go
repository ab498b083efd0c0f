package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/worker"
)

const (
	// waitingTurns is how many turns wait at once by default.
	waitingTurns = 10_000
	// hands is how many requests are under way at once.
	hands = 48
	// pollEvery is how often it is looked how far something has come, and pollLimit how long it
	// may stand still.
	pollEvery = 100 * time.Millisecond
	pollLimit = 2 * time.Minute
)

// waitingHouse is Harvest with its worker in a process of its own, a project whose turns wait
// for a person, and beside it as many workflows of the reference.
type waitingHouse struct {
	*house
	worker  *apart
	http    *http.Client
	project string
	waiting []waitingTurn // in the order of their creation
	bare    bareCrowd
}

// waitingTurn is a turn that waits, with what a decision on its action needs.
type waitingTurn struct{ turn, conversation, action, nonce, hash string }

func (b *bench) openWaiting(ctx context.Context) (w *waitingHouse, err error) {
	w = &waitingHouse{
		house: &house{split: true, counter: newCounter()},
		http:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: hands}},
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	keys := worker.Keyring{worker.NewKey()}
	codec, err := worker.NewCodec(keys)
	if err != nil {
		return nil, err
	}
	if w.front, err = w.openHalf(ctx, b.servers, codec); err != nil {
		return nil, err
	}
	ours, bare := splitQueues("waits"), splitQueues("bare-waits")
	database, temporal := b.servers.DSN(), b.servers.TemporalAddress()
	for _, at := range []struct {
		to    **apart
		order apartOrder
	}{
		{&w.worker, apartOrder{database, temporal, keys.String(), ours, b.workerProfile}},
		{&w.bare.worker, apartOrder{database, temporal, "", bare, ""}},
	} {
		if *at.to, err = startApart(at.order); err != nil {
			return nil, err
		}
		w.closers = append(w.closers, (*at.to).stop)
	}
	if w.bare.client, err = dialBare(b.servers); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, w.bare.client.Close)
	w.bare.queues = bare
	if err := w.openFront(ctx, ours); err != nil {
		return nil, err
	}
	project, err := w.front.store.CreateProject(ctx, domain.Project{Name: "bench", GroupID: "everyone", CreatedBy: domain.OwnerID})
	w.project = project.ID
	return w, err
}

// pause starts n turns, waits until all wait, and knows them from then on.
func (w *waitingHouse) pause(ctx context.Context, n int) error {
	err := inParallel(ctx, make([]struct{}, n), func(ctx context.Context, _ struct{}) error {
		_, err := w.engine.StartTurn(ctx, domain.TurnRequest{
			UserID: domain.OwnerID, ProjectID: w.project, ConversationID: domain.NewID(), Query: "Please remove the handler.",
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("start turns: %w", err)
	}
	err = poll(ctx, len(w.waiting)+n, func() (int, error) {
		return w.count(ctx, "select count(*) from turns where project_id = $1 and status = 'waiting'")
	})
	if err != nil {
		return fmt.Errorf("turns that wait: %w", err)
	}
	rows, err := w.front.pool.Query(ctx, `
select turn_id, conversation_id, id, nonce, hash from actions where project_id = $1 and status = 'pending' order by id`, w.project)
	if err != nil {
		return err
	}
	w.waiting, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t waitingTurn, err error) {
		return t, row.Scan(&t.turn, &t.conversation, &t.action, &t.nonce, &t.hash)
	})
	return err
}

// take gives the n turns that have waited longest, which are somebody else's to wake.
func (w *waitingHouse) take(n int) []waitingTurn {
	taken := w.waiting[:n]
	w.waiting = w.waiting[n:]
	return taken
}

func (w *waitingHouse) count(ctx context.Context, sql string) (n int, err error) {
	err = w.front.pool.QueryRow(ctx, sql, w.project).Scan(&n)
	return n, err
}

// inParallel does something for every item, several at once, until one fails.
func inParallel[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(hands)
	for _, item := range items {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return do(ctx, item) })
	}
	return group.Wait()
}

// poll waits until so many have come.
func poll(ctx context.Context, want int, count func() (int, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	seen, moved := -1, time.Now()
	for {
		now, err := count()
		if err != nil || now >= want {
			return err
		}
		if now != seen {
			seen, moved = now, time.Now()
		}
		if still := time.Since(moved); still > pollLimit {
			return fmt.Errorf("only %d of %d have come, and none for %s", now, want, still.Round(time.Second))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
