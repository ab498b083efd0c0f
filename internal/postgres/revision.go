package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// revisions reads the versions of a skill or an artifact.
func (s *Store) revisions(ctx context.Context, sql string, args pgx.NamedArgs) ([]domain.Revision, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, failed("list versions", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r domain.Revision, err error) {
		err = row.Scan(&r.Version, &r.Title, &r.Content, &r.Author, &r.TurnID, &r.RestoredFrom, &r.CreatedAt)
		r.CreatedAt = r.CreatedAt.UTC()
		return r, err
	})
	return list, failed("list versions", err)
}

// revision reads the one version that the arguments name, or gives not_found.
func (s *Store) revision(ctx context.Context, sql string, args pgx.NamedArgs) (domain.Revision, error) {
	list, err := s.revisions(ctx, sql, args)
	if err == nil && len(list) != 1 {
		err = domain.NotFound("there is no version %v", args["version"])
	}
	if err != nil {
		return domain.Revision{}, err
	}
	return list[0], nil
}
