package postgres

import (
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
	sqlTryHousekeeping = statement("try to keep house", `select pg_try_advisory_xact_lock(@key)`)

	sqlDropDefault = statement("drop old events outside partitions", `
delete from events_default where ctid = any (array(select ctid from events_default where at < @before limit @limit))`)

	// Of each repository the newest run stays, whatever its age.
	sqlDropRuns = statement("drop old ingests", `
with old as (
    select i.id from ingests i
    where i.ended_at < @before and exists (
        select from ingests n where n.repository = i.repository and n.created_at > i.created_at)
    order by i.ended_at limit @limit for update
), runs as (
    delete from ingests i using old where i.id = old.id
), subjects as (
    delete from subjects s using old where s.id = old.id
)
select id from old`)

	sqlDropRunStreams = statement("drop the streams of old ingests", `
delete from streams st where st.id = any (@streams::text[]) and not exists (select from subjects s where s.stream_id = st.id)`)

	sqlDropKeys = statement("drop old idempotency keys", `
delete from idempotency where (user_id, key) in (
    select user_id, key from idempotency where created_at < @before limit @limit)`)

	sqlMarkUnused = statement("mark values that nothing holds", `
update large_values v set unused_since = now()
where v.unused_since is null
  and not exists (select from value_uses u where u.owner = v.owner and u.sha256 = v.sha256)`)

	// A workflow that may have read the value must be closed, and past its retention.
	sqlDropValues = statement("drop values that nothing holds", `
delete from large_values v where (owner, sha256) in (
    select owner, sha256 from large_values where unused_since < @before limit @limit)
  and not exists (select from value_uses u where u.owner = v.owner and u.sha256 = v.sha256)
  and not exists (
    select from turns t where 'user/' || t.user_id = v.owner and t.created_at < v.unused_since
      and (t.ended_at is null or t.ended_at > @before))`)
)

// Housekeep makes the event log's coming partitions and removes what is past its time. It
// does nothing where another process is at it. What fails is left to the next time.
func (s *Store) Housekeep(ctx context.Context, keep domain.Retention) (done domain.Housekeeping, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var alone bool
		err := tx.QueryRow(ctx, sqlTryHousekeeping, pgx.NamedArgs{"key": int64(housekeepingLock)}).Scan(&alone)
		if err != nil || !alone {
			return failed("take the lock of housekeeping", err)
		}
		now := time.Now()
		return errors.Join(s.EnsurePartitions(ctx, now), s.dropEvents(ctx, now, keep.Events, &done), s.dropValues(ctx, now, keep.Values, &done))
	})
	return done, err
}

// dropEvents removes events, runs and keys that are older than keep.
func (s *Store) dropEvents(ctx context.Context, now time.Time, keep time.Duration, done *domain.Housekeeping) (err error) {
	if keep == 0 {
		return nil
	}
	before := now.Add(-keep)
	if done.Partitions, err = s.DropEventsBefore(ctx, before); err != nil {
		return err
	}
	if _, err := s.dropBatches(ctx, sqlDropDefault, before); err != nil {
		return failed("drop old events", err)
	}
	if done.Runs, err = s.dropRuns(ctx, before); err != nil {
		return failed("drop old runs", err)
	}
	done.Keys, err = s.dropBatches(ctx, sqlDropKeys, before)
	return failed("drop old idempotency keys", err)
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

func (s *Store) dropRuns(ctx context.Context, before time.Time) (total int64, err error) {
	for {
		rows, err := s.pool.Query(ctx, sqlDropRuns, pgx.NamedArgs{"before": before, "limit": housekeepingBatch})
		if err != nil {
			return total, err
		}
		streams, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (stream string, err error) {
			err = row.Scan(&stream)
			return runStream(stream), err
		})
		if err != nil {
			return total, err
		}
		total += int64(len(streams))
		if _, err := s.pool.Exec(ctx, sqlDropRunStreams, pgx.NamedArgs{"streams": streams}); err != nil {
			return total, err
		}
		if len(streams) < housekeepingBatch {
			return total, nil
		}
	}
}

// dropValues notes which large values nothing holds, and removes those of which that has
// been so for keep.
func (s *Store) dropValues(ctx context.Context, now time.Time, keep time.Duration, done *domain.Housekeeping) (err error) {
	if _, err := s.pool.Exec(ctx, sqlMarkUnused); err != nil {
		return failed("look for unused values", err)
	}
	if keep == 0 {
		return nil
	}
	done.Values, err = s.dropBatches(ctx, sqlDropValues, now.Add(-keep))
	return failed("drop unused values", err)
}
