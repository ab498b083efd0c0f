package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

// claimColumns are what an action is claimed with: its call, whose turn it is in, the action, and
// what keeps its person out now; of turn_calls c, turns t and actions a.
var claimColumns = toolColumns + scopeColumns + `,` + actionColumns + `, ` + barred("t.user_id", "t.project_id")

var (
	// The call and its action are claimed as one: an attempt that finds it applying knows that
	// one before it began. Where the tool finds again what it began, it is run again.
	sqlClaimAction = statement("claim an action", `
with open as (
    select s.id from subjects s join turns t on t.id = s.id
    where s.id = @turn and s.ended_at is null and t.cancel_requested_at is null for no key update of s
), begun as (
    update actions a set status = 'applying', told_at = coalesce(told_at, now())
    from open where a.turn_id = open.id and a.call_id = @call
      and (a.status = 'approved' or a.status = 'applying' and a.tool = any(@resumable::text[]))
    returning a.*
), c as (
    update turn_calls c set attempt = c.attempt + 1, status = 'running'
    from begun where c.turn_id = begun.turn_id and c.call_id = begun.call_id and c.kind = 'tool' and c.status in ('pending', 'running')
    returning c.*
)
select`+claimColumns+`
from c join begun a on a.call_id = c.call_id join turns t on t.id = c.turn_id`)

	// What is not to be run is taken over to be settled: what nobody decided in time, and what
	// another attempt began.
	sqlCloseAction = statement("take over an action that is not run", `
with open as (
    select id from subjects where id = @turn and ended_at is null for no key update
), a as (
    update actions a
    set status = case a.status when 'pending' then 'expired' when 'applying' then 'unknown' when 'approved' then 'failed' else a.status end,
        told_at = coalesce(told_at, now())
    from open where a.turn_id = open.id and a.call_id = @call
      and (@force or a.status not in ('pending', 'approved') or a.status = 'pending' and a.expires_at <= now())
    returning a.*
), c as (
    update turn_calls c set attempt = c.attempt + 1, status = 'running'
    from a where c.turn_id = a.turn_id and c.call_id = a.call_id and c.kind = 'tool' and c.status in ('pending', 'running')
    returning c.*
)
select`+claimColumns+`
from c join a on a.call_id = c.call_id join turns t on t.id = c.turn_id`)

	sqlCallAction = statement("read a call's action", `
select`+claimColumns+`
from turn_calls c join actions a on a.turn_id = c.turn_id and a.call_id = c.call_id join turns t on t.id = c.turn_id
where c.turn_id = @turn and c.call_id = @call and c.kind = 'tool'`)

	sqlCommitAction = statement("commit an action", "with"+guardCall+appendEvents+`,
settled as (
    update turn_calls c set status = @status, outcome = @outcome::json, ended_at = now()
    from guard where c.turn_id = guard.id and c.call_id = guard.call_id
), done as (
    update actions a set status = @action_status, outcome = @action_outcome, ended_at = now()
    from guard where a.turn_id = guard.id and a.call_id = guard.call_id
), dropped as (
    delete from secret_offers o using guard where o.turn_id = guard.id and o.call_id = guard.call_id
)`+appended)

	sqlLockLog = statement("lock a turn's log", `select id from subjects where id = @turn and ended_at is null for no key update`)
)

// ClaimAction takes the call of an action over. An approved action is applying from then on,
// and its status says so: the caller runs it. One that is applying by an attempt before is run
// again where its tool is resumable. What is not to be run any more (rejected, expired, reported
// by a client, or applying, which is unknown now) is
// claimed to be settled. One that nobody has decided yet is given as it is, pending, and a
// call with a final status with its outcome. It is superseded once the turn has ended.
func (s *Store) ClaimAction(ctx context.Context, turnID, callID string, resumable []string) (domain.ActionClaim, error) {
	args := pgx.NamedArgs{"turn": turnID, "call": callID, "force": false, "resumable": list(resumable)}
	return s.claimAction(ctx, callID, []string{sqlClaimAction, sqlCloseAction, sqlCallAction}, args)
}

