package graphbench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	siteLimit  = 500
	pathDepth  = 12
	maxPicture = 1500
)

// questions are those of the report. What each is about is chosen at random, but the same
// for both and in every run.
func questions(backend graph.Backend, plain *plainCopy, d data) []question {
	random := rand.New(rand.NewPCG(3, 4))
	chosen := make([]node, 512)
	for i := range chosen {
		chosen[i] = d.nodes[random.IntN(len(d.nodes))]
	}
	at := func(i int) node { return chosen[i%len(chosen)] }
	callers := func(depth int) question {
		return question{
			name: fmt.Sprintf("callers, depth %d", depth),
			ours: func(ctx context.Context, i int) (int, error) {
				sites, truncated, err := backend.Callers(ctx, refTo(at(i)), depth, siteLimit-1)
				return len(sites) + one(truncated), err
			},
			reference: func(ctx context.Context, i int) (int, error) { return plain.callers(ctx, at(i), depth) },
		}
	}
	search := func(name, sql string, text func(i int) string) question {
		return question{
			name: name,
			ours: func(ctx context.Context, i int) (int, error) {
				hits, _, err := backend.SearchSymbols(ctx, graph.SymbolQuery{Text: text(i), Versions: []graph.VersionRef{{Repo: repoName, Version: version}}, Limit: 20})
				return len(hits), err
			},
			reference: func(ctx context.Context, i int) (int, error) {
				return plain.count(ctx, sql, pgx.NamedArgs{"text": graph.Fold(text(i))})
			},
		}
	}
	return []question{
		callers(1),
		callers(3),
		search("substring search", plainSubstringSQL, func(i int) string { return substring(at(i).Name) }),
		search("fuzzy search", plainFuzzySQL, func(i int) string { return misspelt(at(i).Name) }),
		{
			name: "subgraph of 1500 nodes", rounds: 30,
			ours: func(ctx context.Context, _ int) (int, error) {
				p, err := backend.Graph(ctx, repoName, version, maxPicture, 0)
				return len(p.Nodes) + len(p.Edges), err
			},
			reference: func(ctx context.Context, _ int) (int, error) { return plain.subgraph(ctx, maxPicture) },
		},
		{
			name: "shortest path",
			ours: func(ctx context.Context, i int) (int, error) {
				sites, err := backend.Path(ctx, refTo(at(i)), refTo(at(i+1)), pathDepth)
				return len(sites), err
			},
			reference: func(ctx context.Context, i int) (int, error) { return plain.path(ctx, at(i), at(i+1), pathDepth) },
		},
	}
}

func refTo(n node) graph.SymbolRef {
	return graph.SymbolRef{Repo: repoName, Version: version, File: n.path, Name: n.Name}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// substring takes six letters from the middle of the first two words of a name.
func substring(name string) string { return graph.Fold(name)[2:8] }

// misspelt swaps two letters of a name and leaves one out, so that no name holds it.
func misspelt(name string) string {
	folded := []byte(graph.Fold(name))
	n := len(folded) / 2
	folded[n-1], folded[n-2] = folded[n-2], 'q'
	return string(append(folded[:n], folded[n+1:]...))
}
