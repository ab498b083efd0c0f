package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	reasonsShown = 3  // failed versions that a run's error tells of
	reasonsTold  = 50 // failed versions that a run's terminal event tells of
)

var (
	sqlLockSubject = statement("lock a subject", `select id from subjects where id = @subject for no key update`)

	sqlUnreadVersions = statement("fail what a run left unread", `
update ingest_versions set status = 'failed',
    progress = (progress::jsonb || jsonb_build_object('phase', 'failed', 'error', @reason::text))::json
where ingest_id = @ingest and place > 0 and status in ('planned', 'running')`)

	sqlEndIngest = statement("end an ingest's row", `
update ingests set status = @status, error_code = @code, error = @error, ended_at = now(),
    launched_at = coalesce(launched_at, now()) where id = @ingest`)
)

// EndIngest ends a run with its terminal event and frees the repository, as one commit:
// failed or canceled with a code, else by how its versions ended. A run that has ended is
// left alone. It gives the run as it is afterwards.
func (s *Store) EndIngest(ctx context.Context, id string, code domain.Code, message string) (domain.Ingest, error) {
	end := ingestEnd{id: id, code: code, message: clean(message)}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return end.write(ctx, tx) })
	if err != nil {
		return domain.Ingest{}, failed("end ingest "+id, err)
	}
	if end.log != nil {
		s.tell(end.log.messages(end.last, end.at)...)
	}
	return s.Ingest(ctx, id)
}

// ingestEnd is a run on its way to its end.
type ingestEnd struct {
	id, message string
	code        domain.Code

	status domain.IngestStatus
	log    *batch
	last   int64
	at     time.Time
}

func (e *ingestEnd) write(ctx context.Context, tx pgx.Tx) error {
	args := pgx.NamedArgs{"subject": e.id, "ingest": e.id, "reason": "the run ended before it was read"}
	if _, err := tx.Exec(ctx, sqlLockSubject, args); err != nil {
		return err
	}
	run, err := readIngest(ctx, tx, e.id)
	if err != nil || run.Status.Final() {
		return err
	}
	if _, err := tx.Exec(ctx, sqlUnreadVersions, args); err != nil {
		return err
	}
	if run, err = readIngest(ctx, tx, e.id); err != nil {
		return err
	}
	event := e.judge(run)
	args["status"], args["code"], args["error"] = e.status, e.code, e.message
	if _, err := tx.Exec(ctx, sqlEndIngest, args); err != nil {
		return err
	}
	e.log = newBatch(e.id, 0, []domain.NewEvent{event}, pgx.NamedArgs{"ends": true})
	return tx.QueryRow(ctx, sqlEnd, e.log.args).Scan(&e.last, &e.at)
}

// judge settles how the run ended and gives its terminal event.
func (e *ingestEnd) judge(run domain.Ingest) domain.NewEvent {
	type failure struct {
		Version string `json:"version"`
		Error   string `json:"error"`
	}
	broken, versions := []failure{}, 0
	for _, v := range run.Versions {
		if v.Version == "" {
			continue
		}
		if versions++; v.Error != "" {
			broken = append(broken, failure{v.Version, v.Error})
		}
	}
	payload := map[string]any{"ingest_id": run.ID, "repository": run.Repository, "kind": run.Kind, "versions": versions}
	switch {
	case e.code == domain.CodeCanceled:
		e.status, payload["message"] = domain.IngestCanceled, e.message
		return domain.NewPayload(domain.EventCanceled, payload)
	case e.code == "" && len(broken) == 0:
		e.status = domain.IngestDone
		return domain.NewPayload(domain.EventIngestDone, payload)
	case e.code == "":
		reasons := make([]string, 0, reasonsShown)
		for _, b := range broken[:min(len(broken), reasonsShown)] {
			reasons = append(reasons, b.Version+": "+b.Error)
		}
		e.code = domain.CodeUpstream
		e.message = fmt.Sprintf("%d of %d versions of %s could not be read: %s", len(broken), versions, run.Repository, strings.Join(reasons, "; "))
	}
	e.status = domain.IngestFailed
	payload["message"], payload["code"], payload["failed"] = e.message, e.code, broken[:min(len(broken), reasonsTold)]
	return domain.NewPayload(domain.EventIngestFailed, payload)
}
