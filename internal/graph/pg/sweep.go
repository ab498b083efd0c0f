package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Locks. A transaction that adds references to shared rows holds two advisory locks in
// shared mode: one for the repository's files and resolutions, one for all blobs. What
// removes such rows holds the same lock alone, so it sees every reference there is. A load
// that finds something gone that was there earlier (its repository's files by a crash and an
// hour of silence, a blob by the deletion of the one repository that had it) fails as
// unavailable, and its next attempt stores it again.
const (
	lockRepository = 0x68617276 // with the repository's id
	lockBlobs      = 0x6861727600000001
)

func holdData(ctx context.Context, tx pgx.Tx, repo int32) error {
	_, err := tx.Exec(ctx, `select pg_advisory_xact_lock_shared($1, $2), pg_advisory_xact_lock_shared($3)`,
		lockRepository, repo, int64(lockBlobs))
	if err != nil {
		return fmt.Errorf("hold shared data: %w", err)
	}
	var name string
	err = tx.QueryRow(ctx, `select name from repositories where id = $1`, repo).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return domain.NotFound("the repository was deleted meanwhile")
	}
	if err != nil {
		return fmt.Errorf("look up the repository: %w", err)
	}
	return nil
}

// settle does what may follow a publication: it removes what that has made superfluous and
// keeps the planner's knowledge fresh. A failure is told and made good by the next one.
// news is what was loaded.
func (s *Store) settle(ctx context.Context, repo int32, news written) {
	if err := s.sweep(ctx, repo); err != nil {
		s.warn(fmt.Errorf("sweep superseded versions: %w", err))
	}
	if err := s.sweepOrphans(ctx); err != nil {
		s.warn(fmt.Errorf("sweep orphans: %w", err))
	}
	if err := s.refreshStatistics(ctx, news); err != nil {
		s.warn(fmt.Errorf("refresh statistics: %w", err))
	}
}

const (
	// A load that was not heard of for an hour is dead.
	busySQL   = `select exists (select from graph_loads where repo_id = $1 and seen_at > now() - interval '1 hour')`
	unlistSQL = `
with retired as (
    delete from versions where repo_id = $1 and not live returning id
)
delete from version_files where version_id in (select id from retired) returning file_id, coalesce(resolved_id, 0)`
	dropResolutionsSQL = `
with dead as (
    delete from resolutions r
    where r.id = any($1) and not exists (
        select from version_files vf where vf.file_id = r.file_id and vf.resolved_id = r.id)
    returning id
)
delete from edges where resolved_id in (select id from dead)`
	dropFilesSQL = `
with dead as (
    delete from source_files f
    where f.id = any($1) and not exists (select from version_files vf where vf.file_id = f.id)
        and not exists (select from resolutions r where r.file_id = f.id)
    returning id, blob_id
), gone as (
    delete from symbols where file_id in (select id from dead)
)
select distinct blob_id from dead`
	dropBlobsSQL = `
delete from source_blobs b
where b.id = any($1) and b.seen_at <= now() - $2::interval and not exists (select from source_files f where f.blob_id = b.id)`
)

// sweep removes a repository's retired versions and what only they listed. It leaves
// everything to a later one while the repository is being loaded.
func (s *Store) sweep(ctx context.Context, repo int32) error {
	var blobs []int32
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		var alone, busy bool
		err := tx.QueryRow(ctx, `select pg_try_advisory_xact_lock($1, $2)`, lockRepository, repo).Scan(&alone)
		if err != nil || !alone {
			return err
		}
		if err := tx.QueryRow(ctx, busySQL, repo).Scan(&busy); err != nil || busy {
			return err
		}
		type listed struct{ File, Resolved int32 }
		rows, err := collect(ctx, tx, "remove retired versions", pgx.RowToStructByPos[listed], unlistSQL, repo)
		if err != nil || len(rows) == 0 {
			return err
		}
		files, resolved := make([]int32, len(rows)), make([]int32, len(rows))
		for i, r := range rows {
			files[i], resolved[i] = r.File, r.Resolved
		}
		blobs, err = dropUnlisted(ctx, tx, files, resolved)
		return err
	})
	if err != nil {
		return err
	}
	return s.dropBlobs(ctx, blobs, wantedFor)
}

