package neo4j

import (
	"context"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	outlineFilesCypher = `
MATCH (:HarvestSnapshot {snapshot: $id})-[:HAS_FILE]->(f)
RETURN f.path AS path, f.language AS language, COUNT { (f)-[:DEFINES]->() } AS symbols ORDER BY path`
	centralCypher = `
MATCH (:HarvestSnapshot {snapshot: $id})-[:HAS_FILE]->()-[:DEFINES]->(n)
WITH n, COUNT { (n)<-[:CALLS|INHERITS|IMPLEMENTS|EMBEDS|USES]-() } AS references WHERE references > 0
RETURN references,` + hitFields + `ORDER BY references DESC, n.file, n.start_line LIMIT $limit`
)

// Outline sums a version up. Those asked for last are kept.
func (s *Store) Outline(ctx context.Context, repo, version string) (graph.Outline, error) {
	detail, err := s.sources.Version(ctx, repo, version)
	if err != nil {
		return graph.Outline{}, err
	}
	if cached, ok := s.outlines.Get(detail.ID); ok {
		cached.Version = detail
		return cached, nil
	}
	var outline graph.Outline
	detail, err = s.askWhole(ctx, repo, version, func(tx runner, at graph.Snapshot, detail domain.VersionDetail) error {
		type counted struct {
			path, language string
			symbols        int
		}
		params := map[string]any{"id": at.ID, "limit": graph.CentralCandidates}
		files, err := rows(ctx, tx, func(r *neo4j.Record) counted {
			return counted{field[string](r, "path"), field[string](r, "language"), int(field[int64](r, "symbols"))}
		}, outlineFilesCypher, params)
		if err != nil {
			return err
		}
		read := foundOf(at)
		central, err := rows(ctx, tx, func(r *neo4j.Record) graph.Hit {
			hit := read(r).Hit
			hit.Score = float64(field[int64](r, "references"))
			return hit
		}, centralCypher, params)
		if err != nil {
			return err
		}
		sum := graph.NewSummary()
		for _, f := range files {
			sum.File(f.path, f.language, f.symbols)
		}
		outline = sum.Outline(detail, central)
		return nil
	})
	if err == nil {
		s.outlines.Put(detail.ID, outline)
	}
	return outline, err
}
