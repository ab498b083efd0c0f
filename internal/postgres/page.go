package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// placed tells an empty page from a place that is none of the list's: that looks as if nothing were
// left. known finds the place by the arguments of the list, which have it as before.
func (s *Store) placed(ctx context.Context, found int, field, known string, args pgx.NamedArgs) error {
	if found > 0 || args["before"] == "" {
		return nil
	}
	var there bool
	if err := s.pool.QueryRow(ctx, known, args).Scan(&there); err != nil {
		return failed("look for a place in a list", err)
	}
	if !there {
		return domain.Invalid(field, "names no entry of this list")
	}
	return nil
}
