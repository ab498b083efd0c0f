package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const versionsSQL = `
select v.id, r.name, v.tag, v.commit, v.committed_at, v.ingested_at,
    coalesce(h.commit <> v.commit, false),
    v.files, v.symbols, v.skipped_oversized, v.skipped_binary, v.skipped_generated, not v.graph_here
from versions v
join repositories r on r.id = v.repo_id
left join repository_refs h on h.repo_id = v.repo_id and h.tag = v.tag
where v.live and (@repo = '' or r.name = @repo) and (@tag = '' or v.tag = @tag)`

// newestFirst orders versions v: where a question names none, the newest answers.
const newestFirst = `v.committed_at desc nulls first, v.id desc`

func scanVersion(row pgx.CollectableRow) (domain.VersionDetail, error) {
	var v domain.VersionDetail
	var committed *time.Time
	err := row.Scan(&v.ID, &v.Repo, &v.Tag, &v.Commit, &committed, &v.IngestedAt, &v.Stale,
		&v.Files, &v.Symbols, &v.Skipped.Oversized, &v.Skipped.Binary, &v.Skipped.Generated, &v.OtherGraph)
	v.IngestedAt = v.IngestedAt.UTC()
	if committed != nil {
		utc := committed.UTC()
		v.CommittedAt = &utc
	}
	return v, err
}

// Version gives a whole version, or not_found that lists what there is.
func (s *Store) Version(ctx context.Context, repo, tag string) (domain.VersionDetail, error) {
	if err := graph.CheckVersion(repo, tag); err != nil {
		return domain.VersionDetail{}, err
	}
	found, err := answer(ctx, s, func(q querier) ([]domain.VersionDetail, error) {
		return findVersion(ctx, q, repo, tag)
	}, func(q querier) error {
		return unknownVersion(ctx, q, repo, tag)
	})
	if err != nil {
		return domain.VersionDetail{}, err
	}
	return found[0], nil
}

func loadVersion(ctx context.Context, q querier, repo, tag string) (domain.VersionDetail, error) {
	if err := graph.CheckVersion(repo, tag); err != nil {
		return domain.VersionDetail{}, err
	}
	found, err := findVersion(ctx, q, repo, tag)
	if err == nil && len(found) == 0 {
		err = unknownVersion(ctx, q, repo, tag)
	}
	if err != nil {
		return domain.VersionDetail{}, err
	}
	return found[0], nil
}

func findVersion(ctx context.Context, q querier, repo, tag string) ([]domain.VersionDetail, error) {
	return collect(ctx, q, "load version", scanVersion, versionsSQL, pgx.NamedArgs{"repo": repo, "tag": tag})
}

// needVersion is nil where the version exists, else its not_found.
func needVersion(ctx context.Context, q querier, repo, tag string) error {
	_, err := loadVersion(ctx, q, repo, tag)
	return err
}

// needGraph is nil where the version exists and its graph is here.
func needGraph(ctx context.Context, q querier, repo, tag string) error {
	_, err := loadGraphed(ctx, q, repo, tag)
	return err
}

// loadGraphed loads a version whose graph is here; not_found otherwise.
func loadGraphed(ctx context.Context, q querier, repo, tag string) (domain.VersionDetail, error) {
	v, err := loadVersion(ctx, q, repo, tag)
	if err == nil && v.OtherGraph {
		err = domain.NotFound("%s:%s is not in the graph in PostgreSQL: it was read while another was in use; ingest it again", repo, tag)
	}
	return v, err
}

const tagsSQL = `
select v.tag from versions v join repositories r on r.id = v.repo_id
where v.live and r.name = $1 order by ` + newestFirst

// unknownVersion says why repo and tag name no whole version.
func unknownVersion(ctx context.Context, q querier, repo, tag string) error {
	if _, err := repositoryID(ctx, q, repo); err != nil {
		return err
	}
	tags, err := collect(ctx, q, "list versions", pgx.RowTo[string], tagsSQL, repo)
	if err != nil {
		return err
	}
	return domain.NotFound("repository %q has no version %q; %s", repo, tag, thereIs("versions", tags))
}

const noteRefSQL = `
insert into repository_refs (repo_id, tag, commit)
select id, @tag, @commit from repositories where name = @repo
on conflict (repo_id, tag) do update set commit = excluded.commit, seen_at = now()`

// NoteRef records the commit at which a ref was last seen; not_found for an unknown repository.
func (s *Store) NoteRef(ctx context.Context, repo, tag, commit string) error {
	done, err := s.pool.Exec(ctx, noteRefSQL, pgx.NamedArgs{"repo": repo, "tag": tag, "commit": commit})
	if err != nil {
		return fault(fmt.Errorf("note ref %s of %s: %w", tag, repo, err))
	}
	if done.RowsAffected() == 0 {
		return unknownRepository(ctx, s.pool, repo)
	}
	return nil
}
