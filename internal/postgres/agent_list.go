package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Whose machines a person may see is as with projects; see sqlProjects.
var sqlAgentsSeen = statement("list agents of all projects", `
select * from (select p.name as project_name, x.* from projects p join lateral (
    select`+agentColumns+` where a.project_id = p.id
) x (id, project_id, hostname, description, provider, instance, machine, version, capabilities, online, last_seen, created_at) on true
where @all or p.group_id = any(@groups::text[])) seen
where (@hostname = '' or hostname = @hostname) and (@provider = '' or coalesce(nullif(provider, ''), 'manual') = @provider)
  and (@online::bool is null or online = @online)
order by project_name, project_id, created_at, id`)

// AgentsSeen lists the agents of all projects that a person may see, by project, and then in the
// order in which they joined.
func (s *Store) AgentsSeen(ctx context.Context, who domain.Actor, f domain.AgentFilter) ([]domain.PlacedAgent, error) {
	rows, err := s.pool.Query(ctx, sqlAgentsSeen, pgx.NamedArgs{
		"all": who.Admin(), "groups": list(who.Groups), "hostname": f.Hostname, "provider": f.Provider, "online": f.Online,
	})
	if err != nil {
		return nil, failed("list agents", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a domain.PlacedAgent, err error) {
		err = row.Scan(append([]any{&a.ProjectName}, agentFields(&a.Agent)...)...)
		return a, err
	})
	return found, failed("list agents", err)
}