// dropUnlisted removes those files and resolutions that no version lists, and gives the
// blobs of removed files.
func dropUnlisted(ctx context.Context, tx pgx.Tx, files, resolved []int32) ([]int32, error) {
	slices.Sort(files)
	slices.Sort(resolved)
	if _, err := tx.Exec(ctx, dropResolutionsSQL, slices.Compact(resolved)); err != nil {
		return nil, fmt.Errorf("remove resolutions: %w", err)
	}
	return collect(ctx, tx, "remove files", pgx.RowTo[int32], dropFilesSQL, slices.Compact(files))
}

// wantedFor is how long a blob that a load has asked for stays without any reference; a load
// places its files within that time. What outlives it is left to the sweep of orphans.
const wantedFor = time.Hour

// dropBlobs removes those blobs that no file of any repository refers to and that no load has
// asked for within the given time.
func (s *Store) dropBlobs(ctx context.Context, blobs []int32, wanted time.Duration) error {
	if len(blobs) == 0 {
		return nil
	}
	return s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, int64(lockBlobs)); err != nil {
			return fmt.Errorf("hold all blobs: %w", err)
		}
		if _, err := tx.Exec(ctx, dropBlobsSQL, blobs, wanted); err != nil {
			return fmt.Errorf("remove blobs: %w", err)
		}
		return nil
	})
}

// DeleteRepository removes a repository with its versions, and blobs that no other uses.
func (s *Store) DeleteRepository(ctx context.Context, name string) error {
	repo, err := repositoryID(ctx, s.pool, name)
	if err != nil {
		return err
	}
	var blobs []int32
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1, $2)`, lockRepository, repo); err != nil {
			return fmt.Errorf("hold the repository: %w", err)
		}
		blobs, err = dropRepository(ctx, tx, repo)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete repository %s: %w", name, err)
	}
	return s.dropBlobs(ctx, blobs, 0)
}

// dropRepository removes all rows of a repository and gives the blobs of its files.
func dropRepository(ctx context.Context, tx pgx.Tx, repo int32) ([]int32, error) {
	for _, sql := range []string{
		`delete from version_files where version_id in (select id from versions where repo_id = $1)`,
		`delete from edges where resolved_id in (
		     select r.id from resolutions r join source_files f on f.id = r.file_id where f.repo_id = $1)`,
		`delete from symbols where file_id in (select id from source_files where repo_id = $1)`,
		`delete from resolutions where file_id in (select id from source_files where repo_id = $1)`,
		`delete from repositories where id = $1`,
	} {
		if _, err := tx.Exec(ctx, sql, repo); err != nil {
			return nil, err
		}
	}
	return collect(ctx, tx, "remove files", pgx.RowTo[int32], `delete from source_files where repo_id = $1 returning blob_id`, repo)
}

// DropRepository has nothing to remove that DeleteRepository doesn't: the graph hangs on the
// sources. An unknown repository is no error.
func (s *Store) DropRepository(ctx context.Context, name string) error {
	err := s.DeleteRepository(ctx, name)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil
	}
	return err
}

const (
	orphanTurnSQL = `update graph_sweeps set at = now() where id = 1 and at < now() - interval '1 day' returning id`
	// What loads put that were never published, and blobs that no load went on with.
	orphanFilesSQL = `
select f.id, coalesce(r.id, 0), f.repo_id
from source_files f left join resolutions r on r.file_id = f.id and r.seen_at < now() - interval '1 day'
where not exists (select from version_files vf where vf.file_id = f.id and (r.id is null or vf.resolved_id = r.id))
    and not exists (select from graph_loads l where l.repo_id = f.repo_id and l.seen_at > now() - interval '1 hour')`
	orphanBlobsSQL = `
