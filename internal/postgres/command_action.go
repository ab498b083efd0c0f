package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	// An action of a person belongs to no turn; it is its own call.
	sqlProposeAction = statement("store an action of a person", `
insert into actions (id, turn_id, call_id, project_id, requester, tool, input, hash, description, nonce, expires_at)
values (@action, '', @action, @project, @requester, @tool, @input::text::json, @hash, @description, @nonce, @expires)
on conflict (id) do nothing`)

	sqlLateActions = statement("list actions of persons that nobody decided", `
select id, project_id from actions where turn_id = '' and ended_at is null and status = 'pending' and expires_at <= now() limit @limit`)

	sqlExpireAction = statement("let an action of a person expire", `
update actions set status = 'expired', told_at = now() where id = @action and ended_at is null and status = 'pending' and expires_at <= now()`)

	// An action whose command was canceled, or removed with its machine, waits for nobody.
	sqlIdleActions = statement("list actions of persons whose commands have ended", `
select a.id, a.project_id from actions a join commands c on c.id = a.id
where a.turn_id = '' and a.ended_at is null and a.status = 'pending' and c.ended_at is not null limit @limit`)

	sqlIdleAction = statement("end the wait of an action of a person", `
update actions set status = 'expired', told_at = now() where id = @action and ended_at is null and status = 'pending'`)

	// What became of its action is the fate of a command that waits; one whose action was never
	// stored waits for nothing.
	sqlStrandedCommands = statement("list commands that wait in vain", `
select c.id, coalesce(a.status, '') from commands c left join actions a on a.id = c.id
where c.status = 'pending' and (a.status in ('rejected', 'expired') or a.id is null and c.created_at < now() - @age::interval)
order by c.created_at limit @limit`)

	// An agent that can't cancel is not asked: its command ends by itself.
	sqlAbandonedCommands = statement("list commands of canceled turns", `
select`+openCommandColumns+` join turns t on t.id = c.turn_id join agents a on a.id = c.agent_id
where c.ended_at is null and c.cancel_requested_at is null and t.cancel_requested_at is not null
  and (c.status in ('pending', 'queued') or 'cancel' = any(a.capabilities))
order by c.created_at limit @limit`)

	// An action of a person ends with its command.
	sqlSettleActions = statement("end the actions of commands that have ended", `
update actions a set ended_at = c.ended_at, told_at = coalesce(a.told_at, now()),
    status = case
        when a.status in ('approved', 'applying') then case c.status when 'done' then 'applied' when 'unknown' then 'unknown' else 'failed' end
        else a.status end,
    outcome = case
        when c.status = 'done' then 'ended with exit code ' || coalesce(c.exit_code::text, 'unknown')
        when c.error <> '' then c.error else replace(c.status, '_', ' ') end
from commands c
where a.turn_id = '' and a.ended_at is null and a.status <> 'pending' and c.id = a.id and c.ended_at is not null`)
)

// settledAtOnce is how many actions end their wait in one go; more go on with the next sweep.
const settledAtOnce = 100

// ProposeAction stores an action of a person that belongs to no turn, or finds the one of that
// id, and gives it as it stands.
// The project is told of a new one.
func (s *Store) ProposeAction(ctx context.Context, a domain.Action) (domain.Action, error) {
	err := s.changeNoted(ctx, a.ProjectID, func(tx pgx.Tx) ([]domain.NewEvent, error) {
		if err := shareProject(ctx, tx, a.ProjectID); err != nil {
			return nil, err
		}
		made, err := tx.Exec(ctx, sqlProposeAction, pgx.NamedArgs{
			"action": a.ID, "project": a.ProjectID, "requester": a.Requester, "tool": a.Name, "input": string(a.Input), "hash": a.Hash,
			"description": clean(a.Description), "nonce": a.Nonce, "expires": a.ExpiresAt,
		})
		if err != nil || made.RowsAffected() == 0 {
			return nil, err
		}
		return []domain.NewEvent{a.Event()}, nil
	})
	if err != nil {
		return domain.Action{}, failed("store action "+a.ID, err)
	}
	return s.Action(ctx, a.ID)
}

