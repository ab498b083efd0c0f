package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlMachineOfAgent = statement("read an agent's machine", `
select a.machine, a.hostname, coalesce(greatest(a.last_seen, k.seen_at, k.pinged_at) > now() - @away::interval, false)
from agents a left join agent_connections k on k.agent_id = a.id where a.id = @agent for no key update of a`)

	// A plain agent may have become one that knows its machine.
	sqlAgentHere = statement("note what an agent says of itself", `
update agents a
set hostname = case when @hostname = '' then a.hostname else @hostname end, version = @version, capabilities = @capabilities,
    last_seen = now(),
    machine = case when @machine <> '' and a.machine <> @machine and not exists (
        select from agents o where o.project_id = a.project_id and o.machine = @machine and o.id <> a.id) then @machine else a.machine end
where a.id = @agent`)

	// Waits for who delivers by the older connection; who looks by it after that finds it taken.
	sqlConnectAgent = statement("connect an agent", `
insert into agent_connections (agent_id, id, process_id, machine) values (@agent, @connection, @process, @machine)
on conflict (agent_id) do update
set id = excluded.id, process_id = excluded.process_id, machine = excluded.machine, connected_at = now(), seen_at = now(), pinged_at = now()`)

	// Keeps what it reads: one statement for all streams of a process.
	sqlAgentPulses = statement("keep the connections of a process", `
with kept as (
    update agent_connections set seen_at = now() where process_id = @process returning agent_id, id, machine, pinged_at
)
select k.agent_id, k.id, now() - k.pinged_at, exists (select from commands c where c.agent_id = a.id and c.ended_at is null and`+deliverable+`)
from kept k join agents a on a.id = k.agent_id`)

	sqlSeeAgent = statement("see an agent", `
with seen as (
    update agent_connections set pinged_at = now() where agent_id = @agent returning agent_id
)
update agents set last_seen = now() where id = @agent and not exists (select from seen)`)

	// The agent's row is locked first, as where it connects.
	sqlDisconnectAgent = statement("disconnect an agent", `
with here as (
    select id from agents where id = @agent for no key update
), gone as (
    delete from agent_connections k using here where k.agent_id = here.id and k.id = @connection returning k.agent_id, k.pinged_at
)
update agents a set last_seen = greatest(a.last_seen, gone.pinged_at) from gone where a.id = gone.agent_id`)
)

// awayFor is how long a machine must have been silent before another one may come with its token:
// longer than it takes to start again.
const awayFor = 10 * time.Minute

// ConnectAgent makes a connection the agent's newest, the one that is delivered to. Whoever
// serves the one of before learns of it by AgentPulses. The error is unauthorized where the agent
// is gone, or the connection comes from another machine than the agent's: that may take its place,
// as where it was restored on other hardware, once it was away for awayFor. Commands that were
// sent to the machine of before are not sent to it.
func (s *Store) ConnectAgent(ctx context.Context, c domain.AgentConnection) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var machine, hostname string
		var near bool
		err := tx.QueryRow(ctx, sqlMachineOfAgent, pgx.NamedArgs{"agent": c.AgentID, "away": awayFor}).Scan(&machine, &hostname, &near)
		switch {
		case noRows(err):
			return domain.Errorf(domain.CodeUnauthorized, "the agent was removed from its project; install it again with a new command")
		case err != nil:
			return err
		case near && machine != "" && c.Machine != "" && machine != clean(c.Machine):
			return domain.Errorf(domain.CodeUnauthorized,
				"the token belongs to the agent of another machine (%s): each machine must be installed by itself, with the project's install command. One that takes the place of the other is let in once that was silent for %d minutes",
				hostname, int(awayFor.Minutes()))
		}
		args := pgx.NamedArgs{
			"agent": c.AgentID, "connection": c.ID, "process": c.ProcessID, "machine": clean(c.Machine), "hostname": clean(c.Hostname),
			"version": clean(c.Version), "capabilities": list(c.Capabilities),
		}
		steps := &pgx.Batch{}
		steps.Queue(sqlAgentHere, args)
		steps.Queue(sqlConnectAgent, args)
		return tx.SendBatch(ctx, steps).Close()
	})
	if domain.CodeOf(err) == domain.CodeUnauthorized {
		return err
	}
	if err == nil {
		s.tellAgent(c.AgentID)
	}
	return failed("connect agent "+c.AgentID, err)
}

// AgentPulses keeps the connections of a process alive, and says how each stands. One that is
// missing has ended: a newer one has taken its place, or its agent was removed.
func (s *Store) AgentPulses(ctx context.Context, processID string) ([]domain.AgentPulse, error) {
	rows, err := s.pool.Query(ctx, sqlAgentPulses, pgx.NamedArgs{"process": processID})
	if err != nil {
		return nil, failed("keep the connections of agents", err)
	}
	pulses, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p domain.AgentPulse, err error) {
		err = row.Scan(&p.AgentID, &p.ConnectionID, &p.Quiet, &p.Due)
		return p, err
	})
	return pulses, failed("keep the connections of agents", err)
}

// SeeAgent notes that an agent was heard, by whichever process and with a connection or not.
func (s *Store) SeeAgent(ctx context.Context, agentID string) error {
	_, err := s.pool.Exec(ctx, sqlSeeAgent, pgx.NamedArgs{"agent": agentID})
	return failed("note that agent "+agentID+" was heard", err)
}

// DisconnectAgent says that a connection has ended. A newer one of the agent is left alone.
func (s *Store) DisconnectAgent(ctx context.Context, agentID, connectionID string) error {
	_, err := s.pool.Exec(ctx, sqlDisconnectAgent, pgx.NamedArgs{"agent": agentID, "connection": connectionID})
	return failed("disconnect agent "+agentID, err)
}