select b.id from source_blobs b
where b.seen_at < now() - interval '1 day' and not exists (select from source_files f where f.blob_id = b.id)`
)

// sweepOrphans removes, once a day, what interrupted loads have left behind.
func (s *Store) sweepOrphans(ctx context.Context) error {
	var turn int
	err := s.pool.QueryRow(ctx, orphanTurnSQL).Scan(&turn)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := s.pool.Exec(ctx, `delete from graph_loads where seen_at < now() - interval '1 day'`); err != nil {
		return fmt.Errorf("forget dead loads: %w", err)
	}
	type orphan struct{ File, Resolved, Repo int32 }
	found, err := collect(ctx, s.pool, "find orphans", pgx.RowToStructByPos[orphan], orphanFilesSQL)
	if err != nil {
		return err
	}
	byRepo := map[int32][]orphan{}
	for _, o := range found {
		byRepo[o.Repo] = append(byRepo[o.Repo], o)
	}
	for repo, orphans := range byRepo {
		files, resolved := make([]int32, len(orphans)), make([]int32, len(orphans))
		for i, o := range orphans {
			files[i], resolved[i] = o.File, o.Resolved
		}
		if err := s.dropOrphans(ctx, repo, files, resolved); err != nil {
			return err
		}
	}
	blobs, err := collect(ctx, s.pool, "find orphaned blobs", pgx.RowTo[int32], orphanBlobsSQL)
	if err != nil {
		return err
	}
	return s.dropBlobs(ctx, blobs, wantedFor)
}

func (s *Store) dropOrphans(ctx context.Context, repo int32, files, resolved []int32) error {
	var blobs []int32
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1, $2)`, lockRepository, repo); err != nil {
			return fmt.Errorf("hold the repository: %w", err)
		}
		var busy bool // a load that began since they were found may build on them
		err := tx.QueryRow(ctx, busySQL, repo).Scan(&busy)
		if err != nil || busy {
			return err
		}
		blobs, err = dropUnlisted(ctx, tx, files, resolved)
		return err
	})
	if err != nil {
		return err
	}
	return s.dropBlobs(ctx, blobs, wantedFor)
}

// written is how many rows a load has written.
type written struct {
	graph  int64 // symbols and edges
	files  int64 // files that were resolved, and at most as many that are new
	listed int64 // the version's list of files
}

// grownSQL names tables of which a fifth is new since the planner last looked, or that it has
// never looked at: one of them taken for another size than it has makes every question slow. The
// server's own count lags by a second, so what this load has just written is added.
const grownSQL = `
select c.relname from pg_class c join pg_stat_user_tables t on t.relid = c.oid
where c.oid = any(array['symbols'::regclass, 'edges'::regclass, 'version_files'::regclass, 'source_files'::regclass, 'resolutions'::regclass])
    and (c.reltuples < 0 or t.n_mod_since_analyze + case c.relname when 'version_files' then @listed::bigint when 'symbols' then @graph when 'edges' then @graph else @files end
        > 500 + 0.2 * c.reltuples)`

// refreshStatistics brings the planner up to date after a large load: the server's own
// housekeeping comes up to a minute later, and the first questions come at once. It also
// empties the trigram index's list of pending entries, which every search would read.
func (s *Store) refreshStatistics(ctx context.Context, news written) error {
	if _, err := s.pool.Exec(ctx, `select gin_clean_pending_list('symbols_trigrams')`); err != nil {
		return fmt.Errorf("merge the pending entries of the trigram index: %w", err)
	}
	grown, err := collect(ctx, s.pool, "look for grown tables", pgx.RowTo[string], grownSQL, pgx.NamedArgs{"graph": news.graph, "files": news.files, "listed": news.listed})
	if err != nil {
		return err
	}
	for _, table := range grown {
		if _, err := s.pool.Exec(ctx, `vacuum (analyze) `+pgx.Identifier{table}.Sanitize()); err != nil {
			return fmt.Errorf("vacuum %s: %w", table, err)
		}
	}
	return nil
}
