package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// An agent is online where a process that is alive has its event stream; see ProcessLife, and
// how often a connection is kept alive.
const agentColumns = `
a.id, a.project_id, a.hostname, a.description, coalesce(a.provider, ''), a.instance, a.machine, a.version, a.capabilities,
coalesce(k.seen_at > now() - interval '45 seconds'
    and exists (select from processes p where p.id = k.process_id and p.seen_at > now() - interval '30 seconds'), false),
greatest(a.last_seen, k.pinged_at), a.created_at
from agents a left join agent_connections k on k.agent_id = a.id`

var (
	sqlAgents = statement("list agents", `select`+agentColumns+` where a.project_id = @project order by a.created_at, a.id`)

	sqlAgent = statement("read an agent", `select`+agentColumns+` where a.id = @agent`)

	sqlAgentByToken = statement("find an agent by its token", `select`+agentColumns+` where a.token_hash = @hash`)

	sqlAgentElsewhere = statement("look for an agent anywhere", `select exists (select from agents where id = @id)`)

	sqlJoinToken = statement("take an install token", `
select t.id, t.project_id, coalesce(t.uses_left, 1), t.instance, t.description
from install_tokens t join projects p on p.id = t.project_id and p.deleting_at is null
where t.hash = @hash and t.expires_at > now() for update of t`)

	// A machine that joins again is the agent that it was; it has no use for another use of the token.
	sqlJoinAgent = statement("let an agent join", `
insert into agents (id, project_id, hostname, description, provider, instance, token_hash, machine, version, capabilities, last_seen)
select @id, @project, @hostname, @description, nullif(@provider, ''), @instance, @new_hash, @machine, @version, @capabilities, now()
where @uses > 0 or @machine <> '' and exists (select from agents a where a.project_id = @project and a.machine = @machine)
on conflict (project_id, machine) where machine <> '' do update
set token_hash = excluded.token_hash, hostname = excluded.hostname, version = excluded.version, capabilities = excluded.capabilities,
    last_seen = now(), provider = coalesce(excluded.provider, agents.provider),
    instance = case when excluded.instance <> '' then excluded.instance else agents.instance end,
    description = case when excluded.description <> '' then excluded.description else agents.description end
returning id, xmax = 0`)

	sqlUseInstallToken = statement("count a use of an install token", `
update install_tokens set uses_left = uses_left - 1 where id = @token and uses_left is not null`)

	sqlLockAgent = statement("lock an agent", `select id from agents where id = @agent and project_id = @project for update`)

	sqlOpenOfAgent = statement("list the open commands of an agent", `
select c.id from commands c where c.agent_id = @agent and c.ended_at is null order by c.created_at, c.id`)

	sqlRemoveAgent = statement("remove an agent", `delete from agents where id = @agent`)
)

func scanAgent(row pgx.Row) (a domain.Agent, err error) {
	err = row.Scan(agentFields(&a)...)
	return a, err
}

// agentFields are where agentColumns are read into.
func agentFields(a *domain.Agent) []any {
	return []any{&a.ID, &a.ProjectID, &a.Hostname, &a.Description, &a.Provider, &a.Instance, &a.Machine, &a.Version, &a.Capabilities,
		&a.Online, &a.LastSeen, &a.CreatedAt}
}

// Agents lists the agents of a project, the oldest first.
func (s *Store) Agents(ctx context.Context, projectID string) ([]domain.Agent, error) {
	rows, err := s.pool.Query(ctx, sqlAgents, pgx.NamedArgs{"project": projectID})
	if err != nil {
		return nil, failed("list agents", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Agent, error) { return scanAgent(row) })
	return list, failed("list agents", err)
}

// Agent gives an agent of a project, or not_found.
func (s *Store) Agent(ctx context.Context, projectID, id string) (domain.Agent, error) {
	a, err := scanAgent(s.pool.QueryRow(ctx, sqlAgent, pgx.NamedArgs{"agent": id}))
	if noRows(err) || err == nil && a.ProjectID != projectID {
		return domain.Agent{}, s.missing(ctx, sqlAgentElsewhere, id, "there is no agent %q in this project")
	}
	return a, failed("load agent "+id, err)
}

