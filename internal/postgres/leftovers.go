package postgres

import (
	"context"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// visitsKept is how long rows stay of who was in a project in which nobody looks any more.
	visitsKept = time.Hour
	// attemptsKept is longer than any window in which attempts to sign in are counted.
	attemptsKept = 24 * time.Hour
	// performedKept is longer than an action can wait for the report of a call.
	performedKept = domain.MaxConfirmExpiry + 24*time.Hour
	// budgetsKept is longer than a call lasts that has reserved something of a day.
	budgetsKept = 31 * 24 * time.Hour
)

var (
	sqlDropAudit = statement("drop old entries of the audit", `
delete from audit where id in (select id from audit where at < @before order by at limit @limit)`)

	sqlDropPerformed = statement("drop old calls of clients", `
delete from performed where ctid = any (array(select ctid from performed where at < @before limit @limit))`)

	sqlDropSessions = statement("drop ended sessions", `
delete from sessions where id in (select id from sessions where expires_at < @before limit @limit)`)

	sqlDropAttempts = statement("drop old attempts to sign in", `
delete from sign_in_attempts where subject in (
    select subject from sign_in_attempts where began_at < @before limit @limit for update skip locked)`)

	sqlDropVisits = statement("drop visits of processes that died", `
delete from presence where id in (select id from presence where seen_at < @before limit @limit)`)

	sqlDropBudgets = statement("drop the budgets of old days", `
delete from budgets where (user_id, day) in (
    select user_id, day from budgets where day < (@before::timestamptz at time zone 'utc')::date limit @limit)`)
)

// dropLeftovers removes what has served: entries of the audit that are older than they are
// kept, and rows that nothing asks for any more.
func (s *Store) dropLeftovers(ctx context.Context, now time.Time, audit time.Duration, done *domain.Housekeeping) (err error) {
	if audit > 0 {
		if done.Audit, err = s.dropBatches(ctx, sqlDropAudit, now.Add(-audit)); err != nil {
			return failed("drop old entries of the audit", err)
		}
	}
	for _, rows := range []struct {
		sql  string
		kept time.Duration
	}{
		{sqlDropPerformed, performedKept}, {sqlDropSessions, 0}, {sqlDropForwardVisits, 0}, {sqlDropAttempts, attemptsKept},
		{sqlDropVisits, visitsKept}, {sqlDropBudgets, budgetsKept}, {sqlDropInstallTokens, 0},
	} {
		n, err := s.dropBatches(ctx, rows.sql, now.Add(-rows.kept))
		done.Leftovers += n
		if err != nil {
			return failed("drop what has served", err)
		}
	}
	return nil
}
