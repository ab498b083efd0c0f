package neo4j

import (
	"context"
	"fmt"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

// Housekeep removes, of every repository, snapshots that were superseded while they were
// being read, and those of loads that never ended. Doing it from several processes at once
// is harmless.
func (s *Store) Housekeep(ctx context.Context) error {
	session := s.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	repos, err := rows(ctx, auto{session}, func(r *neo4j.Record) string { return field[string](r, "repo") }, `
MATCH (v:HarvestSnapshot) WHERE v.state <> 'published' AND `+owned+` RETURN DISTINCT v.of_repo AS repo`, map[string]any{"owner": s.owner})
	if err != nil {
		return told(err, "look for superseded snapshots")
	}
	for _, repo := range repos {
		if err := s.sweep(ctx, repo); err != nil {
			return fmt.Errorf("sweep %s: %w", repo, err)
		}
	}
	return nil
}
