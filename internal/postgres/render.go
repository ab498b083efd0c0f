package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	// What a process that is gone had begun is begun again after a minute.
	sqlClaimRender = statement("claim a rendering", `
with next as (
    select artifact_id, version from artifact_renders
    where body is null and fault = '' and (claimed_at is null or claimed_at < now() - interval '1 minute')
    order by created_at limit 1 for update skip locked
), claimed as (
    update artifact_renders r set claimed_at = now(), attempt = r.attempt + 1
    from next where r.artifact_id = next.artifact_id and r.version = next.version
    returning r.artifact_id, r.version, r.attempt
)
select c.artifact_id, c.version, c.attempt, v.title, v.content, v.created_at
from claimed c join artifact_versions v on v.artifact_id = c.artifact_id and v.version = c.version`)

	sqlSaveRender = statement("save a rendering", `
update artifact_renders set body = @body, fault = @fault
where artifact_id = @artifact and version = @version and body is null and fault = ''`)

	sqlRender = statement("read a rendering", `
select body, fault from artifact_renders where artifact_id = @artifact and version = @version`)
)

// ClaimRendering takes the oldest rendering that waits, for a minute; ok is false where none
// does.
func (s *Store) ClaimRendering(ctx context.Context) (r domain.Rendering, ok bool, err error) {
	err = s.pool.QueryRow(ctx, sqlClaimRender).Scan(&r.ArtifactID, &r.Version, &r.Attempt, &r.Title, &r.Content, &r.At)
	if noRows(err) {
		return r, false, nil
	}
	return r, err == nil, failed("claim a rendering", err)
}

// SaveRendering keeps what became of a rendering. The first to save it wins.
func (s *Store) SaveRendering(ctx context.Context, artifactID string, version int, out domain.Rendered) error {
	_, err := s.pool.Exec(ctx, sqlSaveRender, pgx.NamedArgs{"artifact": artifactID, "version": version, "body": out.Body, "fault": clean(out.Fault)})
	return failed("save the rendering of artifact "+artifactID, err)
}

// Rendering gives what became of a version's rendering so far, or not_found.
func (s *Store) Rendering(ctx context.Context, artifactID string, version int) (out domain.Rendered, err error) {
	err = s.pool.QueryRow(ctx, sqlRender, pgx.NamedArgs{"artifact": artifactID, "version": version}).Scan(&out.Body, &out.Fault)
	if noRows(err) {
		return out, domain.NotFound("there is no version %d", version)
	}
	return out, failed("read the rendering of artifact "+artifactID, err)
}
