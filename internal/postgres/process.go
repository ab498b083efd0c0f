package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// ProcessLife is how long a process counts as running that was not seen.
const ProcessLife = 30 * time.Second

var (
	// One at a time, so that of two processes that start at once the second sees the first.
	sqlLockProcesses = statement("lock the processes", `select pg_advisory_xact_lock(hashtext('harvest processes'))`)

	sqlAddProcess = statement("add a process", `
with gone as (delete from processes where seen_at < now() - interval '1 day')
insert into processes (id, kind, host, pid, active_key, keys, peer_address, peer_token, peer_fingerprint)
values (@id, @kind, @host, @pid, @active, @keys, @peer, @token, @fingerprint)
on conflict (id) do update set seen_at = now()`)

	sqlProcesses = statement("list the processes", `
select id, kind, host, pid, active_key, keys, started_at, seen_at from processes
where seen_at > now() - @life::interval and id <> @except order by started_at`)

	sqlForgetProcess = statement("forget a process", `delete from processes where id = @id`)
)

// RegisterProcess lets the other processes know of p, unless check finds fault with one of
// those that run: its error is given, and p is not known then.
func (s *Store) RegisterProcess(ctx context.Context, p domain.Process, check func(others []domain.Process) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlLockProcesses); err != nil {
			return failed("lock the processes", err)
		}
		others, err := listProcesses(ctx, tx, p.ID)
		if err != nil {
			return err
		}
		if err := check(others); err != nil {
			return err
		}
		return addProcess(ctx, tx, p)
	})
}

// SeeProcess says that p still runs; it is to be called several times in a ProcessLife.
func (s *Store) SeeProcess(ctx context.Context, p domain.Process) error {
	return addProcess(ctx, s.pool, p)
}

// ForgetProcess removes a process that ends.
func (s *Store) ForgetProcess(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, sqlForgetProcess, pgx.NamedArgs{"id": id})
	return failed("forget a process", err)
}

// Processes lists those that run.
func (s *Store) Processes(ctx context.Context) ([]domain.Process, error) {
	return listProcesses(ctx, s.pool, "")
}

func addProcess(ctx context.Context, db runner, p domain.Process) error {
	keys, err := json.Marshal(p.Keys)
	if err != nil {
		return fmt.Errorf("add a process: %w", err)
	}
	_, err = db.Exec(ctx, sqlAddProcess, pgx.NamedArgs{
		"id": p.ID, "kind": p.Kind, "host": p.Host, "pid": p.PID, "active": p.ActiveKey, "keys": string(keys),
		"peer": p.Peer.Address, "token": p.Peer.Token, "fingerprint": p.Peer.Fingerprint,
	})
	return failed("add a process", err)
}

func listProcesses(ctx context.Context, db runner, except string) ([]domain.Process, error) {
	rows, err := db.Query(ctx, sqlProcesses, pgx.NamedArgs{"life": ProcessLife, "except": except})
	if err != nil {
		return nil, failed("list the processes", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p domain.Process, err error) {
		err = row.Scan(&p.ID, &p.Kind, &p.Host, &p.PID, &p.ActiveKey, &p.Keys, &p.StartedAt, &p.SeenAt)
		return p, err
	})
	return list, failed("list the processes", err)
}
