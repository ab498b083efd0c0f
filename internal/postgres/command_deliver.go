package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// deliverable judges a command c of the agent a, that is open, for the connection k. What was
// sent is sent again by another connection only where the agent keeps a journal and the machine
// is the one that it was sent to. A cancel is sent once by each connection.
const deliverable = `
(c.status = 'queued' and c.deliver_by > now()
 or c.status in ('delivered', 'running') and c.result_by > now() and c.machine = k.machine and (
    c.cancel_requested_at is null and c.durable and c.machine <> '' and c.connection <> k.id and 'ack' = any(a.capabilities)
    or c.cancel_requested_at is not null and c.cancel_connection <> k.id and 'cancel' = any(a.capabilities)))`

var (
	// The row of the connection is locked too, behind those of the commands: a newer connection waits
	// for who delivers by this one, and finds what was delivered.
	sqlDeliver = statement("deliver commands", `
with due as (
    select c.id, c.status = 'queued' as first, k.machine, 'ack' = any(a.capabilities) as durable
    from commands c join agents a on a.id = c.agent_id join agent_connections k on k.agent_id = a.id and k.id = @connection
    where c.agent_id = @agent and c.ended_at is null and`+deliverable+`
    order by c.created_at, c.id limit @limit for update of c for share of k
)
update commands c
set status = case when due.first then 'delivered' else c.status end, connection = @connection,
    machine = case when due.first then due.machine else c.machine end, durable = due.durable,
    cancel_connection = case when c.cancel_requested_at is null then '' else @connection end,
    delivered_at = coalesce(c.delivered_at, now()),
    result_by = case when c.cancel_requested_at is null then greatest(c.result_by, now() + c.time_limit + @patience::interval) else c.result_by end
from due where c.id = due.id
returning`+commandColumns+`, not due.first, `+barred("c.user_id", "c.project_id")+`, `+named("c.user_id"))

	sqlConnected = statement("ask whether a connection is the newest", `
select exists (select from agent_connections where agent_id = @agent and id = @connection)`)
)

// DeliverCommands gives what is to be sent to an agent by a connection of it, the oldest first.
// It is claimed before it is sent: from here on it may run, and is the agent's until patience
// after its time limit. Nobody else is given it, save that a machine that keeps a journal is
// told again by its next connection. Superseded where another connection is the newest.
func (s *Store) DeliverCommands(ctx context.Context, agentID, connectionID string, patience time.Duration, limit int) ([]domain.CommandDelivery, error) {
	args := pgx.NamedArgs{"agent": agentID, "connection": connectionID, "patience": patience, "limit": limit}
	rows, err := s.pool.Query(ctx, sqlDeliver, args)
	if err != nil {
		return nil, failed("deliver commands", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d domain.CommandDelivery, err error) {
		var bar domain.Bar
		var name string
		d.Command, err = scanCommand(row, &d.Again, &bar, &name)
		d.Cancel = d.CancelRequested
		if bar != "" {
			d.Barred = bar.Says(name)
		}
		return d, err
	})
	if err != nil {
		return nil, failed("deliver commands", err)
	}
	if len(list) == 0 {
		var newest bool
		if err := s.pool.QueryRow(ctx, sqlConnected, args).Scan(&newest); err != nil {
			return nil, failed("look for the agent's connection", err)
		}
		if !newest {
			return nil, domain.Errorf(domain.CodeSuperseded, "the agent has connected elsewhere, or was removed")
		}
	}
	slices.SortFunc(list, func(a, b domain.CommandDelivery) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}
