package graphbench_test

import (
	"encoding/json"
	"testing"

	"github.com/harvest-engine/harvest/internal/graph/graphbench"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// TestAnswersAgree runs the whole measurement on a small graph: it fails where an answer and
// that of the plain copy differ in size.
func TestAnswersAgree(t *testing.T) {
	t.Parallel()
	rows := run(t, graphbench.Size{Symbols: 3000, Edges: 12_000, Rounds: 20})
	if len(rows) != 7 {
		t.Fatalf("%d rows, want 7", len(rows))
	}
	for _, row := range rows[1:] {
		if row.Ours <= 0 || row.Reference <= 0 || row.Results <= 0 {
			t.Errorf("row without a figure: %+v", row)
		}
	}
}

// BenchmarkFull reports the figures at full size, one line of JSON each.
func BenchmarkFull(b *testing.B) {
	for range b.N {
		for _, row := range run(b, graphbench.Full) {
			line, err := json.Marshal(row)
			if err != nil {
				b.Fatal(err)
			}
			b.Log(string(line))
		}
	}
}

func run(t testing.TB, size graphbench.Size) []graphbench.Row {
	t.Helper()
	pool := testkit.Postgres(t)
	store := pg.New(pool, pg.OnSweepError(func(err error) { t.Errorf("sweep: %v", err) }))
	rows, err := graphbench.Run(t.Context(), graphbench.Stores{Sources: store, Backend: store}, pool, size, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
