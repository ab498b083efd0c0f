package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const portForwardColumns = `
f.id, f.agent_id, f.port, f.route_name, f.created_at, f.updated_at, a.hostname, a.project_id`

var (
	sqlPortForwards = statement("list port forwards", `
select`+portForwardColumns+` from port_forwards f join agents a on a.id = f.agent_id
where f.agent_id = @agent and a.project_id = @project order by f.route_name`)

	sqlPortForward = statement("read a port forward", `
select`+portForwardColumns+` from port_forwards f join agents a on a.id = f.agent_id
where f.id = @id and f.agent_id = @agent and a.project_id = @project`)

	sqlPortForwardNamed = statement("find a port forward by its name", `
select`+portForwardColumns+` from port_forwards f join agents a on a.id = f.agent_id
where f.agent_id = @agent and f.route_name = @name`)

	sqlPortForwardElsewhere = statement("look for a port forward anywhere", `select exists (select from port_forwards where id = @id)`)
	sqlAgentOfProject       = statement("look for an agent of a project", `select exists (select from agents where id = @id and project_id = @project)`)

	sqlNewPortForward = statement("new port forward", `
insert into port_forwards (id, agent_id, port, route_name, created_by)
select @id, a.id, @port, @name, @user from agents a where a.id = @agent and a.project_id = @project
returning id`)

	sqlUpdatePortForward = statement("update a port forward", `
update port_forwards f set port = coalesce(@port, f.port), route_name = coalesce(@name, f.route_name), updated_at = now()
from agents a where f.id = @id and f.agent_id = @agent and a.id = f.agent_id and a.project_id = @project
returning f.id`)

	sqlDropPortForward = statement("remove a port forward", `
delete from port_forwards f using agents a
where f.id = @id and f.agent_id = @agent and a.id = f.agent_id and a.project_id = @project returning f.id`)
)

// PortForwards lists those of an agent of a project by their names, or gives not_found.
func (s *Store) PortForwards(ctx context.Context, projectID, agentID string) ([]domain.PortForward, error) {
	args := pgx.NamedArgs{"project": projectID, "agent": agentID, "id": agentID}
	var here bool
	if err := s.pool.QueryRow(ctx, sqlAgentOfProject, args).Scan(&here); err != nil {
		return nil, failed("look for agent "+agentID, err)
	}
	if !here {
		return nil, s.noAgentHere(ctx, agentID)
	}
	rows, err := s.pool.Query(ctx, sqlPortForwards, args)
	if err != nil {
		return nil, failed("list port forwards", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.PortForward, error) { return scanPortForward(row) })
	return list, failed("list port forwards", err)
}

// PortForward gives one of an agent of a project, or not_found.
func (s *Store) PortForward(ctx context.Context, projectID, agentID, id string) (domain.PortForward, error) {
	f, err := scanPortForward(s.pool.QueryRow(ctx, sqlPortForward, pgx.NamedArgs{"project": projectID, "agent": agentID, "id": id}))
	if noRows(err) {
		return f, s.noPortForward(ctx, projectID, agentID, id)
	}
	return f, failed("load port forward "+id, err)
}

// Forwarded gives the port forward that is reached under a name of an agent, or not_found.
// Whether who asks may see the agent's project is not looked at.
func (s *Store) Forwarded(ctx context.Context, agentID, routeName string) (domain.PortForward, error) {
	f, err := scanPortForward(s.pool.QueryRow(ctx, sqlPortForwardNamed, pgx.NamedArgs{"agent": agentID, "name": clean(routeName)}))
	if noRows(err) {
		return f, domain.NotFound("the machine has no port forward %q", routeName)
	}
	return f, failed("find port forward "+routeName, err)
}

// CreatePortForward keeps a port forward of f.ProjectID's agent; invalid where it is unfit, a
// conflict where its name is taken, not_found where the agent is not the project's.
func (s *Store) CreatePortForward(ctx context.Context, f domain.PortForward, by domain.Author) (domain.PortForward, error) {
	if err := f.Check(); err != nil {
		return f, err
	}
	id := domain.NewID()
	err := s.pool.QueryRow(ctx, sqlNewPortForward, pgx.NamedArgs{
		"id": id, "agent": f.AgentID, "project": f.ProjectID, "port": f.Port, "name": f.RouteName, "user": by.UserID,
	}).Scan(&id)
	switch {
	case noRows(err):
		return f, s.noAgentHere(ctx, f.AgentID)
	case uniqueViolation(err):
		return f, takenRoute(f.RouteName)
	case err != nil:
		return f, failed("create a port forward", err)
	}
	return s.PortForward(ctx, f.ProjectID, f.AgentID, id)
}

// UpdatePortForward changes a port forward: not_found, invalid, or a conflict where its name is
// taken.
func (s *Store) UpdatePortForward(ctx context.Context, at domain.PortForward, change domain.PortForwardChange) (domain.PortForward, error) {
	if err := change.Check(); err != nil {
		return at, err
	}
	err := s.pool.QueryRow(ctx, sqlUpdatePortForward, pgx.NamedArgs{
		"id": at.ID, "agent": at.AgentID, "project": at.ProjectID, "port": change.Port, "name": change.RouteName,
	}).Scan(&at.ID)
	switch {
	case noRows(err):
		return at, s.noPortForward(ctx, at.ProjectID, at.AgentID, at.ID)
	case uniqueViolation(err):
		return at, takenRoute(*change.RouteName)
	case err != nil:
		return at, failed("update port forward "+at.ID, err)
	}
	return s.PortForward(ctx, at.ProjectID, at.AgentID, at.ID)
}

// DeletePortForward removes a port forward, or gives not_found. What runs over it goes on.
func (s *Store) DeletePortForward(ctx context.Context, projectID, agentID, id string) error {
	err := s.pool.QueryRow(ctx, sqlDropPortForward, pgx.NamedArgs{"project": projectID, "agent": agentID, "id": id}).Scan(&id)
	if noRows(err) {
		return s.noPortForward(ctx, projectID, agentID, id)
	}
	return failed("remove port forward "+id, err)
}

func takenRoute(name string) error {
	return domain.Errorf(domain.CodeConflict, "the machine has a port forward %q already; choose another name, or change that one", name)
}

// noAgentHere is the answer to who asks for an agent that is not of the project.
func (s *Store) noAgentHere(ctx context.Context, id string) error {
	return s.missing(ctx, sqlAgentElsewhere, id, "there is no agent %q")
}

// noPortForward is the answer to who asks for a port forward that is not of the agent, or for
// an agent that is not of the project.
func (s *Store) noPortForward(ctx context.Context, projectID, agentID, id string) error {
	var here bool
	err := s.pool.QueryRow(ctx, sqlAgentOfProject, pgx.NamedArgs{"id": agentID, "project": projectID}).Scan(&here)
	if err != nil {
		return failed("look for agent "+agentID, err)
	}
	if !here {
		return s.noAgentHere(ctx, agentID)
	}
	return s.missing(ctx, sqlPortForwardElsewhere, id, "there is no port forward %q")
}

func scanPortForward(row pgx.Row) (f domain.PortForward, err error) {
	err = row.Scan(&f.ID, &f.AgentID, &f.Port, &f.RouteName, &f.CreatedAt, &f.UpdatedAt, &f.Hostname, &f.ProjectID)
	f.CreatedAt, f.UpdatedAt = f.CreatedAt.UTC(), f.UpdatedAt.UTC()
	f.URL = domain.ForwardPath(f.AgentID, f.RouteName)
	return f, err
}