// AgentByToken gives the agent whose permanent token has this SHA-256, or unauthorized.
func (s *Store) AgentByToken(ctx context.Context, hash []byte) (domain.Agent, error) {
	a, err := scanAgent(s.pool.QueryRow(ctx, sqlAgentByToken, pgx.NamedArgs{"hash": hash}))
	if noRows(err) {
		return domain.Agent{}, domain.Errorf(domain.CodeUnauthorized, "the token is that of no agent; install the agent anew")
	}
	return a, failed("find an agent", err)
}

// JoinAgent makes the agent of a machine that comes with an install token, and gives it the
// permanent token of newHash. A machine that has joined the project before is the agent that it
// was, whose token of before ends; only a new agent is a use of the install token. The error is
// unauthorized where the install token is unknown, has expired or is used up.
func (s *Store) JoinAgent(ctx context.Context, installHash, newHash []byte, hello domain.AgentHello) (agent domain.Agent, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		args := pgx.NamedArgs{
			"id": domain.NewID(), "new_hash": newHash, "hostname": clean(hello.Hostname), "machine": clean(hello.Machine),
			"version": clean(hello.Version), "capabilities": list(hello.Capabilities), "provider": "",
		}
		var token, project, instance, description, id string
		var uses int
		var made bool
		err := tx.QueryRow(ctx, sqlJoinToken, pgx.NamedArgs{"hash": installHash}).Scan(&token, &project, &uses, &instance, &description)
		if noRows(err) {
			return domain.Errorf(domain.CodeUnauthorized, "the install token is unknown, or has expired; run a new install command of the project on this machine")
		}
		if err != nil {
			return err
		}
		if instance != "" {
			args["provider"] = domain.ProviderLXD
		}
		args["project"], args["uses"], args["instance"], args["description"] = project, uses, instance, description
		err = tx.QueryRow(ctx, sqlJoinAgent, args).Scan(&id, &made)
		if noRows(err) {
			return domain.Errorf(domain.CodeUnauthorized, "the install token is used up; run a new install command of the project on this machine")
		}
		if err != nil {
			return err
		}
		if made {
			if _, err := tx.Exec(ctx, sqlUseInstallToken, pgx.NamedArgs{"token": token}); err != nil {
				return err
			}
		}
		agent, err = scanAgent(tx.QueryRow(ctx, sqlAgent, pgx.NamedArgs{"agent": id}))
		return err
	})
	if domain.CodeOf(err) == domain.CodeUnauthorized {
		return domain.Agent{}, err
	}
	return agent, failed("let an agent join", err)
}

// RemoveAgent removes an agent and ends its open commands: those that wait are canceled, those
// that were sent are unknown. It is not_found where the project has no such agent.
func (s *Store) RemoveAgent(ctx context.Context, projectID, id string) error {
	var ends []*batch
	args := pgx.NamedArgs{"agent": id, "project": projectID}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, sqlLockAgent, args).Scan(&id); err != nil {
			return err
		}
		var err error
		// Behind the lock, which who makes a command of the agent waits for, or has waited for.
		if ends, err = endAll(ctx, tx, sqlOpenOfAgent, args, "its agent was removed"); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, sqlRemoveAgent, args)
		return err
	})
	if noRows(err) {
		return s.missing(ctx, sqlAgentElsewhere, id, "there is no agent %q in this project")
	}
	if err != nil {
		return failed("remove agent "+id, err)
	}
	for _, b := range ends {
		s.tell(b.told...)
	}
	s.tellAgent(id)
	return nil
}

// endAll ends all open commands that sql lists, because of what is said: those that were not
// sent are canceled, the others unknown. What readers are told stands in the batches.
func endAll(ctx context.Context, tx pgx.Tx, sql string, args pgx.NamedArgs, because string) ([]*batch, error) {
	rows, err := tx.Query(ctx, sql, args)
	if err != nil {
		return nil, fmt.Errorf("list open commands: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list open commands: %w", err)
	}
	var ends []*batch
	for _, id := range ids {
		b, err := endBecause(ctx, tx, id, because)
		if err != nil {
			return nil, fmt.Errorf("end command %s: %w", id, err)
		}
		if b != nil {
			ends = append(ends, b)
		}
	}
	return ends, nil
}
