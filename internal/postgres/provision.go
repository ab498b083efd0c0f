package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const provisionColumns = `
p.id, p.project_id, p.user_id, p.name, p.description, p.flavor, p.instance, p.key, p.hash, p.status, p.phase, p.note,
p.error_code, p.error, p.cancel_requested_at is not null, p.launched_at is not null, p.created_at, p.ended_at`

var (
	// A project that is being deleted takes no more.
	sqlNewProvision = statement("new provision", `
insert into provisions (id, project_id, user_id, name, description, flavor, instance, key, hash)
select @provision, id, @user, @name, @description, @flavor, @instance, @key, @hash
from (select id from projects where id = @project and deleting_at is null for share) p
on conflict do nothing returning id`)

	sqlProvision = statement("read a provision", `select`+provisionColumns+` from provisions p where p.id = @provision`)

	sqlProvisionByKey = statement("read a provision by its key", `
select`+provisionColumns+` from provisions p
where p.project_id = @project and p.user_id = @user and p.key = @key and @key <> ''`)

	sqlProvisions = statement("list a project's provisions", `
select`+provisionColumns+` from provisions p where p.project_id = @project order by p.created_at desc, p.id limit @limit`)

	sqlBeginProvision = statement("begin a provision", `
update provisions set status = 'running', launched_at = coalesce(launched_at, now())
where id = @provision and ended_at is null and cancel_requested_at is null`)

	sqlCancelProvision = statement("request a provision's cancel", `
update provisions set cancel_requested_at = coalesce(cancel_requested_at, now()) where id = @provision and ended_at is null
returning id`)

	sqlProvisionLaunched = statement("mark a provision launched", `
update provisions set launched_at = now() where id = @provision and launched_at is null`)

	sqlUnstartedProvisions = statement("list unstarted provisions", `
select`+provisionColumns+` from provisions p
where p.ended_at is null and p.launched_at is null and p.created_at < now() - @age::interval
order by p.created_at limit @limit`)

	sqlOpenProvisions = statement("list open provisions", `
select`+provisionColumns+` from provisions p
where p.ended_at is null and p.created_at < now() - @age::interval and p.id > @after
order by p.id limit @limit`)

	sqlProjectProvisions = statement("list the open provisions of a project", `
select`+provisionColumns+` from provisions p where p.project_id = @project and p.ended_at is null order by p.id`)
)

// provisionFeed begins the name of the feed of a provision, which has one of its own.
const provisionFeed = "provision/"

// CreateProvision stores a queued provision with its event log. One of that id, or of the same
// person's key in the project, that is there already is given back; where the key came with
// another request it is unprocessable. not_found for a project that is gone or going.
func (s *Store) CreateProvision(ctx context.Context, order domain.ProvisionOrder) (domain.Provision, error) {
	args := pgx.NamedArgs{
		"provision": order.ID, "subject": order.ID, "stream": provisionFeed + order.ID, "project": order.ProjectID, "user": order.UserID,
		"name": order.Name, "description": order.Description, "flavor": order.Flavor, "instance": order.Instance,
		"key": order.Key, "hash": order.Hash,
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var id string
		if err := tx.QueryRow(ctx, sqlNewProvision, args).Scan(&id); err != nil {
			return err
		}
		steps := &pgx.Batch{}
		steps.Queue(sqlNewStream, args)
		steps.Queue(sqlNewSubject, args)
		return tx.SendBatch(ctx, steps).Close()
	})
	if err != nil && !noRows(err) {
		return domain.Provision{}, failed("create a provision", err)
	}
	if err == nil {
		return s.Provision(ctx, order.ID)
	}
	found, err := s.provisions(ctx, "find a provision", sqlProvisionByKey, args)
	if err == nil && len(found) == 0 {
		found, err = s.provisions(ctx, "find a provision", sqlProvision, args)
	}
	switch {
	case err != nil:
		return domain.Provision{}, err
	case len(found) == 0:
		return domain.Provision{}, domain.NotFound("there is no project %q", order.ProjectID)
	case found[0].ProjectID != order.ProjectID || !bytes.Equal(found[0].Hash, order.Hash):
		return domain.Provision{}, domain.Errorf(domain.CodeUnprocessable, "this idempotency key came with another request before; use a new one")
	}
	return found[0], nil
}

