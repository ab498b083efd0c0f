package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlGroups = statement("list groups", `
select g.id, g.name, g.description, g.created_at, g.is_default from groups g
where @user = '' or exists (select from memberships m where m.group_id = g.id and m.user_id = @user)
order by g.name`)

	sqlNewGroup = statement("new group", `
insert into groups (id, name, description) values (@group, @name, @description)
returning id, name, description, created_at, is_default`)

	sqlDropGroup = statement("remove a group", `delete from groups where id = @group returning id`)

	sqlDefaultGroup = statement("set a default group", `update groups set is_default = @default where id = @group returning id`)
)

// Groups lists all groups by name, or with a user only that person's.
func (s *Store) Groups(ctx context.Context, userID string) ([]domain.Group, error) {
	rows, err := s.pool.Query(ctx, sqlGroups, pgx.NamedArgs{"user": userID})
	if err != nil {
		return nil, failed("list groups", err)
	}
	groups, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Group, error) { return scanGroup(row) })
	return groups, failed("list groups", err)
}

// CreateGroup makes a group without members; a taken name is a conflict.
func (s *Store) CreateGroup(ctx context.Context, name, description string) (domain.Group, error) {
	g, err := scanGroup(s.pool.QueryRow(ctx, sqlNewGroup, pgx.NamedArgs{"group": domain.NewID(), "name": name, "description": description}))
	if uniqueViolation(err) {
		return g, domain.Errorf(domain.CodeConflict, "there is a group named %q already", name)
	}
	return g, failed("create a group", err)
}

// DeleteGroup removes a group and its memberships, or gives not_found. Its projects stay, for
// admins to move.
func (s *Store) DeleteGroup(ctx context.Context, id string) error {
	return s.changeGroup(ctx, "remove", sqlDropGroup, pgx.NamedArgs{"group": id})
}

// SetDefaultGroup says whether new people join the group; or not_found.
func (s *Store) SetDefaultGroup(ctx context.Context, id string, isDefault bool) error {
	return s.changeGroup(ctx, "change", sqlDefaultGroup, pgx.NamedArgs{"group": id, "default": isDefault})
}

func (s *Store) changeGroup(ctx context.Context, doing, sql string, args pgx.NamedArgs) error {
	id, _ := args["group"].(string)
	err := s.pool.QueryRow(ctx, sql, args).Scan(&id)
	if noRows(err) {
		return domain.NotFound("there is no group %q", id)
	}
	s.accessChanged()
	return failed(doing+" group "+id, err)
}

func scanGroup(row pgx.Row) (g domain.Group, err error) {
	err = row.Scan(&g.ID, &g.Name, &g.Description, &g.CreatedAt, &g.IsDefault)
	g.CreatedAt = g.CreatedAt.UTC()
	return g, err
}