// CloseAction takes the call of an action over that could not be run, to settle it: begun it
// is unknown, approved it has failed, and what waits is expired.
func (s *Store) CloseAction(ctx context.Context, turnID, callID string) (domain.ActionClaim, error) {
	args := pgx.NamedArgs{"turn": turnID, "call": callID, "force": true}
	return s.claimAction(ctx, callID, []string{sqlCloseAction, sqlCallAction}, args)
}

// claimAction tries the statements in order, the last of which only reads.
func (s *Store) claimAction(ctx context.Context, callID string, statements []string, args pgx.NamedArgs) (claim domain.ActionClaim, err error) {
	for i, sql := range statements {
		var input []byte
		more := append(append(scopeFields(&claim.Scope), actionFields(&claim.Action, &input)...), &claim.Barred)
		claim.Call, err = scanToolCall(beside{s.pool.QueryRow(ctx, sql, args), more})
		if noRows(err) {
			continue
		}
		if err != nil {
			return claim, failed("claim the action of call "+callID, err)
		}
		claim.Action.Input = input
		claim.Scope.TurnID, claim.Scope.CallID, claim.Scope.ActionID = claim.Call.TurnID, claim.Call.ID, claim.Action.ID
		claim.Claimed = i < len(statements)-1
		if !claim.Claimed && claim.Open() && claim.Action.Status != domain.ActionPending {
			return claim, refused("claim the action of call " + callID)
		}
		return claim, nil
	}
	return claim, domain.NotFound("call %q is not one that waits for a person", callID)
}

// CommitAction stores the outcome of an action whose call was claimed, with its event. Where
// nobody has decided it in time, that is told too, and a turn that waits for nothing else goes
// on. It is superseded where a later attempt has claimed the call, or the turn has ended.
func (s *Store) CommitAction(ctx context.Context, end domain.ActionEnd) error {
	call := end.Call
	call.Result.Text, call.Result.Preview = clean(call.Result.Text), clean(call.Result.Preview)
	outcome, err := json.Marshal(call.Result)
	if err != nil {
		return fmt.Errorf("commit the action of call %s: %w", call.ID, err)
	}
	end.Event.CallID = call.ID
	doing, args := "commit the action of call "+call.ID, pgx.NamedArgs{
		"call": call.ID, "status": string(call.Status), "outcome": string(outcome),
		"action_status": string(end.Action.Status), "action_outcome": clean(end.Action.Outcome),
	}
	if end.Action.Status == domain.ActionExpired {
		return s.commitExpired(ctx, doing, end, args)
	}
	_, err = s.append(ctx, doing, sqlCommitAction, newBatch(call.TurnID, call.Attempt, []domain.NewEvent{end.Event}, args))
	return err
}

// commitExpired stores the outcome of an action that nobody decided. A decision lets the turn
// go on as it is taken; here it is this commit that does.
func (s *Store) commitExpired(ctx context.Context, doing string, end domain.ActionEnd, args pgx.NamedArgs) error {
	var told []live.Message
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		turnID := end.Call.TurnID
		if err := tx.QueryRow(ctx, sqlLockLog, pgx.NamedArgs{"turn": turnID}).Scan(&turnID); err != nil {
			return err
		}
		locked, err := goOn(ctx, tx, turnID)
		if err != nil {
			return err
		}
		events := append([]domain.NewEvent{end.Action.DecidedEvent()}, locked...)
		b := newBatch(turnID, end.Call.Attempt, append(events, end.Event), args)
		var last int64
		var at time.Time
		if err := tx.QueryRow(ctx, sqlCommitAction, b.args).Scan(&last, &at); err != nil {
			return err
		}
		told = b.messages(last, at)
		return nil
	})
	switch {
	case noRows(err):
		return refused(doing)
	case err != nil:
		return failed(doing, err)
	}
	s.tell(told...)
	return nil
}
