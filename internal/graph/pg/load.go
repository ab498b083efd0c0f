package pg

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// loader writes one version. What it puts is shared by content, and seen only once a
// published version lists it.
type loader struct {
	store *Store
	spec  graph.VersionSpec
	repo  int32
	load  int64 // row of graph_loads

	written written
}

// Stage begins the load of a version; not_found for an unknown repository.
func (s *Store) Stage(ctx context.Context, spec graph.VersionSpec) (graph.Loader, error) {
	if err := graph.CheckVersion(spec.Repo, spec.Tag); err != nil {
		return nil, err
	}
	repo, err := repositoryID(ctx, s.pool, spec.Repo)
	if err != nil {
		return nil, err
	}
	l := &loader{store: s, spec: spec, repo: repo}
	err = s.pool.QueryRow(ctx, `insert into graph_loads (repo_id) values ($1) returning id`, repo).Scan(&l.load)
	if err != nil {
		return nil, fault(fmt.Errorf("begin the load of %s: %w", spec.Repo, err))
	}
	return l, nil
}

// touch tells the sweep that this load is alive.
func (l *loader) touch(ctx context.Context) error {
	_, err := l.store.pool.Exec(ctx, `update graph_loads set seen_at = now() where id = $1`, l.load)
	if err != nil {
		return fault(fmt.Errorf("keep the load alive: %w", err))
	}
	return nil
}

// storedSQL passes over those of other repositories: their edges lead to its symbols.
const storedSQL = `
select n.key
from unnest($1::bytea[]) n(key), lateral (
    select from resolutions r join source_files f on f.id = r.file_id where r.key = n.key and f.repo_id = $2 limit 1) r`

// Missing gives those of ids whose edges are not stored yet, in their order.
func (l *loader) Missing(ctx context.Context, ids []graph.ResolvedID) ([]graph.ResolvedID, error) {
	keys, err := hashList("resolved", ids)
	if err != nil {
		return nil, err
	}
	if err := l.touch(ctx); err != nil {
		return nil, err
	}
	stored, err := collect(ctx, l.store.pool, "look for resolutions", pgx.RowTo[[]byte], storedSQL, keys, l.repo)
	if err != nil {
		return nil, err
	}
	return notStored(ids, keys, stored), nil
}

// staged is a file on its way into the database.
type staged struct {
	graph.ResolvedFile
	path     string
	blobKey  []byte
	key      []byte
	blobID   int32
	fileID   int32
	id       int32 // of its resolution
	isNew    bool  // its symbols are not stored yet
	resolves bool  // its edges are not stored yet
	locals   []string
}

// Put stores the symbols and edges of files in one transaction.
func (l *loader) Put(ctx context.Context, files []graph.ResolvedFile) error {
	if len(files) == 0 {
		return nil
	}
	batch, err := l.prepare(ctx, files)
	if err != nil {
		return err
	}
	if err := l.touch(ctx); err != nil {
		return err
	}
	err = l.store.inTx(ctx, func(tx pgx.Tx) error {
		if err := holdData(ctx, tx, l.repo); err != nil {
			return err
		}
		if err := l.placeFiles(ctx, tx, batch); err != nil {
			return err
		}
		if err := l.placeResolutions(ctx, tx, batch); err != nil {
			return err
		}
		if err := l.copySymbols(ctx, tx, batch); err != nil {
			return err
		}
		return l.copyEdges(ctx, tx, batch)
	})
	if err != nil {
		return fmt.Errorf("load %s %s: %w", l.spec.Repo, l.spec.Tag, err)
	}
	return nil
}

// prepare reads the hashes, completes the facts, and orders the files by path: concurrent
// loads then take their row locks in one order.
func (l *loader) prepare(ctx context.Context, files []graph.ResolvedFile) ([]*staged, error) {
	batch := make([]*staged, 0, len(files))
	var bare []graph.BlobID
	for _, f := range files {
		if f.Facts == nil {
			bare = append(bare, f.Blob)
		}
	}
	facts, err := l.store.Facts(ctx, bare)
	if err != nil {
		return nil, err
	}
	seen := make(map[graph.ResolvedID]bool, len(files))
	for _, f := range files {
		if seen[f.ID] {
			continue
		}
		seen[f.ID] = true
		if f.Facts == nil {
			if f.Facts = facts[f.Blob]; f.Facts == nil {
				return nil, errVanished("blob of " + f.Path)
			}
		}
		one := &staged{ResolvedFile: f, path: clean(f.Path), locals: domain.LocalNames(f.Facts.Symbols)}
		if one.key, err = hashBytes("resolved", string(f.ID)); err != nil {
			return nil, err
		}
		if one.blobKey, err = hashBytes("blob", string(f.Blob)); err != nil {
			return nil, err
		}
		batch = append(batch, one)
	}
	sort.Slice(batch, func(i, j int) bool {
		if batch[i].path != batch[j].path {
			return batch[i].path < batch[j].path
		}
		return bytes.Compare(batch[i].key, batch[j].key) < 0
	})
	return batch, nil
}

