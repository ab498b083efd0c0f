package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlAddInstallToken = statement("add an install token", `
insert into install_tokens (id, project_id, hash, created_by, expires_at, uses_left, instance, description)
select @id, id, @hash, @by, @expires, @uses, @instance, @description from projects
where id = @project and deleting_at is null returning id`)

	// Those of containers were shown to nobody, and are good for one machine.
	sqlRevokeInstallTokens = statement("revoke install tokens", `
delete from install_tokens where project_id = @project and instance = ''`)

	sqlDropInstallTokens = statement("drop expired install tokens", `
delete from install_tokens where id in (select id from install_tokens where expires_at < @before limit @limit)`)
)

// AddInstallToken keeps what machines may join a project with; not_found where there is no such
// project, or it is being deleted.
func (s *Store) AddInstallToken(ctx context.Context, t domain.InstallToken) error {
	err := s.pool.QueryRow(ctx, sqlAddInstallToken, pgx.NamedArgs{
		"id": t.ID, "project": t.ProjectID, "hash": t.Hash, "by": t.CreatedBy, "expires": t.ExpiresAt, "uses": t.UsesLeft,
		"instance": t.Instance, "description": clean(t.Description),
	}).Scan(&t.ID)
	if noRows(err) {
		return domain.NotFound("there is no project %q", t.ProjectID)
	}
	return failed("keep an install token", err)
}

// RevokeInstallTokens ends all install tokens of a project that people were given. Machines that have joined stay.
func (s *Store) RevokeInstallTokens(ctx context.Context, projectID string) error {
	_, err := s.pool.Exec(ctx, sqlRevokeInstallTokens, pgx.NamedArgs{"project": projectID})
	return failed("revoke the install tokens of project "+projectID, err)
}
