package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Housekeep removes, of every repository, versions that were superseded while it was being
// read, and once a day what loads left that never ended. Doing it from several processes at
// once is harmless.
func (s *Store) Housekeep(ctx context.Context) error {
	repos, err := collect(ctx, s.pool, "look for superseded versions", pgx.RowTo[int32],
		`select distinct repo_id from versions where not live`)
	if err != nil {
		return err
	}
	for _, repo := range repos {
		if err := s.sweep(ctx, repo); err != nil {
			return fmt.Errorf("sweep superseded versions: %w", err)
		}
	}
	if err := s.sweepOrphans(ctx); err != nil {
		return fmt.Errorf("sweep orphans: %w", err)
	}
	return nil
}
