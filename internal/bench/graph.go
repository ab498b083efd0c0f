package main

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/graph/graphbench"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/postgres"
)

// graphLimit is the most that a question may take, as a multiple of the plain copy.
const graphLimit = 2

// graph measures the questions of the code graph beside a plain copy of it.
func (b *bench) graph(ctx context.Context) ([]Row, error) {
	if err := postgres.Migrate(ctx, b.servers.DSN()); err != nil {
		return nil, err
	}
	pool, err := postgres.Open(ctx, b.servers.DSN())
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	store, size := pg.New(pool), graphbench.Full
	size.Symbols, size.Edges, size.Rounds = size.Symbols/b.scale, size.Edges/b.scale, size.Rounds/b.scale
	found, err := graphbench.Run(ctx, graphbench.Stores{Sources: store, Backend: store}, pool, size, b.say)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(found))
	for _, f := range found {
		row := Row{
			Name: fmt.Sprintf("graph of %d symbols: %s", size.Symbols, f.Name), Unit: "ms",
			Ours: f.Ours, Bare: f.Reference, Ratio: f.Ratio, Reference: "the same question on a plain copy with integer ids",
		}
		if f.Name != "load" {
			row.Limit = graphLimit
		}
		rows = append(rows, row)
	}
	return rows, nil
}
