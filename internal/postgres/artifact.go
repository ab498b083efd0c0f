package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const artifactColumns = `
a.id, a.project_id, a.title, a.kind, a.version, a.created_by, a.created_at, a.updated_at`

// versionWritten is what follows the insertion of a version: a PDF is to be rendered.
const versionWritten = `, render as (
    insert into artifact_renders (artifact_id, version) select artifact_id, version from written where @kind = 'pdf'
)
select artifact_id from written`

var (
	sqlArtifacts = statement("list artifacts", `
select`+artifactColumns+`, '' from artifacts a where a.project_id = @project order by a.updated_at desc, a.id`)

	sqlArtifact = statement("read an artifact", `
select`+artifactColumns+`, v.content from artifacts a join artifact_versions v on v.artifact_id = a.id and v.version = a.version
where a.id = @artifact`)

	sqlArtifactProject = statement("find an artifact's project", `select project_id from artifacts where id = @artifact`)

	sqlArtifactWritten = statement("find what a call wrote", `
select`+artifactColumns+`, v.content from artifacts a join artifact_versions v on v.artifact_id = a.id
where v.write_key = @key`)

	sqlNewArtifact = statement("new artifact", `
with made as (
    insert into artifacts (id, project_id, title, kind, created_by)
    values (@artifact, @project, @title, @kind, @user) returning id
), written as (
    insert into artifact_versions (artifact_id, version, title, content, author, turn_id, write_key)
    select id, 1, @title, @content, @user, @turn, nullif(@key, '') from made returning artifact_id, version
)`+versionWritten)

	sqlReviseArtifact = statement("revise an artifact", `
with revised as (
    update artifacts set title = @title, version = version + 1, updated_at = now()
    where id = @artifact and version = @version returning id, version
), written as (
    insert into artifact_versions (artifact_id, version, title, content, author, turn_id, write_key, restored_from)
    select id, version, @title, @content, @user, @turn, nullif(@key, ''), @restored from revised returning artifact_id, version
)`+versionWritten)

	sqlDropArtifact = statement("remove an artifact", `delete from artifacts where id = @artifact and (@version = 0 or version = @version) returning version`)

	sqlArtifactVersions = statement("list an artifact's versions", `
select version, title, case when @version = 0 then '' else content end, author, turn_id, restored_from, created_at from artifact_versions
where artifact_id = @artifact and (@version = 0 or version = @version) order by version desc`)
)

// Artifacts lists the artifacts of a project, the one changed last first, without contents.
func (s *Store) Artifacts(ctx context.Context, projectID string) ([]domain.Artifact, error) {
	rows, err := s.pool.Query(ctx, sqlArtifacts, pgx.NamedArgs{"project": projectID})
	if err != nil {
		return nil, failed("list artifacts", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Artifact, error) { return scanArtifact(row) })
	return list, failed("list artifacts", err)
}

// Artifact gives an artifact with its newest content, or not_found.
func (s *Store) Artifact(ctx context.Context, id string) (domain.Artifact, error) {
	a, err := scanArtifact(s.pool.QueryRow(ctx, sqlArtifact, pgx.NamedArgs{"artifact": id}))
	if noRows(err) {
		return a, domain.NotFound("there is no artifact %q", id)
	}
	return a, failed("load artifact "+id, err)
}

// ArtifactProject gives the id of an artifact's project, or not_found.
func (s *Store) ArtifactProject(ctx context.Context, id string) (project string, err error) {
	err = s.pool.QueryRow(ctx, sqlArtifactProject, pgx.NamedArgs{"artifact": id}).Scan(&project)
	if noRows(err) {
		return "", domain.NotFound("there is no artifact %q", id)
	}
	return project, failed("find the project of artifact "+id, err)
}

