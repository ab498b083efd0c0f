package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlAfterwordsDue = statement("list turns without their afterword", `
select`+turnColumns+` from turns t where t.afterword_due order by t.ended_at limit @limit`)

	sqlAfterwordDue = statement("read whether an afterword is due", `select`+turnColumns+`, t.afterword_due from turns t where t.id = @turn`)

	// What was asked meanwhile is further than the suggestions; a title of a person's own stays.
	sqlAfterword = statement("keep an afterword", `
with due as (
    update turns t set afterword_due = false, input_tokens = t.input_tokens + @input_tokens, output_tokens = t.output_tokens + @output_tokens,
        cached_input_tokens = t.cached_input_tokens + @cached_tokens, cost = t.cost + @cost
    where t.id = @turn and t.afterword_due returning t.id, t.user_id, t.conversation_id, t.afterword_reserved as reserved, t.afterword_reserved_on as day
), spent as (
    insert into budgets as b (user_id, day, spent) select user_id, coalesce(day, (now() at time zone 'utc')::date), @cost from due
    where @cost::double precision > 0 or reserved > 0
    on conflict (user_id, day) do update
    set spent = b.spent + excluded.spent, reserved = greatest(0, b.reserved - (select reserved from due))
), was as (
    select c.id, c.titled, c.head_id = 'reply-' || due.id and c.active_turn_id is null as latest
    from due join conversations c on c.id = due.conversation_id
), kept as (
    update conversations c
    set title = case when was.titled or @title = '' then c.title else @title end, titled = was.titled or @title <> '',
        suggestions = case when was.latest then @suggestions::json else c.suggestions end, updated_at = now()
    from was where c.id = was.id
    returning c.id, coalesce(c.project_id, '') as project, c.updated_at
)
select kept.id, kept.project, kept.updated_at, not was.titled and @title <> '', was.latest from kept join was on was.id = kept.id`)

	sqlHoldAfterword = statement("hold an afterword", `select from turns where id = @turn and afterword_due for no key update`)

	sqlUnreserveAfterword = statement("give an afterword's reservation back", `
update budgets b set reserved = greatest(0, b.reserved - t.afterword_reserved)
from turns t where t.id = @turn and t.afterword_reserved > 0 and b.user_id = t.user_id and b.day = t.afterword_reserved_on`)

	sqlReservedAfterword = statement("note what an afterword reserves", `
update turns set afterword_reserved = @reserve, afterword_reserved_on = @day where id = @turn`)

	sqlGiveAfterwordUp = statement("give an afterword up", `
with over as (
    update turns set afterword_due = false where id = any(@turns::text[]) and afterword_due
    returning user_id, afterword_reserved, afterword_reserved_on
)`+releaseAfterwords+`
select count(*) from over`)
)

// releaseAfterwords gives back what the afterwords of the turns in over have reserved.
const releaseAfterwords = `,
owed as (
    select user_id, afterword_reserved_on as day, sum(afterword_reserved) as reserved from over where afterword_reserved > 0 group by 1, 2
), released as (
    update budgets b set reserved = greatest(0, b.reserved - owed.reserved)
    from owed where b.user_id = owed.user_id and b.day = owed.day
)`

// AfterwordsDue lists turns that ended well and have no title and suggestions yet.
func (s *Store) AfterwordsDue(ctx context.Context, limit int) ([]domain.Turn, error) {
	return s.turns(ctx, "list turns without their afterword", sqlAfterwordsDue, pgx.NamedArgs{"limit": limit})
}

// AfterwordDue gives a turn, and whether it still waits for its afterword.
func (s *Store) AfterwordDue(ctx context.Context, turnID string) (turn domain.Turn, due bool, err error) {
	turn, err = scanTurn(beside{s.pool.QueryRow(ctx, sqlAfterwordDue, pgx.NamedArgs{"turn": turnID}), []any{&due}})
	if noRows(err) { // gone with its project
		return turn, false, nil
	}
	return turn, due, failed("load turn "+turnID, err)
}

// ReserveAfterword reserves what a turn's afterword may cost of a day's budget of its person,
// instead of what an earlier attempt has reserved. It is budget_exhausted where the day leaves
// too little, and superseded where the afterword is no longer due.
func (s *Store) ReserveAfterword(ctx context.Context, turnID string, cost, dayLimit float64) error {
	args := pgx.NamedArgs{"turn": turnID, "reserve": cost, "limit": dayLimit}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, sqlHoldAfterword, args).Scan(); noRows(err) {
			return refused("reserve the afterword of turn " + turnID)
		} else if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlUnreserveAfterword, args); err != nil {
			return err
		}
		var day time.Time
		err := tx.QueryRow(ctx, sqlReserve, args).Scan(&day)
		if noRows(err) {
			return domain.Errorf(domain.CodeBudgetExhausted, "the day's budget of %.2f leaves too little for an afterword", dayLimit)
		}
		if err != nil {
			return err
		}
		args["day"] = day
		_, err = tx.Exec(ctx, sqlReservedAfterword, args)
		return err
	})
	if code := domain.CodeOf(err); code == domain.CodeBudgetExhausted || code == domain.CodeSuperseded {
		return err
	}
	return failed("reserve the afterword of turn "+turnID, err)
}

// GiveAfterwordsUp says that turns go without their afterword.
func (s *Store) GiveAfterwordsUp(ctx context.Context, turnIDs []string) error {
	_, err := s.pool.Exec(ctx, sqlGiveAfterwordUp, pgx.NamedArgs{"turns": turnIDs})
	return failed("give afterwords up", err)
}

// CommitAfterword stores a turn's afterword and tells its project. A second one changes
// nothing.
func (s *Store) CommitAfterword(ctx context.Context, a domain.Afterword) error {
	choices, err := json.Marshal(list(a.Suggestions))
	if err != nil {
		return fmt.Errorf("keep the afterword of turn %s: %w", a.TurnID, err)
	}
	turn, err := s.Turn(ctx, a.TurnID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	err = s.changeNoted(ctx, turn.ProjectID, func(tx pgx.Tx) (events []domain.NewEvent, err error) {
		if _, err := tx.Exec(ctx, sqlHoldConversation, pgx.NamedArgs{"conversation": turn.ConversationID}); err != nil {
			return nil, err
		}
		var id, project string
		var at time.Time
		var titled, latest bool
		err = tx.QueryRow(ctx, sqlAfterword, pgx.NamedArgs{
			"turn": a.TurnID, "title": clean(a.Title), "suggestions": string(choices), "cost": a.Usage.Cost,
			"input_tokens": a.Usage.InputTokens, "output_tokens": a.Usage.OutputTokens, "cached_tokens": a.Usage.CachedInputTokens,
		}).Scan(&id, &project, &at, &titled, &latest)
		if noRows(err) { // it was there already, or the conversation is gone
			return nil, nil
		}
		if titled {
			events = append(events, domain.NewPayload(domain.EventTitleUpdated, map[string]string{"title": clean(a.Title), "conv_id": id}))
		}
		if latest && len(a.Suggestions) > 0 {
			events = append(events, domain.NewPayload(domain.EventSuggestions, map[string]any{"conv_id": id, "turn_id": a.TurnID, "choices": a.Suggestions}))
		}
		return events, err
	})
	return failed("keep the afterword of turn "+a.TurnID, err)
}
