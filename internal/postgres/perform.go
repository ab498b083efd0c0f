package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlPerformed = statement("note what a person did", `
insert into performed (user_id, project_id, act, hash) select @user, @project, @act, unnest(@hashes::text[])`)

	// What a person did vouches for one action, whatever its input may be written like.
	sqlVouch = statement("look for what a report tells of", `
delete from performed d using (
    select p.act from performed p join actions a on a.id = @action
    where p.user_id = @by and p.project_id = coalesce(a.project_id, '') and p.hash = a.hash and p.at >= a.created_at
    order by p.at limit 1 for update of p skip locked
) found
where d.act = found.act returning true`)
)

// NotePerformed records that a person did by an ordinary route what calls of a tool do that
// ask: a client that reports such an action as done is believed by it, once.
func (s *Store) NotePerformed(ctx context.Context, by domain.Performance) error {
	hashes := make([]string, len(by.Inputs))
	for i, input := range by.Inputs {
		hashes[i] = domain.ActionHash(by.Tool, input)
	}
	_, err := s.pool.Exec(ctx, sqlPerformed, pgx.NamedArgs{"user": by.UserID, "project": by.ProjectID, "act": domain.NewID(), "hashes": hashes})
	return failed("note what was done", err)
}

// vouched reports whether the server saw the person do what an action that is reported as done
// would have.
func vouched(ctx context.Context, tx pgx.Tx, a domain.Action) (bool, error) {
	if a.Status != domain.ActionApplied {
		return false, nil
	}
	var seen bool
	err := tx.QueryRow(ctx, sqlVouch, pgx.NamedArgs{"action": a.ID, "by": a.DecidedBy}).Scan(&seen)
	if noRows(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for what action %s tells of: %w", a.ID, err)
	}
	return seen, nil
}
