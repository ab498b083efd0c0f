package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlNotePhase = statement("note a provision's phase", `with`+openIngest+`, guard as (
    update provisions p set phase = @phase, place = @place, note = ''
    from open where p.id = open.id and p.place < @place and p.ended_at is null and p.cancel_requested_at is null
    returning p.id
)`+appendEvents+appended)

	// It is told while it is to stop, too: what was made is removed.
	sqlNote = statement("note what goes on in a provision", `with`+openIngest+`, guard as (
    update provisions p set note = @note
    from open where p.id = open.id and p.note <> @note and p.ended_at is null
    returning p.id
)`+appendEvents+appended)

	sqlNoteTry = statement("note a provision's next try", `with`+openIngest+`, guard as (
    update provisions p set attempt = @try, note = ''
    from open where p.id = open.id and p.attempt < @try and p.ended_at is null and p.cancel_requested_at is null
    returning p.id
)`+appendEvents+appended)

	sqlProvisionToken = statement("read a provision's token", `
select sealed_token from provisions where id = @provision and ended_at is null for update`)

	sqlKeepProvisionToken = statement("keep a provision's token", `update provisions set sealed_token = @sealed where id = @provision`)

	sqlInstanceToken = statement("make a container's install token", `
insert into install_tokens (id, project_id, hash, created_by, expires_at, uses_left, instance, description)
select id, project_id, @hash, user_id, now() + @life::interval, 1, instance, description from provisions where id = @provision`)

	sqlEndInstanceToken = statement("end a container's install token", `delete from install_tokens where id = @provision`)

	sqlEndProvision = statement("end a provision's row", `
update provisions set status = @status, error_code = @code, error = @error, note = '', ended_at = now(), sealed_token = null,
    launched_at = coalesce(launched_at, now())
where id = @provision and ended_at is null and (@status <> 'done' or cancel_requested_at is null)
returning id`)
)

// NotePhase records that a provision is in a phase, with its event; once, however often it is
// called. Errors: canceled where the provision has ended or is to stop, or not_found.
func (s *Store) NotePhase(ctx context.Context, id string, phase domain.ProvisionPhase) error {
	event := domain.NewPayload(domain.EventPhaseStart, map[string]any{"phase": phase})
	return s.noteProvision(ctx, sqlNotePhase, id, event, pgx.NamedArgs{"phase": phase, "place": phase.Place()})
}

// NoteProvision tells what goes on in a phase, once as long as it stays the same; nothing of a
// provision that has ended.
func (s *Store) NoteProvision(ctx context.Context, id string, note domain.ProvisionNote) error {
	note.Message = clean(note.Message)
	payload := map[string]any{"phase": note.Phase, "message": note.Message}
	if note.Waiting {
		payload["waiting"] = true
	}
	log := newBatch(id, 0, []domain.NewEvent{domain.NewPayload(domain.EventPhaseNote, payload)}, pgx.NamedArgs{"note": note.Message})
	var last int64
	var at time.Time
	err := s.pool.QueryRow(ctx, sqlNote, log.args).Scan(&last, &at)
	if noRows(err) {
		return nil
	}
	if err == nil {
		s.tell(log.messages(last, at)...)
	}
	return failed("note what goes on in provision "+id, err)
}

// NoteTry records that the installation failed by what message says and will be tried again, as
// NotePhase does.
func (s *Store) NoteTry(ctx context.Context, id string, try, tries int, message string) error {
	event := domain.NewPayload(domain.EventInstallRetry, map[string]any{"attempt": try, "attempts": tries, "message": clean(message)})
	return s.noteProvision(ctx, sqlNoteTry, id, event, pgx.NamedArgs{"try": try})
}

