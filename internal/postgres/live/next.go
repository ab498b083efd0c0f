package live

import (
	"encoding/json"

	"github.com/harvest-engine/harvest/internal/domain"
)

// maxBatch bounds the events that one call of Next gives.
const maxBatch = 64

// Position is where a reader stands.
type Position struct {
	domain.Cursor
	// Whole says that the event at Seq was read to its end. An offset of 0 with Whole unset
	// means that a block at Seq is about to be read from its first byte.
	Whole   bool
	Attempt int // of the block that is being read; 0 where unknown
}

// At gives the position of a reader that has read up to c.
func At(c domain.Cursor) Position { return Position{Cursor: c, Whole: c.Offset == 0} }

// Next gives the events after pos and the position behind them. covered is false where the
// feed does not hold what follows, though something does or may: the database has it.
func (f *Feed) Next(pos Position) (batch []domain.Event, next Position, covered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(batch) < maxBatch {
		if !pos.Whole {
			event, after, known, more := f.inside(pos)
			if event != nil {
				batch = append(batch, *event)
			}
			pos = after
			if !more {
				return batch, pos, known
			}
			continue
		}
		e := f.find(pos.Seq + 1)
		if e == nil {
			return batch, pos, !f.beyond(pos)
		}
		if e.Type.Block() {
			pos = Position{Cursor: domain.Cursor{Seq: e.Seq}, Attempt: e.Attempt}
			continue
		}
		if e.Payload == nil {
			return batch, pos, false
		}
		pos = At(domain.Cursor{Seq: e.Seq})
		batch = append(batch, e.event(pos.Cursor, e.Payload))
	}
	return batch, pos, true
}

// beyond reports whether events after pos are known of.
func (f *Feed) beyond(pos Position) bool {
	if n := len(f.entries); n > 0 && f.entries[n-1].Seq > pos.Seq {
		return true
	}
	return f.committed.Seq > pos.Seq
}

// inside reads on in the event at pos.Seq. more says that the reader may go on.
func (f *Feed) inside(pos Position) (event *domain.Event, next Position, known, more bool) {
	e := f.find(pos.Seq)
	if e == nil {
		return nil, pos, false, false
	}
	if !e.Type.Block() { // the block that was being read never was committed
		if e.Payload == nil {
			return nil, pos, false, false
		}
		next = At(domain.Cursor{Seq: e.Seq})
		row := e.event(next.Cursor, e.Payload)
		return &row, next, true, true
	}
	if pos.Attempt != 0 && pos.Attempt != e.Attempt {
		pos.Offset = 0
	}
	pos.Attempt = e.Attempt
	if pos.Offset < e.base {
		return nil, pos, false, false
	}
	if text := e.text[min(pos.Offset-e.base, int64(len(e.text))):]; len(text) > 0 {
		pos.Offset = e.end()
		piece := e.event(pos.Cursor, TextPayload(string(text)))
		event = &piece
	}
	pos.Whole = !e.open
	return event, pos, true, pos.Whole
}

func (e *entry) event(at domain.Cursor, payload json.RawMessage) domain.Event {
	return domain.Event{Subject: e.Subject, Cursor: at, Type: e.Type, Attempt: e.Attempt, Payload: payload, At: e.At}
}

// TextPayload is the payload of a piece of a block.
func TextPayload(text string) json.RawMessage {
	body, _ := json.Marshal(struct { // a string always marshals
		Text string `json:"text"`
	}{text})
	return body
}