// errVanished reports stored data that a concurrent deletion removed: trying again loads it anew.
func errVanished(what string) error {
	return domain.Errorf(domain.CodeUnavailable, "the %s is not stored any more; the load must be run again", what)
}

// Statements that look up a batch find each row by an index: without statistics, as amid a
// first load, the planner would go through whole tables for it. That is what "offset 0" and
// "limit" below are for, and why lists of keys are joined and not compared with "any".

const (
	placeFilesSQL = `
insert into source_files (repo_id, path, blob_id, language)
select @repo, n.path, b.id, n.language
from unnest(@paths::text[], @blobs::bytea[], @languages::text[]) with ordinality n(path, blob, language, pos)
join source_blobs b on b.key = n.blob
order by n.pos
on conflict (repo_id, path, blob_id) do nothing`
	fileIDsSQL = `
select n.pos, f.id, f.symbols is null
from unnest(@paths::text[], @blobs::bytea[]) with ordinality n(path, blob, pos),
    lateral (select b.id from source_blobs b where b.key = n.blob offset 0) b,
    lateral (select f.id, f.symbols from source_files f where f.repo_id = @repo and f.path = n.path and f.blob_id = b.id offset 0) f`
	claimFilesSQL = `
update source_files f set symbols = n.symbols from unnest(@ids::int[], @counts::int[]) n(id, symbols)
where f.id = n.id and f.symbols is null
returning f.id`
)

// placeFiles finds or makes the source files, and notes whose symbols are still to be stored.
func (l *loader) placeFiles(ctx context.Context, tx pgx.Tx, batch []*staged) error {
	paths, blobs, languages := make([]string, len(batch)), make([][]byte, len(batch)), make([]string, len(batch))
	for i, f := range batch {
		paths[i], blobs[i], languages[i] = f.path, f.blobKey, clean(f.Facts.Language)
	}
	args := pgx.NamedArgs{"repo": l.repo, "paths": paths, "blobs": blobs, "languages": languages}
	if _, err := tx.Exec(ctx, placeFilesSQL, args); err != nil {
		return fmt.Errorf("place files: %w", err)
	}
	type place struct {
		Pos  int64
		ID   int32
		Bare bool // nobody has stored its symbols yet
	}
	places, err := collect(ctx, tx, "find files", pgx.RowToStructByPos[place], fileIDsSQL, args)
	if err != nil {
		return err
	}
	bare := map[int32]*staged{} // of two resolutions of one file the first brings the symbols
	for _, p := range places {
		f := batch[p.Pos-1]
		f.fileID = p.ID
		if p.Bare && bare[p.ID] == nil {
			bare[p.ID] = f
		}
	}
	for _, f := range batch {
		if f.fileID == 0 {
			return errVanished("blob of " + f.Path)
		}
	}
	return claimFiles(ctx, tx, bare)
}

// claimFiles takes it on to store the symbols of files, where no other load has meanwhile.
func claimFiles(ctx context.Context, tx pgx.Tx, bare map[int32]*staged) error {
	if len(bare) == 0 {
		return nil
	}
	ids, counts := slices.Sorted(maps.Keys(bare)), make([]int32, len(bare))
	for i, id := range ids {
		counts[i] = int32(len(bare[id].Facts.Symbols))
	}
	claimed, err := collect(ctx, tx, "claim files", pgx.RowTo[int32], claimFilesSQL, pgx.NamedArgs{"ids": ids, "counts": counts})
	for _, id := range claimed {
		bare[id].isNew = true
	}
	return err
}

const placeResolutionsSQL = `
insert into resolutions (key, file_id)
select n.key, n.file from unnest(@keys::bytea[], @files::int[]) with ordinality n(key, file, pos) order by n.pos
on conflict (key, file_id) do nothing
returning id, key`

// placeResolutions makes the resolutions that are not there yet: their edges follow.
func (l *loader) placeResolutions(ctx context.Context, tx pgx.Tx, batch []*staged) error {
	keys, files := make([][]byte, len(batch)), make([]int32, len(batch))
	byKey := make(map[string]*staged, len(batch))
	for i, f := range batch {
		keys[i], files[i] = f.key, f.fileID
		byKey[string(f.key)] = f
	}
	type made struct {
		ID  int32
		Key []byte
	}
	rows, err := collect(ctx, tx, "place resolutions", pgx.RowToStructByPos[made], placeResolutionsSQL,
		pgx.NamedArgs{"keys": keys, "files": files})
	if err != nil {
		return err
	}
	for _, r := range rows {
		byKey[string(r.Key)].id, byKey[string(r.Key)].resolves = r.ID, true
	}
	l.written.files += int64(len(rows))
	return nil
}

// Discard ends a load that will not be published. What was put stays for a while: the next
// attempt goes on from it.
func (l *loader) Discard(ctx context.Context) error {
	if _, err := l.store.pool.Exec(ctx, `delete from graph_loads where id = $1`, l.load); err != nil {
		return fault(fmt.Errorf("end the load of %s: %w", l.spec.Repo, err))
	}
	return nil
}
