package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// maxHistory bounds the messages of one history.
const maxHistory = 1000

var (
	sqlDialogueTurn = statement("read a dialogue's turn", `
select`+turnColumns+`, t.provider_id, t.model, t.cancel_requested_at is not null, t.digest, t.digest_round, coalesce(t.project_id, ''),
    coalesce((select c.title from conversations c where c.id = t.conversation_id), '')
from turns t where t.id = @turn`)

	// From the person's message up the tree, to the newest summary.
	sqlHistory = statement("read a history", `
with recursive past as (
    select m.id, m.parent_id, m.role, m.content, m.characters, null::text as summary, 0 as back
    from turns t join messages m on m.id = t.message_id where t.id = @turn
    union all
    select m.id, m.parent_id, m.role, m.content, m.characters, m.summary, past.back + 1
    from past join messages m on m.id = past.parent_id
    where past.summary is null and past.back < @limit
)
select id, role, content, characters, coalesce(summary, ''), back from past order by back desc`)

	sqlRounds = statement("read a turn's rounds", `
select r.round, r.content from turn_messages r join turns t on t.id = r.turn_id
where r.turn_id = @turn and r.round > t.digest_round order by r.round`)

	sqlCalls = statement("read a turn's tool calls", `
select`+toolColumns+` from turn_calls c join turns t on t.id = c.turn_id
where c.turn_id = @turn and c.kind = 'tool' and c.round > t.digest_round order by c.round, c.ord`)
)

// pastMessage is a message as it is stored.
type pastMessage struct {
	domain.PastMessage
	content []byte
	summary string
	back    int // 0 for the turn's own message
}

// Dialogue loads what a model call of the turn is told.
func (s *Store) Dialogue(ctx context.Context, turnID string) (domain.Dialogue, error) {
	var d domain.Dialogue
	var past []pastMessage
	var calls []domain.ToolCall
	digestRound := -1
	args := pgx.NamedArgs{"turn": turnID, "limit": maxHistory}
	steps := &pgx.Batch{}
	steps.Queue(sqlDialogueTurn, args).QueryRow(func(row pgx.Row) (err error) {
		d.Turn, err = scanTurn(beside{row, []any{&d.Provider.ProviderID, &d.Provider.Model, &d.Canceled, &d.Digest, &digestRound, &d.Scope.ProjectID, &d.Title}})
		return err
	})
	steps.Queue(sqlHistory, args).Query(func(rows pgx.Rows) (err error) {
		past, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (m pastMessage, err error) {
			err = row.Scan(&m.ID, &m.Role, &m.content, &m.Characters, &m.summary, &m.back)
			return m, err
		})
		return err
	})
	steps.Queue(sqlRounds, args).Query(func(rows pgx.Rows) (err error) {
		d.Rounds, err = pgx.CollectRows(rows, scanRound)
		return err
	})
	steps.Queue(sqlCalls, args).Query(func(rows pgx.Rows) (err error) {
		calls, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.ToolCall, error) { return scanToolCall(row) })
		return err
	})
	err := s.pool.SendBatch(ctx, steps).Close()
	if noRows(err) {
		return domain.Dialogue{}, domain.NotFound("there is no turn %q", turnID)
	}
	if err != nil {
		return domain.Dialogue{}, failed("load the dialogue of turn "+turnID, err)
	}
	attach(d.Rounds, calls)
	d.Scope.TurnID, d.Scope.UserID = turnID, d.Turn.UserID
	d.Scope.Repositories, d.Scope.Versions = d.Turn.Repositories, d.Turn.Versions
	return d, s.addPast(ctx, &d, past)
}

// beside scans a row whose first columns are a turn's, and more after them.
type beside struct {
	pgx.Row
	more []any
}

func (b beside) Scan(into ...any) error { return b.Row.Scan(append(into, b.more...)...) }

func scanRound(row pgx.CollectableRow) (r domain.DialogueTurn, err error) {
	var content []byte
	if err := row.Scan(&r.Round, &content); err != nil {
		return r, err
	}
	r.Message.Role = domain.RoleAssistant
	if err := json.Unmarshal(content, &r.Message.Blocks); err != nil {
		return r, fmt.Errorf("read round %d: %w", r.Round, err)
	}
	return r, nil
}

// attach gives each round its calls.
func attach(rounds []domain.DialogueTurn, calls []domain.ToolCall) {
	for _, call := range calls {
		i := slices.IndexFunc(rounds, func(r domain.DialogueTurn) bool { return r.Round == call.Round })
		if i >= 0 {
			rounds[i].Calls = append(rounds[i].Calls, call)
		}
	}
}

// addPast reads the messages' contents: the person's own, and those before it.
func (s *Store) addPast(ctx context.Context, d *domain.Dialogue, past []pastMessage) error {
	for _, m := range past {
		if m.summary != "" { // it stands for this message and all before
			d.Summary, d.History = m.summary, nil
			continue
		}
		blocks, err := s.blocks(ctx, feedOf(d.Turn.ProjectID, d.Turn.UserID), m.content)
		if err != nil {
			return fmt.Errorf("load the dialogue of turn %s: %w", d.Turn.ID, err)
		}
		m.Blocks = blocks
		if m.back == 0 {
			d.Message = m.Message
			continue
		}
		d.History = append(d.History, m.PastMessage)
	}
	return nil
}
