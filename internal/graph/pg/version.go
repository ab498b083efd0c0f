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
    v.files, v.symbols, v.skipped_oversized, v.skipped_binary, v.skipped_generated
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
		&v.Files, &v.Symbols, &v.Skipped.Oversized, &v.Skipped.Binary, &v.Skipped.Generated)
	v.IngestedAt = v.IngestedAt.UTC()
	if committed != nil {
		utc := committed.UTC()
		v.CommittedAt = &utc
	}
	return v, err
}

// Version gives a whole version, or not_found that lists what there is.
func (s *Store) Version(ctx context.Context, repo, tag string) (domain.VersionDetail, error) {
	return s.version(ctx, s.pool, repo, tag)
}

func (s *Store) version(ctx context.Context, q querier, repo, tag string) (domain.VersionDetail, error) {
	if err := graph.CheckVersion(repo, tag); err != nil {
		return domain.VersionDetail{}, err
	}
	found, err := collect(ctx, q, "load version", scanVersion, versionsSQL, pgx.NamedArgs{"repo": repo, "tag": tag})
	if err != nil {
		return domain.VersionDetail{}, err
	}
	if len(found) == 0 {
		return domain.VersionDetail{}, s.unknownVersion(ctx, repo, tag)
	}
	return found[0], nil
}

const tagsSQL = `
select v.tag from versions v join repositories r on r.id = v.repo_id
where v.live and r.name = $1 order by ` + newestFirst

// unknownVersion says why repo and tag name no whole version.
func (s *Store) unknownVersion(ctx context.Context, repo, tag string) error {
	if _, err := s.repositoryID(ctx, repo); err != nil {
		return err
	}
	tags, err := collect(ctx, s.pool, "list versions", pgx.RowTo[string], tagsSQL, repo)
	if err != nil {
		return err
	}
	return domain.NotFound("repository %q has no version %q; %s", repo, tag, thereIs("versions", tags))
}

// absent explains an empty answer: not_found where the version does not exist, else nil.
func (s *Store) absent(ctx context.Context, repo, tag string) error {
	_, err := s.Version(ctx, repo, tag)
	return err
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
		return s.unknownRepository(ctx, repo)
	}
	return nil
}

const snapshotsSQL = `
select v.id, r.name, v.tag from versions v join repositories r on r.id = v.repo_id
where v.live and (cardinality(@repos::text[]) = 0 or r.name = any(@repos))
    and (cardinality(@tags::text[]) = 0 or v.tag = any(@tags))
order by ` + newestFirst

// Snapshots gives the whole versions that a query covers, the newest first. Empty lists mean
// all; a repository or version that does not exist is not_found.
func (s *Store) Snapshots(ctx context.Context, repos, tags []string) ([]graph.Snapshot, error) {
	if repos == nil {
		repos = []string{}
	}
	if tags == nil {
		tags = []string{}
	}
	found, err := collect(ctx, s.pool, "choose versions", pgx.RowToStructByPos[graph.Snapshot], snapshotsSQL,
		pgx.NamedArgs{"repos": repos, "tags": tags})
	if err != nil {
		return nil, err
	}
	hasRepo, hasTag := map[string]bool{}, map[string]bool{}
	for _, v := range found {
		hasRepo[v.Repo], hasTag[v.Tag] = true, true
	}
	for _, tag := range tags {
		if !hasTag[tag] {
			return nil, s.unknownTag(ctx, repos, tag)
		}
	}
	for _, repo := range repos {
		if hasRepo[repo] {
			continue
		}
		if _, err := s.repositoryID(ctx, repo); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// unknownTag reports a version that none of the repositories has.
func (s *Store) unknownTag(ctx context.Context, repos []string, tag string) error {
	if len(repos) == 1 {
		return s.unknownVersion(ctx, repos[0], tag)
	}
	all, err := s.Snapshots(ctx, repos, nil)
	if err != nil {
		return err
	}
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.Repo + ":" + v.Tag
	}
	return domain.NotFound("no repository here has a version %q; %s", tag, thereIs("versions", names))
}
