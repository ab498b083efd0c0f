package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// monthsAhead are the partitions made before they are needed.
	monthsAhead        = 3
	partitionPrefix    = "events_y"
	partitionLock      = 7305516092471 // names the advisory lock of partition changes
	partitionNameStyle = "2006m01"
)

var (
	sqlPartitionLock = statement("lock partitions", `select pg_advisory_xact_lock(@key)`)
	sqlPartitions    = statement("list partitions", `
select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'events'::regclass and c.relname like @prefix || '%' order by 1`)
)

// EnsurePartitions makes the event log's partitions for the month of now and those ahead.
// Rows that fell into the default partition meanwhile move to where they belong.
func (s *Store) EnsurePartitions(ctx context.Context, now time.Time) error {
	return ensurePartitions(ctx, s.pool, now)
}

// database is a pool or a connection.
type database interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func ensurePartitions(ctx context.Context, db database, now time.Time) error {
	have, err := partitions(ctx, db)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, name := range have {
		known[name] = true
	}
	month := time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	for range monthsAhead + 1 {
		if !known[partitionName(month)] {
			if err := makePartition(ctx, db, month); err != nil {
				return err
			}
		}
		month = month.AddDate(0, 1, 0)
	}
	return nil
}

// DropEventsBefore removes the partitions of months that ended before the given time.
// Readers of a turn whose events are gone are told so, and still get its terminal event.
func (s *Store) DropEventsBefore(ctx context.Context, before time.Time) (dropped []string, err error) {
	have, err := partitions(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	for _, name := range have {
		month, err := time.Parse(partitionNameStyle, name[len(partitionPrefix):])
		if err != nil || month.AddDate(0, 1, 0).After(before) {
			continue
		}
		if err := s.dropPartition(ctx, name); err != nil {
			return dropped, failed("drop the partition "+name, err)
		}
		dropped = append(dropped, name)
	}
	return dropped, nil
}

func (s *Store) dropPartition(ctx context.Context, name string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := waitShortly(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "drop table if exists "+pgx.Identifier{name}.Sanitize())
		return err
	})
}

// waitShortly bounds the waits of a change of partitions for readers and writers: whoever comes
// after it would queue behind it.
func waitShortly(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "set local lock_timeout = '2s'")
	return err
}

// busy reports whether a change gave up waiting for whoever reads or writes.
func busy(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "55P03"
}

func partitions(ctx context.Context, db database) ([]string, error) {
	rows, err := db.Query(ctx, sqlPartitions, pgx.NamedArgs{"prefix": partitionPrefix})
	if err != nil {
		return nil, failed("list partitions", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, failed("list partitions", err)
}

func partitionName(month time.Time) string { return partitionPrefix + month.Format(partitionNameStyle) }

// makePartition makes one month's partition, unless another process has.
func makePartition(ctx context.Context, db database, month time.Time) error {
	name := pgx.Identifier{partitionName(month)}.Sanitize()
	from, to := month.Format("'2006-01-02 00:00:00+00'"), month.AddDate(0, 1, 0).Format("'2006-01-02 00:00:00+00'")
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if err := waitShortly(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlPartitionLock, pgx.NamedArgs{"key": int64(partitionLock)}); err != nil {
			return err
		}
		var exists bool
		if err := tx.QueryRow(ctx, "select to_regclass($1) is not null", partitionName(month)).Scan(&exists); err != nil || exists {
			return err
		}
		for _, sql := range []string{
			"lock table events_default", // before rows are moved, that none comes behind them
			"create table " + name + " (like events including defaults including constraints)",
			"with moved as (delete from events_default where at >= " + from + " and at < " + to + " returning *) insert into " + name + " select * from moved",
			"alter table events attach partition " + name + " for values from (" + from + ") to (" + to + ")",
		} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%.40s: %w", sql, err)
			}
		}
		return nil
	})
	return failed("make the partition "+name, err)
}