// ExpireActions ends the wait of actions of persons that nobody decided in time, at most so many,
// and tells their projects.
func (s *Store) ExpireActions(ctx context.Context, limit int) ([]string, error) {
	return s.expire(ctx, sqlLateActions, sqlExpireAction, limit)
}

// expire ends the wait of the actions that list finds, by the statement one.
func (s *Store) expire(ctx context.Context, list, one string, limit int) (expired []string, err error) {
	rows, err := s.pool.Query(ctx, list, pgx.NamedArgs{"limit": limit})
	if err != nil {
		return nil, failed("list actions to expire", err)
	}
	projects := map[string]string{}
	var id, project string
	if _, err = pgx.ForEachRow(rows, []any{&id, &project}, func() error {
		projects[id] = project
		return nil
	}); err != nil {
		return nil, failed("list actions to expire", err)
	}
	for id, project := range projects {
		err := s.changeNoted(ctx, project, func(tx pgx.Tx) ([]domain.NewEvent, error) {
			if _, err := tx.Exec(ctx, sqlHoldProjectLog, pgx.NamedArgs{"project": projectLog(project)}); err != nil {
				return nil, err
			}
			done, err := tx.Exec(ctx, one, pgx.NamedArgs{"action": id})
			if err != nil || done.RowsAffected() == 0 { // decided meanwhile, or removed
				return nil, err
			}
			expired = append(expired, id)
			return []domain.NewEvent{domain.Action{ID: id, CallID: id, Status: domain.ActionExpired}.DecidedEvent()}, nil
		})
		if err != nil {
			return expired, failed("let action "+id+" expire", err)
		}
	}
	return expired, nil
}

// StrandedCommands lists commands that wait for an approval that never comes, at most so many,
// with the status of their action; "" for one that was not stored within age.
func (s *Store) StrandedCommands(ctx context.Context, age time.Duration, limit int) (map[string]domain.ActionStatus, error) {
	rows, err := s.pool.Query(ctx, sqlStrandedCommands, pgx.NamedArgs{"age": age, "limit": limit})
	if err != nil {
		return nil, failed("list commands that wait in vain", err)
	}
	stranded := map[string]domain.ActionStatus{}
	var id string
	var status domain.ActionStatus
	_, err = pgx.ForEachRow(rows, []any{&id, &status}, func() error {
		stranded[id] = status
		return nil
	})
	return stranded, failed("list commands that wait in vain", err)
}

// AbandonedCommands lists open commands whose turns somebody has canceled, and that can be
// canceled themselves, at most so many.
func (s *Store) AbandonedCommands(ctx context.Context, limit int) ([]domain.Command, error) {
	return s.commands(ctx, sqlAbandonedCommands, pgx.NamedArgs{"limit": limit})
}

// SettleActions ends the actions of persons whose commands have ended.
func (s *Store) SettleActions(ctx context.Context) error {
	if _, err := s.expire(ctx, sqlIdleActions, sqlIdleAction, settledAtOnce); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, sqlSettleActions)
	return failed("end the actions of commands", err)
}

// KeepCommandKey records that a person's idempotency key stands for a command, and gives the
// command that it stood for already; unprocessable where the key came with another request, of
// which hash is the SHA-256.
func (s *Store) KeepCommandKey(ctx context.Context, userID, key string, hash []byte, id string) (string, error) {
	var kept string
	var was []byte
	err := s.pool.QueryRow(ctx, sqlKeepKey, pgx.NamedArgs{"user": userID, "key": key, "hash": hash, "turn": id}).Scan(&kept, &was)
	if err != nil {
		return "", failed("keep the idempotency key", err)
	}
	if !bytes.Equal(was, hash) {
		return "", errOtherRequest
	}
	return kept, nil
}
