// Package graphbench measures the questions of the code graph at a stated size, each beside
// the same question on a plain copy of the graph: one table of nodes and one of edges with
// integer ids, no versions and no sharing, in the same database and the same run.
package graphbench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/graph"
)

// Size says how large the graph is and how often each question is asked.
type Size struct {
	Symbols int // in files of 50
	Edges   int // calls
	Rounds  int // questions of each kind that are measured
}

// Full is the size that is reported.
var Full = Size{Symbols: 200_000, Edges: 1_000_000, Rounds: 200}

// Row is one line of the report.
type Row struct {
	Name      string  `json:"name"`
	Ours      float64 `json:"ours_p50_ms"`
	Reference float64 `json:"reference_p50_ms"`
	Ratio     float64 `json:"ratio"`
	Results   float64 `json:"results"` // rows that our answers hold, on average
}

// Stores is what is measured: sources, and a backend that stands on them.
type Stores struct {
	Sources graph.Sources
	Backend graph.Backend
}

// Run loads a generated graph into the stores and a plain copy into the database of pool,
// asks every question of both in turn, and removes both again. say is told of each step.
func Run(ctx context.Context, stores Stores, pool *pgxpool.Pool, size Size, say func(string)) ([]Row, error) {
	data := generate(size)
	started := time.Now()
	if err := load(ctx, stores, data); err != nil {
		return nil, fmt.Errorf("load the graph: %w", err)
	}
	ours := time.Since(started)
	say(fmt.Sprintf("loaded %d symbols and %d edges in %s", size.Symbols, size.Edges, ours.Round(time.Millisecond)))
	plain := &plainCopy{pool: pool}
	started = time.Now()
	if err := plain.load(ctx, data); err != nil {
		return nil, fmt.Errorf("load the plain copy: %w", err)
	}
	reference := time.Since(started)
	say(fmt.Sprintf("loaded the plain copy in %s", reference.Round(time.Millisecond)))

	rows := []Row{{Name: "load", Ours: ms(ours), Reference: ms(reference), Ratio: ours.Seconds() / reference.Seconds()}}
	for _, q := range questions(stores.Backend, plain, data) {
		row, err := measure(ctx, q, size.Rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
		say(fmt.Sprintf("%s: %.2f ms, plain copy %.2f ms", row.Name, row.Ours, row.Reference))
		rows = append(rows, row)
	}
	if err := plain.drop(ctx); err != nil {
		return nil, err
	}
	if err := stores.Backend.DropRepository(ctx, repoName); err != nil {
		return nil, fmt.Errorf("remove the graph: %w", err)
	}
	return rows, nil
}

// question is asked of both, each time about another thing. ours and reference give the
// number of rows in the answer.
type question struct {
	name      string
	rounds    int // 0: as many as the size says
	ours      func(ctx context.Context, i int) (int, error)
	reference func(ctx context.Context, i int) (int, error)
}

// warmUp is how many questions go by unmeasured: plans are made, pages come into memory.
const warmUp = 20

// measure asks in turn, so that whatever else the machine does weighs on both.
func measure(ctx context.Context, q question, rounds int) (Row, error) {
	if q.rounds > 0 {
		rounds = min(rounds, q.rounds)
	}
	var ours, reference []float64
	results := 0
	for i := range warmUp + rounds {
		mine, n, err := timed(ctx, q.ours, i)
		if err != nil {
			return Row{}, err
		}
		theirs, m, err := timed(ctx, q.reference, i)
		if err != nil {
			return Row{}, fmt.Errorf("plain copy: %w", err)
		}
		if n != m {
			return Row{}, fmt.Errorf("question %d has %d results, but %d on the plain copy", i, n, m)
		}
		if i >= warmUp {
			ours, reference = append(ours, mine), append(reference, theirs)
			results += n
		}
	}
	row := Row{Name: q.name, Ours: median(ours), Reference: median(reference), Results: float64(results) / float64(rounds)}
	row.Ratio = row.Ours / row.Reference
	return row, nil
}

func timed(ctx context.Context, ask func(context.Context, int) (int, error), i int) (float64, int, error) {
	started := time.Now()
	n, err := ask(ctx, i)
	return ms(time.Since(started)), n, err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
