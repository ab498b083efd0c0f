package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

var (
	// The row is locked by the upsert; settled_attempt says which attempt's failure was
	// recorded with its event.
	sqlClaimModel = statement("claim a model call", `
with open as (
    select id, last_seq from subjects where id = @turn and ended_at is null for no key update
), claimed as (
    insert into turn_calls (turn_id, call_id, kind, round, attempt, status, reserved, reserved_on)
    select id, @call, 'model', @round, 1, 'running', @reserved, @reserved_on from open
    on conflict (turn_id, call_id) do update
    set attempt = turn_calls.attempt + 1, status = 'running', reserved = @reserved, reserved_on = @reserved_on
    where turn_calls.status in ('pending', 'running')
    returning attempt, failures, settled_attempt
)
select attempt, failures, settled_attempt, last_seq from claimed, open`)

	sqlModelOutcome = statement("read a model call's outcome", `
select c.attempt, c.failures, c.outcome, s.last_seq, s.ended_at is not null
from turn_calls c join subjects s on s.id = c.turn_id where c.turn_id = @turn and c.call_id = @call`)

	sqlDropAttempt = statement("drop an earlier attempt", "with"+guardCall+appendEvents+closeOpen+appended)

	sqlOpenBlock = statement("open a block", "with"+guardWriter+appendEvents+`,
chunk as (
    insert into event_chunks (subject_id, subject_seq, start_byte, body) select id, last_seq, 0, @body from numbered
)`+appended)

	sqlFlush = statement("flush a block", "with"+guardWriter+`,
chunk as (
    insert into event_chunks (subject_id, subject_seq, start_byte, body)
    select id, @block_seq, @start, @body from guard on conflict do nothing
)
select @last::bigint, now() from guard`)

	sqlWriteCall = statement("write for a call", "with"+guardWriter+appendEvents+closeBlock+appended)

	sqlFailModel = statement("fail a model call", "with"+guardCall+appendEvents+closeOpen+`,
settled as (
    update turn_calls c set failures = c.failures + @failures, settled_attempt = c.attempt, reserved = 0
    from guard where c.turn_id = guard.id and c.call_id = guard.call_id
), released as (
    update budgets b set reserved = greatest(0, b.reserved - guard.reserved)
    from guard, turns t where t.id = guard.id and b.user_id = t.user_id and b.day = guard.reserved_on
)`+appended)
)

// retryReasonLost is the reason of a retry event where an attempt ended without a word.
const retryReasonLost = "interrupted"

// ClaimModelCall takes a model call over, making it on first use, and reserves what it may
// cost. A committed call gives its Outcome and nothing is claimed. An attempt after one that
// ended without a word begins with a retry event, so that readers drop what that one said.
// Errors: budget_exhausted, superseded (the turn has ended).
func (s *Store) ClaimModelCall(ctx context.Context, call domain.ModelCall) (domain.CallClaim, error) {
	claim := domain.CallClaim{TurnID: call.TurnID, CallID: call.CallID, Reserved: call.DayLimit > 0}
	var settled int
	err := s.inReservation(ctx, call, func(db querier, day *time.Time) error {
		return db.QueryRow(ctx, sqlClaimModel, pgx.NamedArgs{
			"turn": call.TurnID, "call": call.CallID, "round": call.Round, "reserved": call.Reserve, "reserved_on": day,
		}).Scan(&claim.Attempt, &claim.Failures, &settled, &claim.LastSeq)
	})
	switch {
	case noRows(err):
		return s.committedCall(ctx, claim)
	case domain.CodeOf(err) == domain.CodeBudgetExhausted:
		return claim, err
	case err != nil:
		return claim, failed("claim call "+call.CallID, err)
	case claim.Attempt == 1 || settled == claim.Attempt-1:
		return claim, nil
	}
	event := domain.NewPayload(domain.EventRetry, map[string]any{"reason": retryReasonLost, "wait_ms": 0, "discard": true})
	event.CallID = call.CallID
	claim.LastSeq, err = s.append(ctx, "drop an attempt of call "+call.CallID, sqlDropAttempt,
		newBatch(call.TurnID, claim.Attempt, []domain.NewEvent{event}, pgx.NamedArgs{"call": call.CallID}))
	return claim, err
}

// committedCall tells why a call could not be claimed.
func (s *Store) committedCall(ctx context.Context, claim domain.CallClaim) (domain.CallClaim, error) {
	var ended bool
	var outcome []byte
	err := s.pool.QueryRow(ctx, sqlModelOutcome, pgx.NamedArgs{"turn": claim.TurnID, "call": claim.CallID}).
		Scan(&claim.Attempt, &claim.Failures, &outcome, &claim.LastSeq, &ended)
	switch {
	case noRows(err):
		return claim, refused("claim call " + claim.CallID)
	case err != nil:
		return claim, failed("read call "+claim.CallID, err)
	case outcome == nil:
		return claim, refused("claim call " + claim.CallID)
	}
	claim.Outcome = outcome
	return claim, nil
}

// FlushModelCall stores a piece of an open block, and gives the log's new end. The writer
// must be where the log ends; superseded otherwise.
func (s *Store) FlushModelCall(ctx context.Context, f domain.TextFlush) (last int64, err error) {
	var events []domain.NewEvent
	if f.Open {
		events = []domain.NewEvent{{Type: f.Type, CallID: f.Claim.CallID}}
	}
	b := newBatch(f.Claim.TurnID, f.Claim.Attempt, events, pgx.NamedArgs{
		"call": f.Claim.CallID, "last": f.Claim.LastSeq, "open": f.Open, "body": f.Text, "block_seq": f.Seq, "start": f.From,
	})
	sql := sqlFlush
	if f.Open {
		sql = sqlOpenBlock
	}
	var at time.Time
	err = s.pool.QueryRow(ctx, sql, b.args).Scan(&last, &at)
	if noRows(err) {
		return 0, refused("flush call " + f.Claim.CallID)
	}
	if err != nil {
		return 0, failed("flush call "+f.Claim.CallID, err)
	}
	place := domain.Cursor{Seq: f.Seq, Offset: f.From + int64(len(f.Text))}
	s.tell(live.Message{Mark: &live.Mark{Subject: f.Claim.TurnID, Cursor: place}})
	return last, nil
}

// WriteModelCall closes a block and appends events of a call that goes on; it gives the
// log's new end.
func (s *Store) WriteModelCall(ctx context.Context, w domain.CallWrite) (last int64, err error) {
	return s.append(ctx, "write for call "+w.Claim.CallID, sqlWriteCall, callBatch(w, nil))
}

func callBatch(w domain.CallWrite, extra pgx.NamedArgs) *batch {
	for i := range w.Events {
		w.Events[i].CallID = w.Claim.CallID
	}
	b := newBatch(w.Claim.TurnID, w.Claim.Attempt, w.Events, pgx.NamedArgs{"call": w.Claim.CallID, "last": w.Claim.LastSeq})
	for name, value := range extra {
		b.args[name] = value
	}
	return b.close(w.Close, w.Claim.CallID)
}

// FailModelCall records that an attempt failed, ends its open block, gives its reservation
// back and appends events. failures counts up where the provider refused; with none, a retry
// does not use up what the provider may refuse.
func (s *Store) FailModelCall(ctx context.Context, claim domain.CallClaim, failures int, events ...domain.NewEvent) error {
	b := callBatch(domain.CallWrite{Claim: claim, Events: events}, pgx.NamedArgs{"failures": failures})
	_, err := s.append(ctx, "fail call "+claim.CallID, sqlFailModel, b)
	return err
}
