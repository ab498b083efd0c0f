package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// connectionLife is how long the event stream of an agent counts as open whose process says
// nothing of it.
const connectionLife = 45 * time.Second

const agentSessionColumns = `
s.id, s.agent_id, s.project_id, s.kind, s.process_id, s.user_id, s.user_name, s.address, s.created_at`

var (
	sqlAgentPlace = statement("find the project of an agent", `select project_id, hostname from agents where id = @agent`)

	sqlAgentHome = statement("find the process that has an agent", `
select p.id, p.kind, p.host, p.pid, p.peer_address, p.peer_token, p.peer_fingerprint
from agent_connections c join processes p on p.id = c.process_id
where c.agent_id = @agent and c.seen_at > now() - @life::interval and p.seen_at > now() - @process_life::interval`)

	sqlProcess = statement("find a process", `
select id, kind, host, pid, peer_address, peer_token, peer_fingerprint from processes
where id = @id and seen_at > now() - @life::interval`)

	sqlOpenSession = statement("open a session of an agent", `
insert into agent_sessions (id, agent_id, project_id, kind, process_id, user_id, user_name, address)
select @id, a.id, a.project_id, @kind, @process, @user, @name, @address from agents a where a.id = @agent
returning project_id`)

	// Of two that claim at once one finds the row claimed.
	sqlClaimSession = statement("claim a session of an agent", `
update agent_sessions s set claimed_at = now()
where s.id = @id and s.agent_id = @agent and s.kind = @kind and s.claimed_at is null
  and s.created_at > now() - @within::interval
returning`+agentSessionColumns)

	sqlSessionStands = statement("look whether a session stands", `select exists (select from agent_sessions where id = @id)`)

	sqlCloseSession = statement("close a session of an agent", `delete from agent_sessions where id = @id`)

	// A process that starts is in the table before it opens sessions.
	sqlDropLostSessions = statement("drop the sessions of processes that died", `
delete from agent_sessions s
where s.created_at < now() - @life::interval
  and not exists (select from processes p where p.id = s.process_id and p.seen_at > now() - @life::interval)
returning`+agentSessionColumns)
)

// AgentPlace gives the project and the host name of an agent, or not_found.
func (s *Store) AgentPlace(ctx context.Context, agentID string) (projectID, hostname string, err error) {
	err = s.pool.QueryRow(ctx, sqlAgentPlace, pgx.NamedArgs{"agent": agentID}).Scan(&projectID, &hostname)
	if noRows(err) {
		return "", "", domain.NotFound("there is no agent %q", agentID)
	}
	return projectID, hostname, failed("find agent "+agentID, err)
}

// AgentHome gives the process that has the event stream of an agent, or not_found where none
// has it.
func (s *Store) AgentHome(ctx context.Context, agentID string) (domain.Process, error) {
	p, err := scanPeer(s.pool.QueryRow(ctx, sqlAgentHome, pgx.NamedArgs{"agent": agentID, "life": connectionLife, "process_life": ProcessLife}))
	if noRows(err) {
		return p, domain.NotFound("no process has the agent %q", agentID)
	}
	return p, failed("find the process of agent "+agentID, err)
}

// Process gives a process that runs, or not_found.
func (s *Store) Process(ctx context.Context, id string) (domain.Process, error) {
	p, err := scanPeer(s.pool.QueryRow(ctx, sqlProcess, pgx.NamedArgs{"id": id, "life": ProcessLife}))
	if noRows(err) {
		return p, domain.NotFound("there is no process %q any more", id)
	}
	return p, failed("find process "+id, err)
}

func scanPeer(row pgx.Row) (p domain.Process, err error) {
	err = row.Scan(&p.ID, &p.Kind, &p.Host, &p.PID, &p.Peer.Address, &p.Peer.Token, &p.Peer.Fingerprint)
	return p, err
}

// OpenSession keeps a session for its agent to claim; not_found where the agent is gone.
func (s *Store) OpenSession(ctx context.Context, a domain.AgentSession) error {
	err := s.pool.QueryRow(ctx, sqlOpenSession, pgx.NamedArgs{
		"id": a.ID, "agent": a.AgentID, "kind": a.Kind, "process": a.ProcessID,
		"user": a.UserID, "name": clean(a.UserName), "address": a.Address,
	}).Scan(&a.ProjectID)
	if noRows(err) {
		return domain.NotFound("there is no agent %q", a.AgentID)
	}
	return failed("open a session", err)
}

// ClaimSession gives an agent its session, once and within a time of its opening; anything
// else is not_found.
func (s *Store) ClaimSession(ctx context.Context, agentID, id string, kind domain.SessionKind, within time.Duration) (domain.AgentSession, error) {
	a, err := scanAgentSession(s.pool.QueryRow(ctx, sqlClaimSession, pgx.NamedArgs{"id": clean(id), "agent": agentID, "kind": kind, "within": within}))
	if noRows(err) {
		return a, domain.NotFound("there is no such session for this agent to claim: it must be claimed once, within %s", within)
	}
	return a, failed("claim a session", err)
}

// SessionStands reports whether a session is open still: that of an agent that was removed is
// not.
func (s *Store) SessionStands(ctx context.Context, id string) (stands bool, err error) {
	err = s.pool.QueryRow(ctx, sqlSessionStands, pgx.NamedArgs{"id": id}).Scan(&stands)
	return stands, failed("look whether a session stands", err)
}

// CloseSession forgets a session that has ended.
func (s *Store) CloseSession(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, sqlCloseSession, pgx.NamedArgs{"id": id})
	return failed("close a session", err)
}

// DropLostSessions forgets the sessions of processes that died, and gives them.
func (s *Store) DropLostSessions(ctx context.Context) ([]domain.AgentSession, error) {
	rows, err := s.pool.Query(ctx, sqlDropLostSessions, pgx.NamedArgs{"life": 2 * ProcessLife})
	if err != nil {
		return nil, failed("drop lost sessions", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.AgentSession, error) { return scanAgentSession(row) })
	return list, failed("drop lost sessions", err)
}

func scanAgentSession(row pgx.Row) (a domain.AgentSession, err error) {
	err = row.Scan(&a.ID, &a.AgentID, &a.ProjectID, &a.Kind, &a.ProcessID, &a.UserID, &a.UserName, &a.Address, &a.CreatedAt)
	a.CreatedAt = a.CreatedAt.UTC()
	return a, err
}
