package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const userColumns = `
u.id, coalesce(u.email, ''), u.name, u.role, u.provider, u.created_at, u.last_project_id, u.last_llm_provider_id, u.last_llm_model,
array(select m.group_id from memberships m where m.user_id = u.id order by m.group_id), u.disabled_at is not null`

var (
	sqlUser = statement("read a user", `select`+userColumns+` from users u where u.id = @user`)

	sqlUserByEmail = statement("read a user by e-mail", `
select`+userColumns+`, coalesce(u.password, '') from users u where lower(u.email) = lower(@email)`)

	sqlUsers = statement("list users", `select`+userColumns+` from users u where u.provider <> 'owner' order by u.created_at, u.id`)

	// Whoever changes roles, or signs up, waits here: so exactly one person is the first, and
	// the last admin stays one.
	sqlLockRoles = statement("lock the roles", `select pg_advisory_xact_lock(hashtext('harvest.roles'))`)

	sqlNewUser = statement("new user", `
with made as (
    insert into users (id, email, name, role, provider, password)
    values (@user, nullif(@email::text, ''), @name, case when exists (select from users where provider <> 'owner') then 'regular' else 'admin' end,
        @provider, nullif(@password::text, ''))
    returning id
), joined as (
    insert into memberships (group_id, user_id) select g.id, made.id from groups g, made where g.is_default
)
select id from made`)

	sqlAnybody = statement("ask whether anybody signed up", `select exists (select from users where provider <> 'owner')`)

	sqlSetRole = statement("set a role", `
update users u set role = @role where u.id = @user and u.provider <> 'owner' and (
    @role = 'admin' or u.role <> 'admin' or u.disabled_at is not null or `+anotherAdmin+`)
returning u.id`)

	sqlLeaveGroups = statement("leave groups", `delete from memberships where user_id = @user and group_id <> all(@groups::text[])`)

	sqlJoinGroups = statement("join groups", `
insert into memberships (group_id, user_id) select id, @user from groups where id = any(@groups::text[])
on conflict do nothing`)

	sqlCountGroups = statement("count groups", `select count(*) from groups where id = any(@groups::text[])`)

	sqlNewIdentity = statement("new identity", `insert into identities (issuer, subject, user_id) values (@issuer, @subject, @user)`)

	sqlUpdateUser = statement("update a user", `
update users set name = coalesce(@name, name), last_project_id = coalesce(@project, last_project_id),
    last_llm_provider_id = coalesce(@provider, last_llm_provider_id), last_llm_model = coalesce(@model, last_llm_model)
where id = @user returning id`)
)

var errFirst = domain.Errorf(domain.CodeForbidden, "nobody has signed up yet, and the first to do so must give this server's setup token")

// CreateUser signs a person up. The first person is an admin, all others are regular; each
// joins the default groups. A taken e-mail address or identity is a conflict.
func (s *Store) CreateUser(ctx context.Context, n domain.NewUser) (domain.User, error) {
	id := domain.NewID()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlLockRoles); err != nil {
			return err
		}
		return s.signUp(ctx, tx, id, n)
	})
	if domain.CodeOf(err) == domain.CodeForbidden {
		return domain.User{}, err
	}
	if uniqueViolation(err) {
		return domain.User{}, domain.Errorf(domain.CodeConflict, "there is an account with this e-mail address already")
	}
	if err != nil {
		return domain.User{}, failed("create a user", err)
	}
	return s.User(ctx, id)
}

func (s *Store) signUp(ctx context.Context, tx pgx.Tx, id string, n domain.NewUser) error {
	if n.Later {
		var anybody bool
		if err := tx.QueryRow(ctx, sqlAnybody).Scan(&anybody); err != nil {
			return err
		}
		if !anybody {
			return errFirst
		}
	}
	args := pgx.NamedArgs{"user": id, "email": n.Email, "name": n.Name, "provider": n.Provider, "password": n.Password}
	if err := tx.QueryRow(ctx, sqlNewUser, args).Scan(&id); err != nil || n.Identity == (domain.Identity{}) {
		return err
	}
	_, err := tx.Exec(ctx, sqlNewIdentity, pgx.NamedArgs{"issuer": n.Identity.Issuer, "subject": n.Identity.Subject, "user": id})
	return err
}

// User gives a person, or not_found.
func (s *Store) User(ctx context.Context, id string) (domain.User, error) {
	u, err := scanUser(s.pool.QueryRow(ctx, sqlUser, pgx.NamedArgs{"user": id}))
	if noRows(err) {
		return u, domain.NotFound("there is no user %q", id)
	}
	return u, failed("load user "+id, err)
}

