package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

const (
	finishTurn = `,
owed as (
    select t.user_id, c.reserved_on as day, sum(c.reserved) as reserved
    from guard join turn_calls c on c.turn_id = guard.id join turns t on t.id = guard.id
    where c.reserved > 0 group by 1, 2
), released as (
    update budgets b set reserved = greatest(0, b.reserved - owed.reserved)
    from owed where b.user_id = owed.user_id and b.day = owed.day
), over as (
    update turns t
    set status = @status, reason = @reason, answer = @answer, sources = @sources::json, question = @question::json,
        error_code = @error_code, error = @error, ended_at = now(),
        afterword_due = @status = 'done' and t.conversation_id is not null and coalesce(t.provider_used ->> 'kind', 'offline') <> 'offline'
    from guard where t.id = guard.id
    returning t.id, t.conversation_id, t.message_id
), reply as (
    insert into messages (id, conversation_id, parent_id, turn_id, role, content, characters, body, depth)
    select @message, over.conversation_id, p.id, over.id, 'assistant', @content::json, @characters::int, @body, 1 + coalesce(p.depth, 0)
    from over left join messages p on p.id = over.message_id -- gone with its conversation, if that was deleted
), unlocked as (
    update conversations c set active_turn_id = null, head_id = @message, updated_at = now()
    from over where c.id = over.conversation_id and c.active_turn_id = over.id
)`
	// endActions ends what waits for a person. What was begun may have taken effect.
	endActions = `,
undone as (
    update actions a
    set status = case when a.status = 'applying' then 'unknown' else 'expired' end, ended_at = now(), told_at = now(),
        outcome = case when a.status = 'applying' then @undone_begun else @undone_waiting end
    from guard where a.turn_id = guard.id and a.status in ('pending', 'approved', 'applying')
)`
)

// What becomes of the actions of a turn that ends before them.
const (
	undoneBegun   = "The turn ended while this ran; whether it took effect can't be known."
	undoneWaiting = "The turn ended before this was run."
)

var (
	sqlFinish = statement("finish a turn", "with"+guardSubject+appendEvents+closeOpen+endSubject+finishTurn+appended)
	// Only a turn that is cut off leaves actions.
	sqlCutOff = statement("finish a turn, its actions", "with"+guardSubject+appendEvents+closeOpen+endSubject+finishTurn+endActions+appended)

	sqlHoldConversation = statement("hold a conversation", `select from conversations where id = @conversation for no key update`)
	sqlHoldProjectLog   = statement("hold a project's log", `select from subjects where id = @project for no key update`)

	// What was said so far and not dropped by a retry.
	sqlPartial = statement("read a partial answer", `
select coalesce(e.payload->>'text', (
    select string_agg(k.body, '' order by k.start_byte) from event_chunks k
    where k.subject_id = e.subject_id and k.subject_seq = e.subject_seq), '')
from events e
where e.subject_id = @turn and e.type = 'text_delta' and not exists (
    select from events r where r.subject_id = e.subject_id and r.type = 'retry' and r.call_id = e.call_id and r.subject_seq > e.subject_seq)
order by e.subject_seq`)
)

// FinishTurn ends a turn: its outcome, the reply in the conversation, the terminal event and
// the release of the lock are one commit. A turn that has ended stays as it is; the turn
// given is what is stored, or of a Known one its Status and Reason.
func (s *Store) FinishTurn(ctx context.Context, end domain.TurnEnd) (domain.Turn, error) {
	turn, err := s.unfinished(ctx, end)
	if err != nil || turn.Status.Final() {
		return turn, err
	}
	b, err := finishBatch(turn, end)
	if err != nil {
		return domain.Turn{}, fmt.Errorf("finish turn %s: %w", turn.ID, err)
	}
	if turn.ProjectID == "" {
		_, err = s.append(ctx, "finish turn "+turn.ID, finishSQL(end.Status), b)
	} else {
		err = s.finishShared(ctx, turn, finishSQL(end.Status), b)
	}
	if err != nil && domain.CodeOf(err) != domain.CodeSuperseded && !uniqueViolation(err) {
		return domain.Turn{}, err
	}
	if err == nil && end.Known != nil { // as it was known, so it has ended
		turn.Status, turn.Reason = end.Status, end.Reason
		return turn, nil
	}
	return s.Turn(ctx, end.TurnID)
}

// finishSQL chooses the statement for an end.
func finishSQL(status domain.TurnStatus) string {
	if status == domain.TurnDone {
		return sqlFinish
	}
	return sqlCutOff
}

