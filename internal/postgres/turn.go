package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const turnColumns = `
t.id, t.user_id, coalesce(t.project_id, ''), coalesce(t.conversation_id, ''), t.query, t.repositories, t.versions, t.status, t.reason, t.intent,
t.answer, t.sources, t.question, t.tool_calls_made, t.provider_used,
t.input_tokens, t.output_tokens, t.cached_input_tokens, t.cost, t.error_code, t.error, t.created_at, t.started_at, t.ended_at,
t.launched_at is not null, t.cancel_requested_at is not null`

var (
	sqlTurn = statement("read a turn", `select`+turnColumns+` from turns t where t.id = @turn`)

	sqlRequestCancel = statement("request a cancel", `
update turns set cancel_requested_at = coalesce(cancel_requested_at, now()) where id = @turn and ended_at is null
returning launched_at is not null`)

	sqlMarkLaunched = statement("mark a turn launched", `
update turns set launched_at = now() where id = @turn and launched_at is null`)

	sqlUnstarted = statement("list unstarted turns", `
select`+turnColumns+` from turns t
where t.ended_at is null and t.launched_at is null and t.created_at < now() - @age::interval
order by t.created_at limit @limit`)

	sqlOpen = statement("list open turns", `
select`+turnColumns+` from turns t
where t.ended_at is null and t.created_at < now() - @age::interval and t.id > @after
order by t.id limit @limit`)

	sqlBegin = statement("begin a turn", `
with open as (
    select id from subjects where id = @subject and ended_at is null for no key update
), guard as (
    update turns t set status = 'running', started_at = now(), launched_at = coalesce(launched_at, now()), intent = @intent
    from open where t.id = open.id and t.status = 'queued'
    returning t.id
)`+appendEvents+appended)
)

// Turn reads a turn, or gives not_found.
func (s *Store) Turn(ctx context.Context, id string) (domain.Turn, error) {
	turn, err := scanTurn(s.pool.QueryRow(ctx, sqlTurn, pgx.NamedArgs{"turn": id}))
	if noRows(err) {
		return domain.Turn{}, domain.NotFound("there is no turn %q", id)
	}
	return turn, failed("load turn "+id, err)
}

func scanTurn(row pgx.Row) (t domain.Turn, err error) {
	var sources, question, provider []byte
	err = row.Scan(&t.ID, &t.UserID, &t.ProjectID, &t.ConversationID, &t.Query, &t.Repositories, &t.Versions, &t.Status, &t.Reason, &t.Intent,
		&t.Answer, &sources, &question, &t.ToolCallsMade, &provider,
		&t.Usage.InputTokens, &t.Usage.OutputTokens, &t.Usage.CachedInputTokens, &t.Usage.Cost,
		&t.ErrorCode, &t.Error, &t.CreatedAt, &t.StartedAt, &t.EndedAt,
		&t.Launched, &t.CancelRequested)
	if err != nil {
		return domain.Turn{}, err
	}
	t.Usage = t.Usage.Rounded()
	for _, field := range []struct {
		body []byte
		into any
	}{{sources, &t.Sources}, {question, &t.Question}, {provider, &t.ProviderUsed}} {
		if len(field.body) == 0 {
			continue
		}
		if err := json.Unmarshal(field.body, field.into); err != nil {
			return domain.Turn{}, fmt.Errorf("read turn %s: %w", t.ID, err)
		}
	}
	return t, nil
}

// RequestCancel records that somebody wants the turn to stop, and reports whether its
// workflow was started (one that was not stops as soon as it is). A turn that has ended
// already is a conflict.
func (s *Store) RequestCancel(ctx context.Context, id string) (launched bool, err error) {
	err = s.pool.QueryRow(ctx, sqlRequestCancel, pgx.NamedArgs{"turn": id}).Scan(&launched)
	if !noRows(err) {
		return launched, failed("cancel turn "+id, err)
	}
	turn, err := s.Turn(ctx, id)
	if err != nil {
		return false, err
	}
	return false, domain.Errorf(domain.CodeConflict, "the turn has ended already (%s)", turn.Status)
}

// MarkLaunched records that the turn's workflow was started.
func (s *Store) MarkLaunched(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, sqlMarkLaunched, pgx.NamedArgs{"turn": id})
	return failed("mark turn "+id+" launched", err)
}

// UnstartedTurns lists turns older than age whose workflow is not known to be started,
// oldest first.
func (s *Store) UnstartedTurns(ctx context.Context, age time.Duration, limit int) ([]domain.Turn, error) {
	return s.turns(ctx, "list unstarted turns", sqlUnstarted, pgx.NamedArgs{"age": age, "limit": limit})
}

// OpenTurns lists turns older than age that have no terminal event, by id, after the given
// one: the reconciler's pages.
func (s *Store) OpenTurns(ctx context.Context, age time.Duration, after string, limit int) ([]domain.Turn, error) {
	return s.turns(ctx, "list open turns", sqlOpen, pgx.NamedArgs{"age": age, "after": after, "limit": limit})
}

func (s *Store) turns(ctx context.Context, doing, sql string, args pgx.NamedArgs) ([]domain.Turn, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, failed(doing, err)
	}
	turns, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Turn, error) { return scanTurn(row) })
	return turns, failed(doing, err)
}

// BeginTurn marks a queued turn running and appends its first events. A turn that was begun
// before stays as it is.
func (s *Store) BeginTurn(ctx context.Context, id string, intent domain.Intent, events ...domain.NewEvent) error {
	_, err := s.append(ctx, "begin turn "+id, sqlBegin, newBatch(id, 0, events, pgx.NamedArgs{"intent": string(intent)}))
	if domain.CodeOf(err) == domain.CodeSuperseded {
		return nil
	}
	return err
}
