package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
)

// fakeHouse notes what it is to keep.
type fakeHouse struct {
	keep []domain.Retention
	err  error
}

func (f *fakeHouse) Housekeep(_ context.Context, keep domain.Retention) (domain.Housekeeping, error) {
	f.keep = append(f.keep, keep)
	return domain.Housekeeping{Keys: 1}, f.err
}

type fakeGraphHouse struct{ calls int }

func (f *fakeGraphHouse) Housekeep(context.Context) error { f.calls++; return nil }

// Large values stay a day longer than the histories that lead to them, and where Temporal
// can't say how long that is, they stay. One house that can't be kept is no reason to leave
// the others.
func TestHousekeeping(t *testing.T) {
	t.Parallel()
	house, graph := &fakeHouse{}, &fakeGraphHouse{}
	e, f := newEngine(t, func(c *engine.Config) {
		c.House, c.Graphs, c.EventsRetention, c.AuditRetention = house, []engine.HousekeepingGraph{graph}, 90*24*time.Hour, 365*24*time.Hour
	})
	f.temporal.retention = 7 * 24 * time.Hour
	if err := e.Housekeep(context.Background()); err != nil {
		t.Fatal(err)
	}
	f.temporal.down = errors.New("connection refused")
	house.err = errors.New("the database is away")
	if err := e.Housekeep(context.Background()); err == nil {
		t.Error("what failed was not told")
	}
	want := []domain.Retention{
		{Events: 90 * 24 * time.Hour, Audit: 365 * 24 * time.Hour, Values: 8 * 24 * time.Hour},
		{Events: 90 * 24 * time.Hour, Audit: 365 * 24 * time.Hour},
	}
	if len(house.keep) != 2 || house.keep[0] != want[0] || house.keep[1] != want[1] {
		t.Errorf("kept %+v, want %+v", house.keep, want)
	}
	if graph.calls != 2 {
		t.Errorf("the graph was kept %d times", graph.calls)
	}
}
