package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/harvest-engine/harvest/internal/domain"
)

const projectColumns = `
p.id, p.name, p.description, coalesce(p.group_id, ''), coalesce(g.name, ''), p.created_by, p.created_at
from projects p left join groups g on g.id = p.group_id`

var (
	sqlProject = statement("read a project", `select`+projectColumns+` where p.id = @project`)

	sqlProjects = statement("list projects", `
select`+projectColumns+` where @all or p.group_id = any(@groups::text[]) order by p.name, p.id`)

	sqlNewProject = statement("new project", `
insert into projects (id, name, description, group_id, created_by) values (@project, @name, @description, @group, @user)`)

	sqlUpdateProject = statement("update a project", `
update projects set name = coalesce(@name, name), description = coalesce(@description, description), updated_at = now()
where id = @project returning id`)

	sqlMoveProject = statement("move a project", `update projects set group_id = @group, updated_at = now() where id = @project returning id`)
)

// CreateProject makes a project of a group; not_found where there is no such group.
func (s *Store) CreateProject(ctx context.Context, p domain.Project) (domain.Project, error) {
	p.ID = domain.NewID()
	_, err := s.pool.Exec(ctx, sqlNewProject, pgx.NamedArgs{
		"project": p.ID, "name": p.Name, "description": p.Description, "group": p.GroupID, "user": p.CreatedBy,
	})
	if foreignKeyViolation(err) {
		return domain.Project{}, domain.NotFound("there is no group %q", p.GroupID)
	}
	if err != nil {
		return domain.Project{}, failed("create a project", err)
	}
	return s.Project(ctx, p.ID)
}

// Project gives a project, or not_found.
func (s *Store) Project(ctx context.Context, id string) (domain.Project, error) {
	p, err := scanProject(s.pool.QueryRow(ctx, sqlProject, pgx.NamedArgs{"project": id}))
	if noRows(err) {
		return p, domain.NotFound("there is no project %q", id)
	}
	return p, failed("load project "+id, err)
}

// Projects lists the projects that a person may see, by name.
func (s *Store) Projects(ctx context.Context, who domain.Actor) ([]domain.Project, error) {
	rows, err := s.pool.Query(ctx, sqlProjects, pgx.NamedArgs{"all": who.Admin(), "groups": list(who.Groups)})
	if err != nil {
		return nil, failed("list projects", err)
	}
	projects, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Project, error) { return scanProject(row) })
	return projects, failed("list projects", err)
}

// UpdateProject changes a project's name or description, nil leaving it; or not_found.
func (s *Store) UpdateProject(ctx context.Context, id string, name, description *string) error {
	err := s.pool.QueryRow(ctx, sqlUpdateProject, pgx.NamedArgs{"project": id, "name": name, "description": description}).Scan(&id)
	if noRows(err) {
		return domain.NotFound("there is no project %q", id)
	}
	return failed("update project "+id, err)
}

// MoveProject gives a project to another group: invalid where there is no such group,
// not_found where there is no such project. Who sees it by the old one alone loses it at once.
func (s *Store) MoveProject(ctx context.Context, id, groupID string) error {
	err := s.pool.QueryRow(ctx, sqlMoveProject, pgx.NamedArgs{"project": id, "group": groupID}).Scan(&id)
	if noRows(err) {
		return domain.NotFound("there is no project %q", id)
	}
	if foreignKeyViolation(err) {
		return domain.Invalid("group_id", "names a group that does not exist")
	}
	if err == nil {
		s.accessChanged()
	}
	return failed("move project "+id, err)
}

func scanProject(row pgx.Row) (p domain.Project, err error) {
	err = row.Scan(&p.ID, &p.Name, &p.Description, &p.GroupID, &p.GroupName, &p.CreatedBy, &p.CreatedAt)
	p.CreatedAt = p.CreatedAt.UTC()
	return p, err
}

// foreignKeyViolation reports whether err is that something referred to does not exist.
func foreignKeyViolation(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "23503"
}
