package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlDisable = statement("disable a user", `
with ended as (delete from sessions where user_id = @user)
update users u set disabled_at = coalesce(disabled_at, now())
where u.id = @user and (u.role <> 'admin' or `+anotherAdmin+`) returning u.id`)

	sqlEnable = statement("enable a user", `update users set disabled_at = null where id = @user returning id`)
)

// anotherAdmin holds where somebody besides the user u can sign in as an admin.
const anotherAdmin = `exists (
    select from users o where o.id <> u.id and o.role = 'admin' and o.provider <> 'owner' and o.disabled_at is null)`

// errDisabled is told only to who has proved to be that person.
var errDisabled = domain.Errorf(domain.CodeForbidden, "this account is disabled; ask an admin of this server")

// SetDisabled shuts a person out, at once and everywhere, or lets them in again. What they made
// stays, and so do their keys, which open nothing meanwhile. Errors: not_found, or conflict for
// the last admin and the owner.
func (s *Store) SetDisabled(ctx context.Context, userID string, disabled bool) error {
	if userID == domain.OwnerID {
		return errOwner
	}
	if _, err := s.User(ctx, userID); err != nil {
		return err
	}
	sql := sqlEnable
	if disabled {
		sql = sqlDisable
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlLockRoles); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sql, pgx.NamedArgs{"user": userID}).Scan(&userID)
	})
	if noRows(err) {
		return errLastAdmin
	}
	s.accessChanged()
	return failed("disable or enable "+userID, err)
}
