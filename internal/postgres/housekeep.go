package postgres

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	housekeepingLock = 7305516092472 // names the advisory lock of whoever keeps house
	// housekeepingBatch bounds the rows that one statement removes, so that none holds its
	// locks for long.
	housekeepingBatch = 1000
)

var (
	// Times are the database's own: a process whose clock runs ahead would remove what is young.
	sqlTryHousekeeping = statement("try to keep house", `select pg_try_advisory_xact_lock(@key), now()`)

	// An hour for clocks that differ, as in what readers ask for. The logs of projects never end.
	sqlOldestOpen = statement("find the oldest open log", `
select least(@before::timestamptz, min(created_at) - interval '1 hour') from subjects
where ended_at is null and id not like 'project/%'`)

	sqlDropDefault = statement("drop old events outside partitions", `
delete from events_default where ctid = any (array(select ctid from events_default where at < @before limit @limit))`)

	// Of each repository the newest run that did something stays, whatever its age. A run and its
	// log go together: nothing would look for what is left of one that was cut in two.
	sqlDropRuns = statement("drop old ingests", `
with old as (
    select i.id from ingests i
    where i.ended_at < @before and exists (
        select from ingests n where n.repository = i.repository and n.created_at > i.created_at
            and (n.status <> 'skipped' or i.status = 'skipped'))
    order by i.ended_at limit @limit for update
), subjects as (
    delete from subjects s using old where s.id = old.id
), feeds as (
    delete from streams st using old where st.id = '`+runFeed+`' || old.id
)
delete from ingests i using old where i.id = old.id`)

	sqlDropCommands = statement("drop old commands", `
with old as (
    select id from commands where ended_at < @before order by ended_at limit @limit for update
), subjects as (
    delete from subjects s using old where s.id = old.id
), feeds as (
    delete from streams st using old where st.id = '`+commandFeed+`' || old.id
)
delete from commands c using old where c.id = old.id`)

	// The key of a turn that goes on stays: a repeated request must find it.
	sqlDropKeys = statement("drop old idempotency keys", `
delete from idempotency where (user_id, key) in (
    select i.user_id, i.key from idempotency i where i.created_at < @before
        and not exists (select from turns t where t.id = i.turn_id and t.ended_at is null) limit @limit)`)

	// One that is about to be used is locked, and skipped.
	sqlLockUnused = statement("lock values that nothing holds", `
select v.owner, v.sha256 from large_values v
where v.unused_since is null
  and not exists (select from value_uses u where u.owner = v.owner and u.sha256 = v.sha256)
limit @limit for update skip locked`)

	// A statement of its own, behind the lock, sees the uses that were committed meanwhile.
	sqlMarkUnused = statement("mark values that nothing holds", `
update large_values v set unused_since = now()
from unnest(@owners::text[], @sums::bytea[]) n(owner, sha256)
where v.owner = n.owner and v.sha256 = n.sha256
  and not exists (select from value_uses u where u.owner = v.owner and u.sha256 = v.sha256)`)

	// A workflow that may have read the value must be closed, and past its retention. The age is
	// asked for twice: a value that was used again while its removal waited for it has none.
	sqlDropValues = statement("drop values that nothing holds", `
delete from large_values v where v.unused_since < @before and (owner, sha256) in (
    select c.owner, c.sha256 from large_values c
    where c.unused_since < @before
      and not exists (select from value_uses u where u.owner = c.owner and u.sha256 = c.sha256)
      and not exists (
        select from turns t where coalesce('project/' || t.project_id, 'user/' || t.user_id) = c.owner and t.created_at < c.unused_since
          and (t.ended_at is null or t.ended_at > @before))
    limit @limit)`)
)

// Housekeep makes the event log's coming partitions and removes what is past its time. It
// does nothing where another process is at it. What fails is left to the next time.
func (s *Store) Housekeep(ctx context.Context, keep domain.Retention) (done domain.Housekeeping, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var alone bool
		var now time.Time
		err := tx.QueryRow(ctx, sqlTryHousekeeping, pgx.NamedArgs{"key": int64(housekeepingLock)}).Scan(&alone, &now)
		if err != nil || !alone {
			return failed("take the lock of housekeeping", err)
		}
		return errors.Join(s.EnsurePartitions(ctx, now), s.dropEvents(ctx, now, keep.Events, &done), s.dropValues(ctx, now, keep.Values, &done),
			s.dropLeftovers(ctx, now, keep.Audit, &done))
	})
	return done, err
}

// dropEvents removes events, runs, commands and keys that are older than keep.
func (s *Store) dropEvents(ctx context.Context, now time.Time, keep time.Duration, done *domain.Housekeeping) (err error) {
	if keep == 0 {
		return nil
	}
	before := now.Add(-keep)
	over, err := s.oldestOpen(ctx, before)
	if err != nil {
		return err
	}
	if done.Partitions, err = s.DropEventsBefore(ctx, over); err != nil {
		return err
	}
	if _, err := s.dropBatches(ctx, sqlDropDefault, over); err != nil {
		return failed("drop old events", err)
	}
	if done.Runs, err = s.dropBatches(ctx, sqlDropRuns, before); err != nil {
		return failed("drop old runs", err)
	}
	if done.Commands, err = s.dropBatches(ctx, sqlDropCommands, before); err != nil {
		return failed("drop old commands", err)
	}
	done.Keys, err = s.dropBatches(ctx, sqlDropKeys, before)
	return failed("drop old idempotency keys", err)
}

// oldestOpen gives the time before which no turn or run has events that goes on: its reader
// and its own last steps need them all, however long it waits. That is before at the latest.
func (s *Store) oldestOpen(ctx context.Context, before time.Time) (time.Time, error) {
	err := s.pool.QueryRow(ctx, sqlOldestOpen, pgx.NamedArgs{"before": before}).Scan(&before)
	return before, failed("look for the oldest open log", err)
}

// dropBatches repeats a statement until nothing is left for it.
func (s *Store) dropBatches(ctx context.Context, sql string, before time.Time) (total int64, err error) {
	for {
		tag, err := s.pool.Exec(ctx, sql, pgx.NamedArgs{"before": before, "limit": housekeepingBatch})
		total += tag.RowsAffected()
		if err != nil || tag.RowsAffected() < housekeepingBatch {
			return total, err
		}
	}
}

// dropValues notes which large values nothing holds, and removes those of which that has
// been so for keep.
func (s *Store) dropValues(ctx context.Context, now time.Time, keep time.Duration, done *domain.Housekeeping) (err error) {
	for more := true; more; {
		if more, err = s.markUnused(ctx); err != nil {
			return failed("look for unused values", err)
		}
	}
	if keep == 0 {
		return nil
	}
	done.Values, err = s.dropBatches(ctx, sqlDropValues, now.Add(-keep))
	return failed("drop unused values", err)
}

// markUnused marks a batch of values that nothing holds, and reports whether there may be more.
func (s *Store) markUnused(ctx context.Context) (more bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlLockUnused, pgx.NamedArgs{"limit": housekeepingBatch})
		if err != nil {
			return err
		}
		var owners []string
		var sums [][]byte
		var owner string
		var sum []byte
		_, err = pgx.ForEachRow(rows, []any{&owner, &sum}, func() error {
			owners, sums = append(owners, owner), append(sums, bytes.Clone(sum))
			return nil
		})
		if err != nil || len(owners) == 0 {
			return err
		}
		more = len(owners) == housekeepingBatch
		_, err = tx.Exec(ctx, sqlMarkUnused, pgx.NamedArgs{"owners": owners, "sums": sums})
		return err
	})
	return more, err
}
