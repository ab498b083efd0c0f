package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const auditColumns = `id, at, user_id, user_name, key_id, method, route, path, project_id, outcome, status, address, request_id, detail`

var (
	sqlAudit = statement("note a call", `
insert into audit (id, user_id, user_name, key_id, method, route, path, project_id, outcome, status, address, request_id, detail)
values (@id, @user, @name, @key, @method, @route, @path, @project, @outcome, @status, @address, @request, @detail)`)

	sqlAuditEntries = statement("list noted calls", `
select `+auditColumns+` from audit
where (@user = '' or user_id = @user) and (@method = '' or method = @method) and (@route = '' or route = @route)
  and (@project = '' or project_id = @project) and (@outcome = '' or outcome = @outcome)
  and (@since::timestamptz is null or at >= @since) and (@until::timestamptz is null or at < @until)
  and (@before = '' or (at, id) < (select b.at, b.id from audit b where b.id = @before))
order by at desc, id desc limit @limit`)

	sqlAuditPlace = statement("look for a noted call", `select exists (select from audit where id = @before)`)
)

// Audit notes a call; its ID and At are given here.
func (s *Store) Audit(ctx context.Context, e domain.AuditEntry) error {
	_, err := s.pool.Exec(ctx, sqlAudit, pgx.NamedArgs{
		"id": domain.NewID(), "user": e.UserID, "name": e.UserName, "key": e.KeyID, "method": e.Method, "route": e.Route,
		"path": clean(e.Path), "project": clean(e.ProjectID), "outcome": e.Outcome, "status": e.Status, "address": e.Address, "request": e.RequestID,
		"detail": clean(e.Detail),
	})
	return failed("note a call", err)
}

// AuditEntries lists the calls that a filter leaves, the newest first. The error is invalid for a
// place that there is none of.
func (s *Store) AuditEntries(ctx context.Context, f domain.AuditFilter) ([]domain.AuditEntry, error) {
	args := pgx.NamedArgs{
		"user": f.UserID, "method": f.Method, "route": f.Route, "project": f.ProjectID, "outcome": f.Outcome,
		"since": given(f.Since), "until": given(f.Until), "before": f.Before, "limit": f.Limit,
	}
	rows, err := s.pool.Query(ctx, sqlAuditEntries, args)
	if err != nil {
		return nil, failed("list noted calls", err)
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e domain.AuditEntry, err error) {
		err = row.Scan(&e.ID, &e.At, &e.UserID, &e.UserName, &e.KeyID, &e.Method, &e.Route, &e.Path, &e.ProjectID, &e.Outcome,
			&e.Status, &e.Address, &e.RequestID, &e.Detail)
		e.At = e.At.UTC()
		return e, err
	})
	if err != nil {
		return nil, failed("list noted calls", err)
	}
	return entries, s.placed(ctx, len(entries), "before", sqlAuditPlace, args)
}

// given is nil for the zero time.
func given(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