// UserByEmail gives a person and the hash of their password, "" for none; or not_found.
// Upper and lower case are the same.
func (s *Store) UserByEmail(ctx context.Context, email string) (u domain.User, password string, err error) {
	u, err = scanUser(s.pool.QueryRow(ctx, sqlUserByEmail, pgx.NamedArgs{"email": strings.TrimSpace(email)}), &password)
	if noRows(err) {
		return u, "", domain.NotFound("there is no account with this e-mail address")
	}
	return u, password, failed("load a user by e-mail", err)
}

// Users lists the people who signed up, in that order.
func (s *Store) Users(ctx context.Context) ([]domain.User, error) {
	rows, err := s.pool.Query(ctx, sqlUsers)
	if err != nil {
		return nil, failed("list users", err)
	}
	users, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.User, error) { return scanUser(row) })
	return users, failed("list users", err)
}

// Actor gives a person as who acts, or not_found.
func (s *Store) Actor(ctx context.Context, userID string) (domain.Actor, error) {
	u, err := s.User(ctx, userID)
	return domain.Actor{UserID: u.ID, Name: u.Name, Role: u.Role, Groups: u.GroupIDs}, err
}

var errOwner = domain.Errorf(domain.CodeConflict, "the owner is whoever has the owner token: always an admin, and in no group")

var errLastAdmin = domain.Errorf(domain.CodeConflict, "this is the last admin; make somebody else an admin first")

// SetRole changes what a person may do: not_found, or conflict for the last admin and the owner.
func (s *Store) SetRole(ctx context.Context, userID string, role domain.UserRole) error {
	if role != domain.UserAdmin && role != domain.UserRegular {
		return domain.Invalid("role", "must be %s or %s", domain.UserAdmin, domain.UserRegular)
	}
	if userID == domain.OwnerID {
		return errOwner
	}
	if _, err := s.User(ctx, userID); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlLockRoles); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sqlSetRole, pgx.NamedArgs{"user": userID, "role": role}).Scan(&userID)
	})
	if noRows(err) {
		return errLastAdmin
	}
	s.accessChanged()
	return failed("set the role of "+userID, err)
}

// SetGroups makes a person a member of exactly these groups. Errors: not_found for the
// person, conflict for the owner, invalid for a group that does not exist.
func (s *Store) SetGroups(ctx context.Context, userID string, groupIDs []string) error {
	if userID == domain.OwnerID {
		return errOwner
	}
	if _, err := s.User(ctx, userID); err != nil {
		return err
	}
	unique := make(map[string]bool, len(groupIDs))
	for _, id := range groupIDs {
		unique[id] = true
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		args := pgx.NamedArgs{"user": userID, "groups": list(groupIDs)}
		var known int
		if err := tx.QueryRow(ctx, sqlCountGroups, args).Scan(&known); err != nil {
			return err
		}
		if known != len(unique) {
			return domain.Invalid("group_ids", "names a group that does not exist")
		}
		for _, sql := range []string{sqlLeaveGroups, sqlJoinGroups} {
			if _, err := tx.Exec(ctx, sql, args); err != nil {
				return err
			}
		}
		return nil
	})
	if domain.CodeOf(err) == domain.CodeInvalid {
		return err
	}
	s.accessChanged()
	return failed("set the groups of "+userID, err)
}

// UserChange is what a person changes of themselves; nil leaves a field as it is.
type UserChange = domain.UserChange

// UpdateUser changes a person's own settings, or gives not_found.
func (s *Store) UpdateUser(ctx context.Context, userID string, c UserChange) error {
	err := s.pool.QueryRow(ctx, sqlUpdateUser, pgx.NamedArgs{
		"user": userID, "name": c.Name, "project": c.ProjectID, "provider": c.LLMProviderID, "model": c.LLMModel,
	}).Scan(&userID)
	if noRows(err) {
		return domain.NotFound("there is no user %q", userID)
	}
	return failed("update user "+userID, err)
}

func scanUser(row pgx.Row, more ...any) (u domain.User, err error) {
	into := append([]any{
		&u.ID, &u.Email, &u.Name, &u.Role, &u.Provider, &u.CreatedAt,
		&u.Last.ProjectID, &u.Last.LLMProviderID, &u.Last.LLMModel, &u.GroupIDs, &u.Disabled,
	}, more...)
	err = row.Scan(into...)
	u.CreatedAt = u.CreatedAt.UTC()
	return u, err
}
