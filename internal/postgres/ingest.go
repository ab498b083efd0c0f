package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// skippedFor is how long runs that a watch skipped are remembered.
const skippedFor = 7 * 24 * time.Hour

var (
	sqlNewIngest = statement("new ingest", `
insert into ingests (id, user_id, repository, kind, only_moved, workflow_id)
values (@ingest, @user, @repository, @kind, @only_moved, @workflow)
on conflict do nothing returning id`)

	sqlSkipIngest = statement("skip an ingest", `
with old as (
    delete from ingests where repository = @repository and status = 'skipped' and created_at < now() - @kept::interval
)
insert into ingests (id, user_id, repository, kind, only_moved, workflow_id, status, error, launched_at, ended_at)
values (@ingest, @user, @repository, @kind, @only_moved, @workflow, 'skipped', 'another run held the repository', now(), now())
on conflict do nothing`)

	sqlIngest = statement("read an ingest", `
select id, repository, kind, status, error_code, error, created_at, ended_at from ingests where id = @ingest`)

	sqlIngestVersions = statement("read an ingest's versions", `
select progress, status, tag from ingest_versions where ingest_id = @ingest order by place`)

	sqlIngestHolder = statement("find who holds a repository", `
select`+openIngestColumns+` from ingests where repository = @repository and ended_at is null`)

	sqlStartIngest = statement("start an ingest", `
update ingests set status = 'running', started_at = coalesce(started_at, now()), launched_at = coalesce(launched_at, now())
where id = @ingest and ended_at is null and cancel_requested_at is null`)

	sqlCancelIngest = statement("request an ingest's cancel", `
update ingests set cancel_requested_at = coalesce(cancel_requested_at, now()) where id = @ingest and ended_at is null
returning launched_at is not null`)

	sqlIngestCancelAsked = statement("ask whether an ingest's cancel was requested", `
select cancel_requested_at is not null and ended_at is null from ingests where id = @ingest`)

	sqlIngestLaunched = statement("mark an ingest launched", `
update ingests set launched_at = now() where id = @ingest and launched_at is null`)

	sqlUnstartedIngests = statement("list unstarted ingests", `
select`+openIngestColumns+` from ingests
where ended_at is null and launched_at is null and created_at < now() - @age::interval
order by created_at limit @limit`)

	sqlOpenIngests = statement("list open ingests", `
select`+openIngestColumns+` from ingests
where ended_at is null and created_at < now() - @age::interval and id > @after
order by id limit @limit`)
)

const openIngestColumns = `
id, user_id, repository, kind, only_moved, workflow_id, launched_at is not null, cancel_requested_at is not null, created_at`

// CreateIngest stores a queued run with its event log and takes the repository's lock. A
// run of that id which is there already is given back; a repository that another run holds
// is a conflict whose text names it.
func (s *Store) CreateIngest(ctx context.Context, order domain.IngestOrder) (domain.Ingest, error) {
	args := ingestArgs(order)
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var id string
		if err := tx.QueryRow(ctx, sqlNewIngest, args).Scan(&id); err != nil {
			return err
		}
		steps := &pgx.Batch{}
		steps.Queue(sqlNewStream, args)
		steps.Queue(sqlNewSubject, args)
		return tx.SendBatch(ctx, steps).Close()
	})
	if err != nil && !noRows(err) {
		return domain.Ingest{}, failed("create an ingest", err)
	}
	run, err := s.Ingest(ctx, order.ID)
	if domain.CodeOf(err) != domain.CodeNotFound {
		return run, err
	}
	holder, err := s.IngestHolder(ctx, order.Repository)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound: // it ended in this very moment
		return domain.Ingest{}, domain.Errorf(domain.CodeConflict, "another run on %s has just ended; try again", order.Repository)
	case err != nil:
		return domain.Ingest{}, err
	}
	doing := "read already"
	if holder.Kind == domain.IngestDelete {
		doing = "deleted"
	}
	refusal := domain.Errorf(domain.CodeConflict, "%s is being %s (run %s)", order.Repository, doing, holder.ID)
	refusal.Holder = holder.ID
	return domain.Ingest{}, refusal
}

func ingestArgs(order domain.IngestOrder) pgx.NamedArgs {
	return pgx.NamedArgs{
		"ingest": order.ID, "subject": order.ID, "stream": runStream(order.ID), "user": order.UserID,
		"repository": order.Repository, "kind": order.Kind, "only_moved": order.OnlyMoved, "workflow": order.WorkflowID,
	}
}

// runFeed begins the name of the feed of a run, which has one of its own.
const runFeed = "ingest/"

func runStream(id string) string { return runFeed + id }

// SkipIngest records a run that did not begin because another holds the repository.
func (s *Store) SkipIngest(ctx context.Context, order domain.IngestOrder) error {
	args := ingestArgs(order)
	args["kept"] = skippedFor
	_, err := s.pool.Exec(ctx, sqlSkipIngest, args)
	return failed("record a skipped ingest", err)
}

// Ingest reads a run with its versions, or gives not_found.
func (s *Store) Ingest(ctx context.Context, id string) (domain.Ingest, error) {
	return readIngest(ctx, s.pool, id)
}

// batcher is a pool or a transaction.
type batcher interface {
	SendBatch(ctx context.Context, steps *pgx.Batch) pgx.BatchResults
}