// CreateArtifact keeps an artifact as version 1. A tool call that is repeated gives what it
// made the first time.
func (s *Store) CreateArtifact(ctx context.Context, a domain.Artifact, by domain.Author) (domain.Artifact, error) {
	a.ID = domain.NewID()
	_, err := s.pool.Exec(ctx, sqlNewArtifact, artifactArgs(a, by))
	switch {
	case uniqueViolation(err):
		return s.artifactWritten(ctx, by)
	case foreignKeyViolation(err):
		return domain.Artifact{}, domain.NotFound("there is no such project any more")
	case err != nil:
		return domain.Artifact{}, failed("create an artifact", err)
	}
	return s.Artifact(ctx, a.ID)
}

// ReviseArtifact keeps an artifact as the version after a.Version; a conflict where that is
// no longer the newest. A tool call that is repeated gives what it wrote the first time.
func (s *Store) ReviseArtifact(ctx context.Context, a domain.Artifact, by domain.Author, restoredFrom int) (domain.Artifact, error) {
	args := artifactArgs(a, by)
	args["version"], args["restored"] = a.Version, restoredFrom
	err := s.pool.QueryRow(ctx, sqlReviseArtifact, args).Scan(&a.ID)
	if uniqueViolation(err) || noRows(err) && by.Key() != "" {
		written, lost := s.artifactWritten(ctx, by)
		if lost == nil || domain.CodeOf(lost) != domain.CodeNotFound {
			return written, lost
		}
	}
	if noRows(err) {
		now, err := s.Artifact(ctx, a.ID)
		if err != nil {
			return domain.Artifact{}, err
		}
		return domain.Artifact{}, domain.StaleVersion("artifact", a.Version, now.Version)
	}
	if err != nil {
		return domain.Artifact{}, failed("revise artifact "+a.ID, err)
	}
	return s.Artifact(ctx, a.ID)
}

func (s *Store) artifactWritten(ctx context.Context, by domain.Author) (domain.Artifact, error) {
	a, err := scanArtifact(s.pool.QueryRow(ctx, sqlArtifactWritten, pgx.NamedArgs{"key": by.Key()}))
	if noRows(err) {
		return a, domain.NotFound("the call has written nothing")
	}
	return a, failed("find what a call wrote", err)
}

// DeleteArtifact removes an artifact that is at the version, 0 for any, with all its versions,
// and gives the version that it had. Errors: not_found, or conflict where that is another.
func (s *Store) DeleteArtifact(ctx context.Context, id string, version int) (deleted int, err error) {
	err = s.pool.QueryRow(ctx, sqlDropArtifact, pgx.NamedArgs{"artifact": id, "version": version}).Scan(&deleted)
	if !noRows(err) {
		return deleted, failed("remove artifact "+id, err)
	}
	if _, err := s.ArtifactProject(ctx, id); err != nil {
		return 0, err
	}
	return 0, domain.Errorf(domain.CodeConflict, "the artifact has a newer version than %d, which nobody has approved to delete; load it again", version)
}

// ArtifactVersions lists an artifact's versions, newest first, without their contents.
func (s *Store) ArtifactVersions(ctx context.Context, id string) ([]domain.Revision, error) {
	return s.revisions(ctx, sqlArtifactVersions, pgx.NamedArgs{"artifact": id, "version": 0})
}

// ArtifactVersion gives a version with its content, or not_found.
func (s *Store) ArtifactVersion(ctx context.Context, id string, version int) (domain.Revision, error) {
	return s.revision(ctx, sqlArtifactVersions, pgx.NamedArgs{"artifact": id, "version": version})
}

func artifactArgs(a domain.Artifact, by domain.Author) pgx.NamedArgs {
	return pgx.NamedArgs{
		"artifact": a.ID, "project": a.ProjectID, "title": clean(a.Title), "kind": string(a.Kind), "content": clean(a.Content),
		"user": by.UserID, "turn": by.TurnID, "key": by.Key(),
	}
}

func scanArtifact(row pgx.Row) (a domain.Artifact, err error) {
	err = row.Scan(&a.ID, &a.ProjectID, &a.Title, &a.Kind, &a.Version, &a.CreatedBy, &a.CreatedAt, &a.UpdatedAt, &a.Content)
	a.CreatedAt, a.UpdatedAt = a.CreatedAt.UTC(), a.UpdatedAt.UTC()
	return a, err
}
