package pg_test

import (
	"testing"

	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/graphtest"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func TestStore(t *testing.T) {
	t.Parallel()
	graphtest.Run(t, func(t testing.TB) (graph.Sources, graph.Backend) {
		store := pg.New(testkit.Postgres(t), pg.OnSweepError(func(err error) { t.Errorf("sweep: %v", err) }))
		return store, store
	})
}
