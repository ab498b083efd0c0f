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

// pageSize bounds the rows that one read gives.
const pageSize = 200

var (
	sqlReadEvents = statement("read events", `
select e.subject_seq, e.attempt, e.type, coalesce(e.payload, n.payload), e.closed, e.at, coalesce(k.body, '')
from events e
left join endings n on n.subject_id = e.subject_id and n.subject_seq = e.subject_seq
left join lateral (
    select string_agg(c.body, '' order by c.start_byte) as body from event_chunks c
    where c.subject_id = e.subject_id and c.subject_seq = e.subject_seq
) k on not e.closed
where e.subject_id = @subject and e.subject_seq >= @from
  and e.at >= (select created_at - interval '1 hour' from subjects where id = @subject)
order by e.subject_seq
limit @limit`)

	sqlReadEnding = statement("read the ending", `
select s.last_seq, coalesce(n.subject_seq, 0), coalesce(n.type, ''), n.payload, coalesce(n.at, now())
from subjects s left join endings n on n.subject_id = s.id
where s.id = @subject`)
)

// stored is a row of the log.
type stored struct {
	seq     int64
	attempt int
	typ     domain.EventType
	payload json.RawMessage
	closed  bool
	at      time.Time
	text    string // of an open block
}

// page is a piece of a log.
type page struct {
	events []domain.Event
	pos    live.Position // behind it
	full   bool          // there may be more rows
}

// readEvents gives the events after pos that are stored, at most pageSize rows.
func (s *Store) readEvents(ctx context.Context, subject string, pos live.Position) (page, error) {
	from := pos.Seq
	if pos.Whole {
		from++
	}
	rows, err := s.pool.Query(ctx, sqlReadEvents, pgx.NamedArgs{"subject": subject, "from": from, "limit": pageSize})
	if err != nil {
		return page{}, failed("read events", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r stored, err error) {
		err = row.Scan(&r.seq, &r.attempt, &r.typ, &r.payload, &r.closed, &r.at, &r.text)
		return r, err
	})
	if err != nil {
		return page{}, failed("read events", err)
	}
	p := page{pos: pos, full: len(found) == pageSize}
	for i, r := range found {
		if i == 0 {
			p.events = trimmed(subject, pos, r.seq)
		}
		var event *domain.Event
		if event, p.pos, err = r.read(subject, p.pos); err != nil {
			return page{}, err
		}
		if event != nil {
			p.events = append(p.events, *event)
		}
	}
	return p, nil
}

// trimmed tells a reader at pos whose next event is next that those between are no longer
// kept; nil where there are none.
func trimmed(subject string, pos live.Position, next int64) []domain.Event {
	missing := next - pos.Seq - 1
	if !pos.Whole {
		missing++ // the rest of a block
	}
	if missing <= 0 {
		return nil
	}
	return []domain.Event{{
		Subject: subject, Cursor: domain.Cursor{Seq: next - 1}, Type: domain.EventTrimmed, At: time.Now(),
		Payload: domain.NewPayload(domain.EventTrimmed, map[string]any{
			"message": "the steps before this are no longer kept; the terminal event, which still comes, holds the outcome", "events": missing,
		}).Payload,
	}}
}

// read gives what a reader at pos has not read of the row; nil where that is nothing.
func (r stored) read(subject string, pos live.Position) (*domain.Event, live.Position, error) {
	event := domain.Event{Subject: subject, Type: r.typ, Attempt: r.attempt, Payload: r.payload, At: r.at}
	if !r.typ.Block() {
		event.Cursor = domain.Cursor{Seq: r.seq}
		return &event, live.At(event.Cursor), nil
	}
	text := r.text
	if r.closed {
		var body struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(r.payload, &body); err != nil {
			return nil, pos, fmt.Errorf("read the block %d of %s: %w", r.seq, subject, err)
		}
		text = body.Text
	}
	begun := int64(0)
	if pos.Seq == r.seq && !pos.Whole && (pos.Attempt == 0 || pos.Attempt == r.attempt) {
		begun = min(pos.Offset, int64(len(text)))
	}
	after := live.Position{Cursor: domain.Cursor{Seq: r.seq, Offset: int64(len(text))}, Whole: r.closed, Attempt: r.attempt}
	if pos.Seq == r.seq && !pos.Whole && pos.Offset > after.Offset && !r.closed {
		after.Offset = pos.Offset // it has read ahead of what is stored
	}
	if begun == int64(len(text)) {
		return nil, after, nil
	}
	event.Cursor, event.Payload = after.Cursor, live.TextPayload(text[begun:])
	return &event, after, nil
}

// ending gives the terminal event where a reader at pos has not had it, whether its row is
// still kept or not. over says that nothing will follow pos.
func (s *Store) ending(ctx context.Context, subject string, pos live.Position) (event *domain.Event, over bool, err error) {
	var last int64
	e := domain.Event{Subject: subject}
	err = s.pool.QueryRow(ctx, sqlReadEnding, pgx.NamedArgs{"subject": subject}).
		Scan(&last, &e.Cursor.Seq, &e.Type, &e.Payload, &e.At)
	switch {
	case noRows(err):
		return nil, true, domain.NotFound("there is no turn or run %q", subject)
	case err != nil:
		return nil, false, failed("read the end of the log", err)
	case e.Cursor.Seq == 0:
		return nil, false, nil
	case pos.Seq >= e.Cursor.Seq && pos.Whole:
		return nil, true, nil
	}
	return &e, true, nil
}
