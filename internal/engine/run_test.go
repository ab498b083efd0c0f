package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
)

// duties notes which of the stores were asked for what the engine does by itself.
type duties struct {
	mu      sync.Mutex
	missing map[string]bool
	all     chan struct{} // closed once nothing is missing
}

func newDuties(names ...string) *duties {
	d := &duties{missing: map[string]bool{}, all: make(chan struct{})}
	for _, name := range names {
		d.missing[name] = true
	}
	return d
}

func (d *duties) done(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.missing[name] {
		if delete(d.missing, name); len(d.missing) == 0 {
			close(d.all)
		}
	}
}

type askedTurns struct {
	engine.TurnStore
	*duties
}

func (a askedTurns) UnstartedTurns(ctx context.Context, age time.Duration, limit int) ([]domain.Turn, error) {
	a.done("sweep turns")
	return a.TurnStore.UnstartedTurns(ctx, age, limit)
}

func (a askedTurns) OpenTurns(ctx context.Context, age time.Duration, after string, limit int) ([]domain.Turn, error) {
	a.done("reconcile turns")
	return a.TurnStore.OpenTurns(ctx, age, after, limit)
}

type askedIngests struct {
	engine.IngestStore
	*duties
}

func (a askedIngests) UnstartedIngests(ctx context.Context, age time.Duration, limit int) ([]domain.OpenIngest, error) {
	a.done("sweep runs")
	return a.IngestStore.UnstartedIngests(ctx, age, limit)
}

func (a askedIngests) OpenIngests(ctx context.Context, age time.Duration, after string, limit int) ([]domain.OpenIngest, error) {
	a.done("reconcile runs")
	return a.IngestStore.OpenIngests(ctx, age, after, limit)
}

type askedRepositories struct {
	engine.RepositoryStore
	*duties
}

func (a askedRepositories) Repositories(ctx context.Context) ([]domain.Repository, error) {
	a.done("watches")
	return a.RepositoryStore.Repositories(ctx)
}

type askedHouse struct{ *duties }

func (a askedHouse) Housekeep(context.Context, domain.Retention) (domain.Housekeeping, error) {
	a.done("housekeeping")
	return domain.Housekeeping{}, nil
}

// Nothing of what makes good for crashes happens unless Run does it.
func TestRunDoesEveryDuty(t *testing.T) {
	t.Parallel()
	d := newDuties("sweep turns", "sweep runs", "reconcile turns", "reconcile runs", "watches", "housekeeping")
	e, _ := newEngine(t, func(c *engine.Config) {
		c.Turns, c.Ingests = askedTurns{c.Turns, d}, askedIngests{c.Ingests, d}
		c.Repositories, c.House = askedRepositories{c.Repositories, d}, askedHouse{d}
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	select {
	case <-d.all:
	case <-time.After(20 * time.Second):
		d.mu.Lock()
		t.Errorf("nobody did: %v", d.missing)
		d.mu.Unlock()
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
