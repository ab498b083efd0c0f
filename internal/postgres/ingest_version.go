package postgres

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	openIngest = `
open as (
    select s.id from subjects s where s.id = @subject and s.ended_at is null for no key update
)`
	claimedColumns = `tag, commit_sha, committed_at, attempt, v.status = 'done', progress`
)

var (
	sqlForgetPlan = statement("forget the planned versions", `delete from ingest_versions where ingest_id = @ingest and place > 0`)

	sqlPlanVersions = statement("plan versions", `
insert into ingest_versions (ingest_id, tag, place, commit_sha, committed_at)
select @ingest, r.tag, r.place, r.commit_sha, nullif(r.at, 'epoch'::timestamptz)
from unnest(@tags::text[], @commits::text[], @times::timestamptz[]) with ordinality r(tag, commit_sha, at, place)`)

	sqlPlannedVersions = statement("list planned versions", `
select tag from ingest_versions where ingest_id = @ingest and place > @after order by place limit @limit`)

	sqlClaimSync = statement("claim the fetch of an ingest", `with`+openIngest+`
insert into ingest_versions as v (ingest_id, tag, place, attempt, status)
select id, '', 0, 1, 'running' from open
on conflict (ingest_id, tag) do update set attempt = v.attempt + 1, status = 'running'
returning `+claimedColumns)

	sqlClaimVersion = statement("claim a version", `with`+openIngest+`
update ingest_versions v set attempt = v.attempt + 1, status = case when v.status = 'done' then 'done' else 'running' end
from open where v.ingest_id = open.id and v.tag = @tag
returning `+claimedColumns)

	sqlNoteProgress = statement("note progress", `with`+openIngest+`, guard as (
    update ingest_versions v set progress = @progress::json, status = @status
    from open where v.ingest_id = open.id and v.tag = @tag and v.attempt = @attempt and v.status = 'running'
    returning v.ingest_id as id
)`+appendEvents+appended)

	sqlFailVersion = statement("fail a version", `with`+openIngest+`, guard as (
    update ingest_versions v set progress = @progress::json, status = 'failed'
    from open where v.ingest_id = open.id and v.tag = @tag and v.status in ('planned', 'running')
    returning v.ingest_id as id
)`+appendEvents+appended)

	sqlVersionProgress = statement("read a version's progress", `
select progress from ingest_versions where ingest_id = @ingest and tag = @tag`)
)

// PlanVersions replaces the versions that the run is to read. Of a tag that is named twice
// the first counts.
func (s *Store) PlanVersions(ctx context.Context, id string, refs []domain.VersionRef) error {
	seen := map[string]bool{}
	refs = slices.DeleteFunc(slices.Clone(refs), func(r domain.VersionRef) bool {
		again := seen[r.Tag]
		seen[r.Tag] = true
		return again
	})
	tags, commits, times := make([]string, len(refs)), make([]string, len(refs)), make([]time.Time, len(refs))
	for i, r := range refs {
		tags[i], commits[i], times[i] = r.Tag, r.Commit, r.CommittedAt
		if r.CommittedAt.IsZero() {
			times[i] = time.Unix(0, 0)
		}
	}
	args := pgx.NamedArgs{"ingest": id, "tags": tags, "commits": commits, "times": times}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		steps := &pgx.Batch{}
		steps.Queue(sqlForgetPlan, args)
		steps.Queue(sqlPlanVersions, args)
		return tx.SendBatch(ctx, steps).Close()
	})
	return failed("plan the versions of ingest "+id, err)
}

// PlannedVersions gives the tags of the versions after a place, in order.
func (s *Store) PlannedVersions(ctx context.Context, id string, after, limit int) (tags []string, more bool, err error) {
	rows, err := s.pool.Query(ctx, sqlPlannedVersions, pgx.NamedArgs{"ingest": id, "after": after, "limit": limit + 1})
	if err == nil {
		tags, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		return nil, false, failed("list the versions of ingest "+id, err)
	}
	if len(tags) > limit {
		return tags[:limit], true, nil
	}
	return tags, false, nil
}

// ClaimVersion takes a version of a run over from whoever read it before; tag "" is the
// step that learns the versions. Errors: canceled where the run has ended, not_found where
// it does not have the version.
func (s *Store) ClaimVersion(ctx context.Context, id, tag string) (domain.VersionClaim, error) {
	sql := sqlClaimVersion
	if tag == "" {
		sql = sqlClaimSync
	}
	var (
		claim domain.VersionClaim
		at    *time.Time
		body  []byte
	)
	err := s.pool.QueryRow(ctx, sql, pgx.NamedArgs{"subject": id, "tag": tag}).
		Scan(&claim.Tag, &claim.Commit, &at, &claim.Attempt, &claim.Done, &body)
	if noRows(err) {
		return domain.VersionClaim{}, s.whyNoClaim(ctx, id, tag)
	}
	if err == nil {
		err = json.Unmarshal(body, &claim.Progress)
	}
	if at != nil {
		claim.CommittedAt = *at
	}
	return claim, failed("claim version "+tag, err)
}

func (s *Store) whyNoClaim(ctx context.Context, id, tag string) error {
	run, err := s.Ingest(ctx, id)
	switch {
	case err != nil:
		return err
	case run.Status.Final():
		return domain.Errorf(domain.CodeCanceled, "the run has ended already (%s)", run.Status)
	}
	return domain.NotFound("the run does not read a version %q", tag)
}

// NoteProgress stores how far a version is and appends the event, as one commit: superseded
// where the attempt is not the newest, or the version or the run has ended. Phase "done"
// ends the version.
func (s *Store) NoteProgress(ctx context.Context, id string, attempt int, progress domain.IngestProgress) error {
	status := "running"
	if progress.Phase == "done" {
		status = "done"
	}
	return s.noteProgress(ctx, sqlNoteProgress, id, attempt, progress, pgx.NamedArgs{"status": status})
}

func (s *Store) noteProgress(ctx context.Context, sql, id string, attempt int, progress domain.IngestProgress, extra pgx.NamedArgs) error {
	event := domain.NewPayload(domain.EventIngestProgress, progress)
	args := pgx.NamedArgs{"tag": progress.Version, "progress": string(event.Payload)}
	for name, value := range extra {
		args[name] = value
	}
	_, err := s.append(ctx, "note progress of "+progress.Version, sql, newBatch(id, attempt, []domain.NewEvent{event}, args))
	return err
}

// FailVersion records why a version was not read; one that has ended is left alone.
func (s *Store) FailVersion(ctx context.Context, id, tag string, code domain.Code, message string) error {
	var body []byte
	err := s.pool.QueryRow(ctx, sqlVersionProgress, pgx.NamedArgs{"ingest": id, "tag": tag}).Scan(&body)
	if noRows(err) {
		return domain.NotFound("the run does not read a version %q", tag)
	}
	var progress domain.IngestProgress
	if err == nil {
		err = json.Unmarshal(body, &progress)
	}
	if err != nil {
		return failed("load version "+tag, err)
	}
	run, err := s.Ingest(ctx, id)
	if err != nil {
		return err
	}
	progress.Repository, progress.Version, progress.Phase = run.Repository, tag, "failed"
	progress.Error = clean(message)
	if message == "" {
		progress.Error = string(code)
	}
	err = s.noteProgress(ctx, sqlFailVersion, id, 0, progress, nil)
	if domain.CodeOf(err) == domain.CodeSuperseded {
		return nil
	}
	return err
}
