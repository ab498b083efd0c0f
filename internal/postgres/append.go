package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

// An append is one statement made of these parts. Its first part is a guard that locks the
// subject's row and, for a call, the call's row: who finds them as expected may write.
// Locks are always taken in the order subject, call, stream.
const (
	// guardSubject expects the log to be open.
	guardSubject = `
guard as (
    select id from subjects where id = @subject and ended_at is null for no key update
)`
	// guardCall expects that the attempt is the call's highest, and still running.
	guardCall = `
open as (
    select id from subjects where id = @subject and ended_at is null for no key update
), guard as (
    select open.id, c.call_id, c.reserved, c.reserved_on from turn_calls c, open
    where c.turn_id = open.id and c.call_id = @call and c.attempt = @attempt and c.status = 'running'
    for no key update of c
)`
	// guardWriter expects, besides, that the log stands where the only writer left it.
	guardWriter = `
open as (
    select id from subjects where id = @subject and ended_at is null and last_seq = @last for no key update
), guard as (
    select open.id, c.call_id, c.reserved, c.reserved_on from turn_calls c, open
    where c.turn_id = open.id and c.call_id = @call and c.attempt = @attempt and c.status = 'running'
    for no key update of c
)`
	// appendEvents numbers and inserts @types and @payloads.
	appendEvents = `,
numbered as (
    update subjects s
    set last_seq = s.last_seq + cardinality(@types::text[]), ended_at = case when @ends::boolean then now() end
    from guard where s.id = guard.id
    returning s.id, s.stream_id, s.last_seq, s.last_seq - cardinality(@types::text[]) as base
), streamed as (
    update streams st set last_seq = st.last_seq + cardinality(@types::text[])
    from numbered where st.id = numbered.stream_id
    returning st.last_seq - cardinality(@types::text[]) as base
), appended as (
    insert into events (subject_id, subject_seq, stream_id, seq, call_id, attempt, type, payload, closed)
    select numbered.id, numbered.base + e.ord, numbered.stream_id, streamed.base + e.ord,
           e.call_id, @attempt::int, e.type,
           case when @open::boolean or @ends::boolean and e.ord = cardinality(@types::text[]) then null else e.payload::json end,
           not @open::boolean
    from numbered, streamed,
         unnest(@types::text[], @payloads::text[], @call_ids::text[]) with ordinality e(type, payload, call_id, ord)
)`
	// closeBlock ends an open block that has its row already.
	closeBlock = `,
closing as (
    update events e set payload = @block_payload::json, closed = true from guard
    where e.subject_id = guard.id and e.subject_seq = @block_seq and not e.closed
), emptied as (
    delete from event_chunks k using guard where k.subject_id = guard.id and k.subject_seq = @block_seq
)`
	// closeOpen ends whatever block is open, with the text that is stored of it.
	closeOpen = `,
closing as (
    update events e set closed = true, payload = json_build_object('text', coalesce((
        select string_agg(k.body, '' order by k.start_byte) from event_chunks k
        where k.subject_id = e.subject_id and k.subject_seq = e.subject_seq), ''))
    from guard where e.subject_id = guard.id and not e.closed
), emptied as (
    delete from event_chunks k using guard where k.subject_id = guard.id
)`
	// endSubject keeps the terminal event, the last of @types: its key makes it the only one.
	endSubject = `,
ended as (
    insert into endings (subject_id, subject_seq, type, payload)
    select id, last_seq, (@types::text[])[cardinality(@types::text[])], (@payloads::text[])[cardinality(@types::text[])]::json
    from numbered
)`
	appended = `
select last_seq, now() from numbered`
)

// batch is the arguments of an append, and what is told of it once it is committed.
type batch struct {
	subject string
	attempt int
	args    pgx.NamedArgs
	events  []domain.NewEvent
	closed  *domain.ClosedBlock
	told    []live.Message // set once it was written in the caller's transaction
}

// newBatch fills the arguments that all appends share.
func newBatch(subject string, attempt int, events []domain.NewEvent, extra pgx.NamedArgs) *batch {
	b := &batch{subject: subject, attempt: attempt, events: events, args: pgx.NamedArgs{
		"subject": subject, "attempt": attempt, "open": false, "ends": false, "block_seq": int64(0), "block_payload": "{}",
	}}
	types, payloads, calls := make([]string, len(events)), make([]string, len(events)), make([]string, len(events))
	for i, e := range events {
		types[i], payloads[i], calls[i] = string(e.Type), string(e.Payload), e.CallID
		if len(e.Payload) == 0 {
			payloads[i] = "{}"
		}
	}
	b.args["types"], b.args["payloads"], b.args["call_ids"] = types, payloads, calls
	for name, value := range extra {
		b.args[name] = value
	}
	return b
}

// close ends a block: the stored row of it, or as the first of the new events.
func (b *batch) close(block *domain.ClosedBlock, callID string) *batch {
	if block == nil {
		return b
	}
	b.closed = block
	payload := string(live.TextPayload(clean(block.Text)))
	if block.Stored {
		b.args["block_seq"], b.args["block_payload"] = block.Seq, payload
		return b
	}
	b.args["types"] = append([]string{string(block.Type)}, b.args["types"].([]string)...)
	b.args["payloads"] = append([]string{payload}, b.args["payloads"].([]string)...)
	b.args["call_ids"] = append([]string{callID}, b.args["call_ids"].([]string)...)
	return b
}

// messages gives what readers are told after the commit, which left the log at last.
func (b *batch) messages(last int64, at time.Time) []live.Message {
	messages := make([]live.Message, 0, len(b.events)+1)
	if b.closed != nil {
		messages = append(messages, live.Message{Row: &live.Row{
			Subject: b.subject, Seq: b.closed.Seq, Attempt: b.attempt, Type: b.closed.Type,
			Length: int64(len(clean(b.closed.Text))), At: at,
		}})
	}
	seq := last - int64(len(b.events))
	for _, e := range b.events {
		seq++
		row := live.Row{Subject: b.subject, Seq: seq, Attempt: b.attempt, Type: e.Type, Payload: e.Payload, At: at}
		if e.Type.Block() { // a block that was never open: its text is in the database
			row.Payload, row.Length = nil, int64(textLength(e))
		}
		messages = append(messages, live.Message{Row: &row})
	}
	return messages
}

// clean makes text storable. Writers clean text before they count its bytes, so that this
// changes nothing that was told already.
func clean(text string) string { return domain.CleanText(text) }