func readIngest(ctx context.Context, db batcher, id string) (domain.Ingest, error) {
	var run domain.Ingest
	args := pgx.NamedArgs{"ingest": id}
	steps := &pgx.Batch{}
	steps.Queue(sqlIngest, args).QueryRow(func(row pgx.Row) error {
		return row.Scan(&run.ID, &run.Repository, &run.Kind, &run.Status, &run.ErrorCode, &run.Error, &run.CreatedAt, &run.EndedAt)
	})
	steps.Queue(sqlIngestVersions, args).Query(func(rows pgx.Rows) (err error) {
		run.Versions, err = collectVersions(rows)
		return err
	})
	err := db.SendBatch(ctx, steps).Close()
	if noRows(err) {
		return domain.Ingest{}, domain.NotFound("there is no ingest %q", id)
	}
	if err != nil {
		return domain.Ingest{}, failed("load ingest "+id, err)
	}
	if run.Status.Final() && len(run.Versions) == 1 && run.Versions[0].Version == "" {
		run.Versions = run.Versions[:0] // there was nothing to read
	}
	for i := range run.Versions {
		run.Versions[i].Repository = run.Repository
	}
	return run, nil
}

// collectVersions reads the versions of a run in order. The step that learns them stands
// for them until they are known.
func collectVersions(rows pgx.Rows) ([]domain.IngestProgress, error) {
	versions := []domain.IngestProgress{}
	for rows.Next() {
		var (
			body        []byte
			status, tag string
			progress    domain.IngestProgress
		)
		if err := rows.Scan(&body, &status, &tag); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(body, &progress); err != nil {
			return nil, fmt.Errorf("read the progress of %q: %w", tag, err)
		}
		if tag != "" && len(versions) > 0 && versions[0].Version == "" {
			versions = versions[:0]
		}
		progress.Version = tag
		if progress.Phase == "" {
			progress.Phase = status
		}
		versions = append(versions, progress)
	}
	return versions, rows.Err()
}

// IngestHolder gives the open run that holds a repository, or not_found.
func (s *Store) IngestHolder(ctx context.Context, repository string) (domain.OpenIngest, error) {
	open, err := s.openIngests(ctx, "find who holds "+repository, sqlIngestHolder, pgx.NamedArgs{"repository": repository})
	if err == nil && len(open) == 0 {
		return domain.OpenIngest{}, domain.NotFound("no run holds %q", repository)
	}
	if err != nil {
		return domain.OpenIngest{}, err
	}
	return open[0], nil
}

// StartIngest marks a queued run as running, unless somebody asked to stop it: then it ends
// here. It gives the run as it is afterwards.
func (s *Store) StartIngest(ctx context.Context, id string) (domain.Ingest, error) {
	var stop bool
	args := pgx.NamedArgs{"ingest": id}
	steps := &pgx.Batch{}
	steps.Queue(sqlStartIngest, args)
	steps.Queue(sqlIngestCancelAsked, args).QueryRow(func(row pgx.Row) error { return row.Scan(&stop) })
	err := s.pool.SendBatch(ctx, steps).Close()
	if noRows(err) {
		return domain.Ingest{}, domain.NotFound("there is no ingest %q", id)
	}
	if err != nil {
		return domain.Ingest{}, failed("start ingest "+id, err)
	}
	if stop {
		return s.EndIngest(ctx, id, domain.CodeCanceled, "it was canceled before it began")
	}
	return s.Ingest(ctx, id)
}

// RequestIngestCancel records that somebody wants the run to stop, and reports whether its
// workflow was started. A run that has ended is a conflict.
func (s *Store) RequestIngestCancel(ctx context.Context, id string) (launched bool, err error) {
	err = s.pool.QueryRow(ctx, sqlCancelIngest, pgx.NamedArgs{"ingest": id}).Scan(&launched)
	if noRows(err) {
		return false, domain.Errorf(domain.CodeConflict, "the run %s has ended already", id)
	}
	return launched, failed("cancel ingest "+id, err)
}

// MarkIngestLaunched records that the run's workflow was started.
func (s *Store) MarkIngestLaunched(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, sqlIngestLaunched, pgx.NamedArgs{"ingest": id})
	return failed("mark ingest "+id+" launched", err)
}

// UnstartedIngests lists runs older than age whose workflow is not known to be started,
// oldest first.
func (s *Store) UnstartedIngests(ctx context.Context, age time.Duration, limit int) ([]domain.OpenIngest, error) {
	return s.openIngests(ctx, "list unstarted ingests", sqlUnstartedIngests, pgx.NamedArgs{"age": age, "limit": limit})
}

// OpenIngests lists runs older than age that have no terminal event, by id, after the given one.
func (s *Store) OpenIngests(ctx context.Context, age time.Duration, after string, limit int) ([]domain.OpenIngest, error) {
	return s.openIngests(ctx, "list open ingests", sqlOpenIngests, pgx.NamedArgs{"age": age, "after": after, "limit": limit})
}

func (s *Store) openIngests(ctx context.Context, doing, sql string, args pgx.NamedArgs) ([]domain.OpenIngest, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, failed(doing, err)
	}
	open, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o domain.OpenIngest, err error) {
		err = row.Scan(&o.ID, &o.UserID, &o.Repository, &o.Kind, &o.OnlyMoved, &o.WorkflowID, &o.Launched, &o.CancelRequested, &o.CreatedAt)
		return o, err
	})
	return open, failed(doing, err)
}
