package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlUnreserve = statement("give a call's reservation back", `
update budgets b set reserved = greatest(0, b.reserved - c.reserved)
from turn_calls c join turns t on t.id = c.turn_id
where c.turn_id = @turn and c.call_id = @call and c.reserved > 0 and b.user_id = t.user_id and b.day = c.reserved_on`)

	sqlReserve = statement("reserve a budget", `
insert into budgets as b (user_id, day, reserved)
select t.user_id, (now() at time zone 'utc')::date, @reserve::double precision from turns t
where t.id = @turn and @reserve::double precision <= @limit::double precision
on conflict (user_id, day) do update set reserved = b.reserved + excluded.reserved
where excluded.reserved = 0 or b.reserved + b.spent + excluded.reserved <= @limit::double precision
returning day`)

	sqlSpent = statement("read a budget", `
select coalesce(sum(spent), 0), coalesce(sum(reserved), 0) from budgets
where user_id = @user and day = (now() at time zone 'utc')::date`)

	// What the call itself has reserved, at an earlier attempt, it gives back.
	sqlDayTaken = statement("read what is taken of a day's budget", `
select coalesce((select b.spent + b.reserved from budgets b
        where b.user_id = t.user_id and b.day = (now() at time zone 'utc')::date), 0)
    - coalesce((select c.reserved from turn_calls c
        where c.turn_id = t.id and c.call_id = @call and c.reserved_on = (now() at time zone 'utc')::date), 0)
from turns t where t.id = @turn`)
)

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// runner is a pool or a transaction, for statements of any kind.
type runner interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// inReservation runs claim, together with the reservation of what the call may cost where
// a day's budget is set; day is then the day that it was reserved on.
func (s *Store) inReservation(ctx context.Context, call domain.ModelCall, claim func(db querier, day *time.Time) error) error {
	if call.DayLimit <= 0 {
		return claim(s.pool, nil)
	}
	args := pgx.NamedArgs{"turn": call.TurnID, "call": call.CallID, "reserve": call.Reserve, "limit": call.DayLimit}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlUnreserve, args); err != nil {
			return fmt.Errorf("give a reservation back: %w", err)
		}
		var day time.Time
		err := tx.QueryRow(ctx, sqlReserve, args).Scan(&day)
		if noRows(err) {
			return domain.Errorf(domain.CodeBudgetExhausted, "the day's budget of %.2f is used up; it begins anew at midnight UTC", call.DayLimit)
		}
		if err != nil {
			return fmt.Errorf("reserve a budget: %w", err)
		}
		return claim(tx, &day)
	})
}

// DayLeft gives what a day's budget leaves for a call of a turn: negative where it is
// overdrawn.
func (s *Store) DayLeft(ctx context.Context, turnID, callID string, limit float64) (float64, error) {
	var taken float64
	err := s.pool.QueryRow(ctx, sqlDayTaken, pgx.NamedArgs{"turn": turnID, "call": callID}).Scan(&taken)
	return limit - taken, failed("read the day's budget", err)
}

// Spent gives what a person has spent, and has reserved, today (UTC).
func (s *Store) Spent(ctx context.Context, userID string) (spent, reserved float64, err error) {
	err = s.pool.QueryRow(ctx, sqlSpent, pgx.NamedArgs{"user": userID}).Scan(&spent, &reserved)
	return spent, reserved, failed("read the budget", err)
}