// finishShared ends a turn of a project: the project's log tells of it in the same commit.
// Locks are taken in the order of all writers: conversation, project's log, turn's log, stream.
func (s *Store) finishShared(ctx context.Context, turn domain.Turn, finish string, b *batch) error {
	doing := "finish turn " + turn.ID
	var messages []live.Message
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		args := pgx.NamedArgs{"conversation": turn.ConversationID, "project": projectLog(turn.ProjectID)}
		var last int64
		var at time.Time
		steps := &pgx.Batch{} // in one go: all turns of the project wait for who holds its log
		steps.Queue(sqlHoldConversation, args)
		steps.Queue(sqlHoldProjectLog, args)
		steps.Queue(finish, b.args).QueryRow(func(row pgx.Row) error { return row.Scan(&last, &at) })
		if err := tx.SendBatch(ctx, steps).Close(); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlDropOffers, pgx.NamedArgs{"turn": turn.ID}); err != nil {
			return err
		}
		events := []domain.NewEvent{domain.NewPayload(domain.EventUnlock, map[string]any{
			"conv_id": turn.ConversationID, "turn_id": turn.ID, "turn_seq": last,
		})}
		if turn.ConversationID != "" {
			events = append(events, conversationUpdated(turn.ConversationID, at))
		}
		_, told, err := note(ctx, tx, turn.ProjectID, events...)
		messages = append(b.messages(last, at), told...)
		return err
	})
	switch {
	case noRows(err):
		return refused(doing)
	case err != nil:
		return failed(doing, err)
	}
	s.tell(messages...)
	return nil
}

func (s *Store) unfinished(ctx context.Context, end domain.TurnEnd) (domain.Turn, error) {
	if end.Known != nil {
		return *end.Known, nil
	}
	return s.Turn(ctx, end.TurnID)
}

func finishBatch(turn domain.Turn, end domain.TurnEnd) (*batch, error) {
	turn.Status, turn.Reason, turn.Sources, turn.Question = end.Status, end.Reason, end.Sources, end.Question
	turn.Answer, turn.ErrorCode, turn.Error = clean(end.Answer), end.Code, clean(end.Error)
	if turn.Sources == nil {
		turn.Sources = []domain.Source{}
	}
	var events []domain.NewEvent
	if end.Note != "" {
		note := clean(end.Note)
		turn.Answer += note
		events = append(events, domain.NewEvent{Type: domain.EventTextDelta, Payload: live.TextPayload(note)})
	}
	events = append(events, turn.EndEvent())
	sources, err := json.Marshal(turn.Sources)
	if err != nil {
		return nil, err
	}
	var question *string
	if turn.Question != nil {
		body, err := json.Marshal(turn.Question)
		if err != nil {
			return nil, err
		}
		text := string(body)
		question = &text
	}
	reply := replyText(turn)
	content, err := json.Marshal([]domain.Block{{Type: domain.BlockText, Text: reply}})
	if err != nil {
		return nil, err
	}
	return newBatch(turn.ID, 0, events, pgx.NamedArgs{
		"ends": true, "status": string(turn.Status), "reason": string(turn.Reason), "answer": turn.Answer, "sources": string(sources),
		"question": question, "error_code": string(turn.ErrorCode), "error": turn.Error,
		"message": replyID(turn.ID), "content": string(content), "body": reply, "characters": utf8.RuneCountInString(reply),
		"undone_begun": undoneBegun, "undone_waiting": undoneWaiting,
	}), nil
}

// replyID is the id of the message that a turn's outcome becomes.
func replyID(turnID string) string { return "reply-" + turnID }

// replyText is what the history holds of a turn's outcome: without an answer, why there is none.
func replyText(turn domain.Turn) string {
	text := turn.Answer
	if turn.Question != nil && !strings.Contains(text, turn.Question.Question) {
		text = strings.TrimSpace(text + "\n\n" + turn.Question.Question)
	}
	switch {
	case turn.Status == domain.TurnCanceled:
		text = strings.TrimSpace(text + "\n\n[The person stopped this answer.]")
	case turn.Status == domain.TurnFailed:
		text = strings.TrimSpace(text + "\n\n[This answer failed: " + turn.Error + "]")
	case text == "":
		text = "[No answer was given.]"
	}
	return text
}

// PartialAnswer gives what a turn's models have said so far, a paragraph for each block.
func (s *Store) PartialAnswer(ctx context.Context, turnID string) (string, error) {
	rows, err := s.pool.Query(ctx, sqlPartial, pgx.NamedArgs{"turn": turnID})
	if err != nil {
		return "", failed("read the partial answer of turn "+turnID, err)
	}
	blocks, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", failed("read the partial answer of turn "+turnID, err)
	}
	return strings.TrimSpace(strings.Join(blocks, "\n\n")), nil
}
