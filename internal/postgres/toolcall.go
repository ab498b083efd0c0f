package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const toolColumns = `
c.turn_id, c.round, c.call_id, c.name, coalesce(c.input, '{}'::json), c.local, c.asks, c.time_limit, c.status, c.attempt, c.outcome`

// scopeColumns is the scope of a call; see scopeFields.
const scopeColumns = `, t.user_id, coalesce(t.project_id, ''), t.repositories, t.versions`

var (
	sqlClaimTool = statement("claim a tool call", `
with open as (
    select id from subjects where id = @turn and ended_at is null for no key update
), claimed as (
    update turn_calls c set attempt = c.attempt + 1, status = 'running'
    from open where c.turn_id = open.id and c.call_id = @call and c.kind = 'tool' and not c.asks and c.status in ('pending', 'running')
    returning c.*
)
select`+toolColumns+scopeColumns+`
from claimed c join turns t on t.id = c.turn_id`)

	sqlTool = statement("read a tool call", `
select`+toolColumns+scopeColumns+`
from turn_calls c join turns t on t.id = c.turn_id
where c.turn_id = @turn and c.call_id = @call and c.kind = 'tool'`)

	sqlCommitTool = statement("commit a tool call", "with"+guardCall+appendEvents+`,
settled as (
    update turn_calls c set status = @status, outcome = @outcome::json, ended_at = now()
    from guard where c.turn_id = guard.id and c.call_id = guard.call_id
)`+appended)
)

func scanToolCall(row pgx.Row) (c domain.ToolCall, err error) {
	var input, outcome []byte
	var limit int64
	err = row.Scan(&c.TurnID, &c.Round, &c.ID, &c.Name, &input, &c.Local, &c.Asks, &limit, &c.Status, &c.Attempt, &outcome)
	if err != nil {
		return domain.ToolCall{}, err
	}
	c.Input, c.Timeout = input, time.Duration(limit)
	if len(outcome) > 0 {
		if err := json.Unmarshal(outcome, &c.Result); err != nil {
			return domain.ToolCall{}, fmt.Errorf("read the outcome of call %s: %w", c.ID, err)
		}
	}
	return c, nil
}

// ClaimToolCall takes a tool call over: its attempt counts up, and earlier attempts can
// write no more. A call with a final status has its outcome in Result, and is not claimed.
// It is superseded once the turn has ended,
// and where the call waits for a person: see ClaimAction.
func (s *Store) ClaimToolCall(ctx context.Context, turnID, callID string) (domain.ToolCall, domain.Scope, error) {
	args := pgx.NamedArgs{"turn": turnID, "call": callID}
	call, scope, err := s.toolCall(ctx, sqlClaimTool, args)
	if noRows(err) {
		if call, scope, err = s.toolCall(ctx, sqlTool, args); noRows(err) {
			return domain.ToolCall{}, domain.Scope{}, domain.NotFound("turn %s has no tool call %q", turnID, callID)
		}
		if err == nil && (call.Status == domain.CallPending || call.Status == domain.CallRunning) {
			err = refused("claim call " + callID)
		}
	}
	if err != nil && domain.CodeOf(err) == domain.CodeInternal {
		err = failed("claim call "+callID, err)
	}
	return call, scope, err
}

func (s *Store) toolCall(ctx context.Context, sql string, args pgx.NamedArgs) (domain.ToolCall, domain.Scope, error) {
	var scope domain.Scope
	call, err := scanToolCall(beside{s.pool.QueryRow(ctx, sql, args), scopeFields(&scope)})
	scope.TurnID, scope.CallID = call.TurnID, call.ID
	return call, scope, err
}

// scopeFields are where scopeColumns are read into.
func scopeFields(scope *domain.Scope) []any {
	return []any{&scope.UserID, &scope.ProjectID, &scope.Repositories, &scope.Versions}
}

// CommitToolCall stores the outcome of a call that was claimed, with its event. It is
// superseded where a later attempt has claimed the call.
func (s *Store) CommitToolCall(ctx context.Context, call domain.ToolCall, event domain.NewEvent) error {
	status := domain.CallDone
	if call.Result.Error {
		status = domain.CallError
	}
	call.Result.Text, call.Result.Preview = clean(call.Result.Text), clean(call.Result.Preview)
	outcome, err := json.Marshal(call.Result)
	if err != nil {
		return fmt.Errorf("commit call %s: %w", call.ID, err)
	}
	event.CallID = call.ID
	_, err = s.append(ctx, "commit call "+call.ID, sqlCommitTool, newBatch(call.TurnID, call.Attempt, []domain.NewEvent{event},
		pgx.NamedArgs{"call": call.ID, "status": string(status), "outcome": string(outcome)}))
	return err
}
