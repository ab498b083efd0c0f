package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	// A container is accounted for by a provision that is open, or ended well a short while ago
	// and whose agent is yet to come, and by the agent itself.
	sqlOrphanContainers = statement("find orphaned containers", `
select n.name from unnest(@names::text[], @projects::text[]) n(name, project_id)
where not exists (
        select from provisions p where p.instance = n.name and p.project_id = n.project_id
            and (p.ended_at is null or p.status = 'done' and p.ended_at > now() - @patience::interval))
    and not exists (select from agents a where a.instance = n.name and a.instance <> '' and a.project_id = n.project_id)`)

	sqlOrphanNetworks = statement("find orphaned networks", `
select n.name from unnest(@names::text[], @projects::text[]) n(name, project_id)
where not exists (select from projects p where p.id = n.project_id)`)

	sqlInstanceAgents = statement("find the agents of a container", `
select id from agents where project_id = @project and instance = @instance and instance <> ''`)
)

// OrphanContainers gives those of the containers that nothing accounts for: no provision that is
// under way, or ended well within patience, and no agent.
func (s *Store) OrphanContainers(ctx context.Context, all []domain.Container, patience time.Duration) ([]string, error) {
	names, projects := make([]string, len(all)), make([]string, len(all))
	for i, c := range all {
		names[i], projects[i] = c.Name, c.ProjectID
	}
	return s.ids(ctx, "find orphaned containers", sqlOrphanContainers, pgx.NamedArgs{"names": names, "projects": projects, "patience": patience})
}

// OrphanNetworks gives those of the networks whose project is gone.
func (s *Store) OrphanNetworks(ctx context.Context, all []domain.ContainerNetwork) ([]string, error) {
	names, projects := make([]string, len(all)), make([]string, len(all))
	for i, n := range all {
		names[i], projects[i] = n.Name, n.ProjectID
	}
	return s.ids(ctx, "find orphaned networks", sqlOrphanNetworks, pgx.NamedArgs{"names": names, "projects": projects})
}

// InstanceAgents gives the ids of the agents of a container.
func (s *Store) InstanceAgents(ctx context.Context, projectID, instance string) ([]string, error) {
	return s.ids(ctx, "find the agents of container "+instance, sqlInstanceAgents, pgx.NamedArgs{"project": projectID, "instance": instance})
}