func (s *Store) noteProvision(ctx context.Context, sql, id string, event domain.NewEvent, extra pgx.NamedArgs) error {
	log := newBatch(id, 0, []domain.NewEvent{event}, extra)
	var last int64
	var at time.Time
	err := s.pool.QueryRow(ctx, sql, log.args).Scan(&last, &at)
	if err == nil {
		s.tell(log.messages(last, at)...)
		return nil
	}
	if !noRows(err) {
		return failed("note how far provision "+id+" is", err)
	}
	p, err := s.Provision(ctx, id)
	if err == nil && (p.Status.Final() || p.CancelRequested) {
		err = domain.Errorf(domain.CodeCanceled, "it was canceled")
	}
	return err
}

// ProvisionToken gives the install token of a provision: the one that was kept, or text, which
// is kept, sealed, with the token that machines join by: for one machine, and as long as life.
func (s *Store) ProvisionToken(ctx context.Context, id, text string, hash []byte, life time.Duration) (string, error) {
	args := pgx.NamedArgs{"provision": id, "hash": hash, "life": life}
	place := tokenContext(id)
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var sealed []byte
		if err := tx.QueryRow(ctx, sqlProvisionToken, args).Scan(&sealed); err != nil {
			return err
		}
		if sealed != nil {
			plain, err := s.seal.Open(sealed, place)
			text = string(plain)
			return err
		}
		sealed, err := s.seal.Seal([]byte(text), place)
		if err != nil {
			return err
		}
		args["sealed"] = sealed
		steps := &pgx.Batch{}
		steps.Queue(sqlKeepProvisionToken, args)
		steps.Queue(sqlInstanceToken, args)
		return tx.SendBatch(ctx, steps).Close()
	})
	if noRows(err) {
		return "", domain.Errorf(domain.CodeCanceled, "the provision has ended")
	}
	return text, failed("make the install token of provision "+id, err)
}

// tokenContext binds the sealed token to its provision.
func tokenContext(id string) []byte { return []byte("install token of " + id) }

// EndProvision ends a provision with its terminal event, as one commit: done without a code,
// else canceled or failed with it. One that has ended is left alone; so is one that was asked
// to stop and is to be done: what was made must be removed first. It gives the provision as it
// is afterwards.
func (s *Store) EndProvision(ctx context.Context, id string, code domain.Code, message string) (domain.Provision, error) {
	p, err := s.Provision(ctx, id)
	if err != nil {
		return p, err
	}
	message = clean(message)
	event := provisionEnd(p, code, message)
	args := pgx.NamedArgs{"provision": id, "subject": id, "code": code, "error": message, "status": provisionStatus(code)}
	log := newBatch(id, 0, []domain.NewEvent{event}, pgx.NamedArgs{"ends": true})
	var last int64
	var at time.Time
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlLockSubject, args); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, sqlEndProvision, args).Scan(&id); err != nil {
			return err
		}
		if code != "" {
			if _, err := tx.Exec(ctx, sqlEndInstanceToken, args); err != nil {
				return err
			}
		}
		return tx.QueryRow(ctx, sqlEnd, log.args).Scan(&last, &at)
	})
	if err == nil {
		s.tell(log.messages(last, at)...)
	} else if !noRows(err) {
		return p, failed("end provision "+id, err)
	}
	return s.Provision(ctx, id)
}

func provisionStatus(code domain.Code) domain.ProvisionStatus {
	switch code {
	case "":
		return domain.ProvisionDone
	case domain.CodeCanceled:
		return domain.ProvisionCanceled
	}
	return domain.ProvisionFailed
}

func provisionEnd(p domain.Provision, code domain.Code, message string) domain.NewEvent {
	payload := map[string]any{"provision_id": p.ID, "instance": p.Instance}
	switch code {
	case "":
		return domain.NewPayload(domain.EventDone, payload)
	case domain.CodeCanceled:
		payload["message"], payload["phase"] = message, p.Phase
		return domain.NewPayload(domain.EventCanceled, payload)
	}
	payload["message"], payload["phase"], payload["code"] = message, p.Phase, code
	return domain.NewPayload(domain.EventError, payload)
}
