package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The commit of a model call is put together of what it has to do: each part that has nothing
// to do would still cost its share of every commit, and the closing of a block, which looks into
// every month of the events, as much as all others.
const (
	settleCall = `,
settled as (
    update turn_calls c set status = 'done', outcome = @outcome::json, name = @model::text, reserved = 0, ended_at = now()
    from guard where c.turn_id = guard.id and c.call_id = guard.call_id
), said as (
    insert into turn_messages (turn_id, round, content)
    select id, @round::int, @content::json from guard where @content::json is not null
), asked as (
    insert into turn_calls (turn_id, call_id, kind, round, ord, name, input, local, asks, time_limit, status, outcome)
    select guard.id, a.call_id, 'tool', @round::int, a.ord, a.name, a.input::json, a.local, a.asks, a.time_limit, a.status, a.outcome::json
    from guard, unnest(@tool_ids::text[], @tool_names::text[], @tool_inputs::text[], @tool_local::boolean[], @tool_asks::boolean[],
                       @tool_limits::bigint[], @tool_status::text[], @tool_outcomes::text[])
         with ordinality a(call_id, name, input, local, asks, time_limit, status, outcome, ord)
), counted as (
    update turns t
    set input_tokens = t.input_tokens + @input_tokens::bigint, output_tokens = t.output_tokens + @output_tokens::bigint,
        cached_input_tokens = t.cached_input_tokens + @cached_tokens::bigint, cost = t.cost + @cost::double precision,
        tool_calls_made = t.tool_calls_made + cardinality(@tool_ids::text[]),
        status = case when @pauses::boolean then 'waiting' else t.status end,
        provider_used = coalesce(@provider::json, t.provider_used),
        intent = coalesce(nullif(@intent::text, ''), t.intent),
        digest = case when @digest_round::int >= 0 then @summary::text else t.digest end,
        digest_round = greatest(t.digest_round, @digest_round::int)
    from guard where t.id = guard.id
)`
	// settleBudget moves what was reserved to what is spent.
	settleBudget = `,
spent as (
    insert into budgets as b (user_id, day, spent)
    select t.user_id, coalesce(guard.reserved_on, (now() at time zone 'utc')::date), @cost::double precision
    from guard join turns t on t.id = guard.id where @cost::double precision > 0 or guard.reserved > 0
    on conflict (user_id, day) do update
    set spent = b.spent + excluded.spent, reserved = greatest(0, b.reserved - (select guard.reserved from guard))
)`
	// proposeActions makes the calls that ask wait for a person.
	proposeActions = `,
proposed as (
    insert into actions (id, turn_id, call_id, conversation_id, project_id, requester, tool, input, hash, description, nonce, expires_at)
    select a.id, t.id, a.call_id, coalesce(t.conversation_id, ''), t.project_id, t.user_id, a.tool, a.input::json, a.hash, a.description, a.nonce, a.expires_at
    from guard join turns t on t.id = guard.id,
         unnest(@action_ids::text[], @action_calls::text[], @action_tools::text[], @action_inputs::text[], @action_hashes::text[],
                @action_descriptions::text[], @action_nonces::text[], @action_expiries::timestamptz[])
         a(id, call_id, tool, input, hash, description, nonce, expires_at)
)`
	keepSummary = `,
summed as (
    update messages m set summary = @summary::text from guard where m.id = @summary_message::text
)`
)

// commitParts says what a commit of a round has to do besides.
type commitParts struct{ block, cost, actions bool }

var (
	sqlCommitRound   = commitStatements()
	sqlCommitSummary = statement("commit a summary", "with"+guardWriter+appendEvents+closeBlock+settleCall+settleBudget+keepSummary+appended)
)

// commitStatements makes a statement for each way in which parts come together.
func commitStatements() map[commitParts]string {
	all := map[commitParts]string{}
	for n := range 8 {
		parts := commitParts{block: n&1 > 0, cost: n&2 > 0, actions: n&4 > 0}
		name, sql := "commit a round", "with"+guardWriter+appendEvents
		for _, part := range []struct {
			wanted    bool
			name, sql string
		}{
			{parts.block, ", its block", closeBlock}, {true, "", settleCall},
			{parts.cost, ", its cost", settleBudget}, {parts.actions, ", its actions", proposeActions},
		} {
			if part.wanted {
				name, sql = name+part.name, sql+part.sql
			}
		}
		all[parts] = statement(name, sql+appended)
	}
	return all
}