// Provision gives a provision, or not_found.
func (s *Store) Provision(ctx context.Context, id string) (domain.Provision, error) {
	found, err := s.provisions(ctx, "read provision "+id, sqlProvision, pgx.NamedArgs{"provision": id})
	if err == nil && len(found) == 0 {
		err = domain.NotFound("there is no provision %q", id)
	}
	if err != nil {
		return domain.Provision{}, err
	}
	return found[0], nil
}

// Provisions lists the newest provisions of a project.
func (s *Store) Provisions(ctx context.Context, projectID string, limit int) ([]domain.Provision, error) {
	return s.provisions(ctx, "list provisions", sqlProvisions, pgx.NamedArgs{"project": projectID, "limit": limit})
}

// BeginProvision marks a queued provision as running, unless it was canceled. It gives it as
// it is afterwards.
func (s *Store) BeginProvision(ctx context.Context, id string) (domain.Provision, error) {
	if _, err := s.pool.Exec(ctx, sqlBeginProvision, pgx.NamedArgs{"provision": id}); err != nil {
		return domain.Provision{}, failed("begin provision "+id, err)
	}
	return s.Provision(ctx, id)
}

// RequestProvisionCancel records that somebody wants the provision to stop, and gives it. One
// that has ended is a conflict.
func (s *Store) RequestProvisionCancel(ctx context.Context, id string) (domain.Provision, error) {
	err := s.pool.QueryRow(ctx, sqlCancelProvision, pgx.NamedArgs{"provision": id}).Scan(&id)
	if err != nil && !noRows(err) {
		return domain.Provision{}, failed("cancel provision "+id, err)
	}
	p, readErr := s.Provision(ctx, id)
	if readErr == nil && noRows(err) {
		return p, domain.Errorf(domain.CodeConflict, "it has ended already (%s)", p.Status)
	}
	return p, readErr
}

// MarkProvisionLaunched records that the provision's workflow was started.
func (s *Store) MarkProvisionLaunched(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, sqlProvisionLaunched, pgx.NamedArgs{"provision": id})
	return failed("mark provision "+id+" launched", err)
}

// UnstartedProvisions lists provisions older than age that are not known to have a workflow.
func (s *Store) UnstartedProvisions(ctx context.Context, age time.Duration, limit int) ([]domain.Provision, error) {
	return s.provisions(ctx, "list unstarted provisions", sqlUnstartedProvisions, pgx.NamedArgs{"age": age, "limit": limit})
}

// OpenProvisions lists provisions older than age that have not ended, by id, after the given one.
func (s *Store) OpenProvisions(ctx context.Context, age time.Duration, after string, limit int) ([]domain.Provision, error) {
	return s.provisions(ctx, "list open provisions", sqlOpenProvisions, pgx.NamedArgs{"age": age, "after": after, "limit": limit})
}

// ProjectProvisions lists the provisions of a project that have not ended.
func (s *Store) ProjectProvisions(ctx context.Context, projectID string) ([]domain.Provision, error) {
	return s.provisions(ctx, "list the provisions of project "+projectID, sqlProjectProvisions, pgx.NamedArgs{"project": projectID})
}

func (s *Store) provisions(ctx context.Context, doing, sql string, args pgx.NamedArgs) ([]domain.Provision, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, failed(doing, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p domain.Provision, err error) {
		err = row.Scan(&p.ID, &p.ProjectID, &p.UserID, &p.Name, &p.Description, &p.Flavor, &p.Instance, &p.Key, &p.Hash, &p.Status, &p.Phase, &p.Note,
			&p.ErrorCode, &p.Error, &p.CancelRequested, &p.Launched, &p.CreatedAt, &p.EndedAt)
		p.CreatedAt = p.CreatedAt.UTC()
		return p, err
	})
	return list, failed(doing, err)
}
