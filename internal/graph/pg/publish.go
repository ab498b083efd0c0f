package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Publish makes the version visible in place of the one before. The edges of all files are
// there by then; load is not needed.
func (l *loader) Publish(ctx context.Context, files []graph.VersionFile, _ func(context.Context, []graph.ResolvedID) ([]graph.ResolvedFile, error)) (domain.VersionDetail, error) {
	id, err := l.store.Reserve(ctx, l.spec)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	detail, err := l.store.publish(ctx, publication{id: id, repo: l.repo, spec: l.spec, files: files, graph: true})
	if err != nil {
		return domain.VersionDetail{}, err
	}
	if err := l.Discard(ctx); err != nil {
		return domain.VersionDetail{}, err
	}
	l.written.listed = int64(len(files))
	l.store.settle(ctx, l.repo, l.written)
	return detail, nil
}

// Reserve gives the id under which a version will be published.
func (s *Store) Reserve(ctx context.Context, spec graph.VersionSpec) (int64, error) {
	if err := graph.CheckVersion(spec.Repo, spec.Tag); err != nil {
		return 0, err
	}
	var id int64
	err := s.pool.QueryRow(ctx, `select nextval(pg_get_serial_sequence('versions', 'id'))`).Scan(&id)
	if err != nil {
		return 0, fault(fmt.Errorf("reserve a version: %w", err))
	}
	return id, nil
}

// PublishAs makes the version the live one of its tag, for a graph that is kept elsewhere.
func (s *Store) PublishAs(ctx context.Context, id int64, spec graph.VersionSpec, files []graph.VersionFile, symbols int) (domain.VersionDetail, error) {
	repo, err := repositoryID(ctx, s.pool, spec.Repo)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	detail, err := s.publish(ctx, publication{id: id, repo: repo, spec: spec, files: files, symbols: symbols})
	if err != nil {
		return domain.VersionDetail{}, err
	}
	s.settle(ctx, repo, written{listed: int64(len(files))})
	return detail, nil
}

// publication is a version about to become visible.
type publication struct {
	id      int64
	repo    int32
	spec    graph.VersionSpec
	files   []graph.VersionFile
	graph   bool // the graph is kept here: resolutions must exist, and symbols are counted
	symbols int  // otherwise
}

func (s *Store) publish(ctx context.Context, p publication) (domain.VersionDetail, error) {
	var detail domain.VersionDetail
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if err := holdData(ctx, tx, p.repo); err != nil {
			return err
		}
		if err := p.write(ctx, tx); err != nil {
			return err
		}
		if err := p.flip(ctx, tx); err != nil {
			return err
		}
		var err error
		detail, err = loadVersion(ctx, tx, p.spec.Repo, p.spec.Tag)
		return err
	})
	if err != nil {
		return domain.VersionDetail{}, fmt.Errorf("publish %s %s: %w", p.spec.Repo, p.spec.Tag, err)
	}
	return detail, nil
}

const (
	insertVersionSQL = `
insert into versions (id, repo_id, tag, commit, committed_at, graph_here)
overriding system value values (@id, @repo, @tag, @commit, @committed, @graph)`
	listFilesSQL = `
insert into version_files (version_id, file_id, resolved_id, skipped)
select @id, f.id, r.id, n.skipped
from unnest(@paths::text[], @blobs::bytea[], @resolved::bytea[], @skipped::text[]) n(path, blob, resolved, skipped)
join source_blobs b on b.key = n.blob
join source_files f on f.repo_id = @repo and f.path = n.path and f.blob_id = b.id
left join resolutions r on r.key = n.resolved and r.file_id = f.id
where not @graph or n.resolved is null or r.id is not null`
)

// write lists the version's files under its id. Those of a graph that is kept elsewhere were not
// put by a load, and are placed here.
func (p publication) write(ctx context.Context, tx pgx.Tx) error {
	args, err := p.columns()
	if err != nil {
		return err
	}
	if !p.graph {
		if _, err := tx.Exec(ctx, placeFilesSQL, args); err != nil {
			return fmt.Errorf("place files: %w", err)
		}
	}
	var committed *time.Time
	if p.spec.CommittedAt != 0 {
		at := time.Unix(p.spec.CommittedAt, 0)
		committed = &at
	}
	_, err = tx.Exec(ctx, insertVersionSQL, pgx.NamedArgs{
		"id": p.id, "repo": p.repo, "tag": p.spec.Tag, "commit": p.spec.Commit, "committed": committed, "graph": p.graph,
	})
	if err != nil {
		return fmt.Errorf("insert version: %w", err)
	}
	listed, err := tx.Exec(ctx, listFilesSQL, args)
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	if missing := len(p.files) - int(listed.RowsAffected()); missing != 0 {
		return errVanished(fmt.Sprintf("content or resolution of %d files", missing))
	}
	return nil
}

func (p publication) columns() (pgx.NamedArgs, error) {
	n := len(p.files)
	paths, languages, skipped := make([]string, n), make([]string, n), make([]string, n)
	blobs, resolved := make([][]byte, n), make([][]byte, n)
	seen := make(map[string]bool, n)
	for i, f := range p.files {
		var err error
		if blobs[i], err = hashBytes("blob", string(f.Blob)); err != nil {
			return nil, err
		}
		if f.Resolved != "" {
			if resolved[i], err = hashBytes("resolved", string(f.Resolved)); err != nil {
				return nil, err
			}
		}
		paths[i], languages[i], skipped[i] = clean(f.Path), clean(f.Language), clean(f.Skipped)
		if seen[paths[i]] {
			return nil, domain.Invalid("files", "%s is listed twice", f.Path)
		}
		seen[paths[i]] = true
	}
	return pgx.NamedArgs{"id": p.id, "repo": p.repo, "graph": p.graph, "paths": paths, "blobs": blobs,
		"resolved": resolved, "languages": languages, "skipped": skipped}, nil
}

const (
	countSQL = `
update versions v set (files, symbols, skipped_oversized, skipped_binary, skipped_generated) = (
    select count(*), case when @graph then coalesce(sum(f.symbols), 0) else @symbols end,
        count(*) filter (where vf.skipped = 'oversized'), count(*) filter (where vf.skipped = 'binary'),
        count(*) filter (where vf.skipped = 'generated')
    from version_files vf join source_files f on f.id = vf.file_id where vf.version_id = v.id)
where id = @id`
	retireSQL = `update versions set live = false where repo_id = @repo and tag = @tag and live`
	reviveSQL = `update versions set live = true, ingested_at = now() where id = @id`
)

// flip makes the version the live one of its tag. The lock makes concurrent publications of
// one tag wait for each other; the last one stays.
func (p publication) flip(ctx context.Context, tx pgx.Tx) error {
	args := pgx.NamedArgs{"id": p.id, "repo": p.repo, "tag": p.spec.Tag, "graph": p.graph, "symbols": p.symbols}
	if _, err := tx.Exec(ctx, countSQL, args); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	if _, err := tx.Exec(ctx, `select from repositories where id = $1 for no key update`, p.repo); err != nil {
		return fmt.Errorf("take the repository's turn: %w", err)
	}
	if _, err := tx.Exec(ctx, retireSQL, args); err != nil {
		return fmt.Errorf("retire the version before: %w", err)
	}
	if _, err := tx.Exec(ctx, reviveSQL, args); err != nil {
		return fmt.Errorf("make the version live: %w", err)
	}
	return nil
}