// commitSQL chooses the statement for a commit.
func commitSQL(c domain.ModelCommit) string {
	if c.Summary != nil {
		return sqlCommitSummary
	}
	return sqlCommitRound[commitParts{
		block: c.Close != nil && c.Close.Stored, cost: c.Usage.Cost > 0 || c.Claim.Reserved, actions: len(c.Actions) > 0,
	}]
}

// CommitModelCall commits the outcome of a model call: its last block, its events, the
// message, the calls that the message asks for, and what it cost. It gives the log's new
// end, or superseded where a later attempt has claimed the call.
func (s *Store) CommitModelCall(ctx context.Context, c domain.ModelCommit) (last int64, err error) {
	args, err := commitArgs(c)
	if err != nil {
		return 0, fmt.Errorf("commit call %s: %w", c.Claim.CallID, err)
	}
	return s.append(ctx, "commit call "+c.Claim.CallID, commitSQL(c), callBatch(c.CallWrite, args))
}

func commitArgs(c domain.ModelCommit) (pgx.NamedArgs, error) {
	args := pgx.NamedArgs{
		"outcome": string(c.Outcome), "round": c.Round, "content": nil, "provider": nil, "model": "", "intent": string(c.Intent),
		"cost": c.Usage.Cost, "input_tokens": c.Usage.InputTokens, "output_tokens": c.Usage.OutputTokens, "cached_tokens": c.Usage.CachedInputTokens,
		"digest_round": -1, "summary": "", "summary_message": "",
		"pauses": len(c.Actions) > 0,
	}
	addActions(args, c.Actions)
	if c.Message != nil {
		content, err := json.Marshal(cleanMessage(*c.Message).Blocks)
		if err != nil {
			return nil, err
		}
		args["content"] = string(content)
	}
	if c.Provider != nil {
		provider, err := json.Marshal(c.Provider)
		if err != nil {
			return nil, err
		}
		args["provider"], args["model"] = string(provider), c.Provider.Model
	}
	if c.Summary != nil {
		args["summary"], args["summary_message"] = clean(c.Summary.Text), c.Summary.MessageID
		if c.Summary.MessageID == "" {
			args["digest_round"] = c.Summary.Round
		}
	}
	return args, addTools(args, c.Tools)
}

// addTools spreads the calls over one array a column.
func addTools(args pgx.NamedArgs, calls []domain.ToolCall) error {
	n := len(calls)
	ids, names, inputs, status := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	local, asks, limits, outcomes := make([]bool, n), make([]bool, n), make([]int64, n), make([]*string, n)
	for i, c := range calls {
		ids[i], names[i], inputs[i], status[i] = c.ID, clean(c.Name), string(c.Input), string(c.Status)
		local[i], asks[i], limits[i] = c.Local, c.Asks, int64(c.Timeout)
		if strings.TrimSpace(inputs[i]) == "" {
			inputs[i] = "{}"
		}
		if c.Status == domain.CallPending {
			continue
		}
		body, err := json.Marshal(c.Result) // refused before it could run
		if err != nil {
			return err
		}
		text := string(body)
		outcomes[i] = &text
	}
	for name, column := range map[string]any{
		"tool_ids": ids, "tool_names": names, "tool_inputs": inputs, "tool_status": status,
		"tool_local": local, "tool_asks": asks, "tool_limits": limits, "tool_outcomes": outcomes,
	} {
		args[name] = column
	}
	return nil
}

// addActions spreads the actions over one array a column.
func addActions(args pgx.NamedArgs, actions []domain.Action) {
	n := len(actions)
	columns := map[string][]string{}
	for _, name := range []string{"ids", "calls", "tools", "inputs", "hashes", "descriptions", "nonces"} {
		columns[name] = make([]string, n)
	}
	expiries := make([]time.Time, n)
	for i, a := range actions {
		for name, value := range map[string]string{
			"ids": a.ID, "calls": a.CallID, "tools": clean(a.Name), "inputs": string(a.Input), "hashes": a.Hash,
			"descriptions": clean(a.Description), "nonces": a.Nonce,
		} {
			columns[name][i] = value
		}
		expiries[i] = a.ExpiresAt
	}
	for name, column := range columns {
		args["action_"+name] = column
	}
	args["action_expiries"] = expiries
}
