package testkit

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Transcript is what one reader of an event log has put together. It checks what holds for
// every reader, however often it went away and came back.
type Transcript struct {
	Cursor domain.Cursor // of the last event
	Events []domain.Event
	Ended  bool // the terminal event came
	texts  map[string]string
	types  map[int64]domain.EventType
}

// Take adds the next event, or says what is wrong with its place.
func (t *Transcript) Take(e domain.Event) error {
	if t.types == nil {
		t.texts, t.types = map[string]string{}, map[int64]domain.EventType{}
	}
	if t.Ended {
		return fmt.Errorf("%s follows the terminal event", e.Type)
	}
	if e.Cursor.Seq != t.Cursor.Seq && e.Cursor.Seq != t.Cursor.Seq+1 {
		return fmt.Errorf("event %s (%s) follows %s", e.Cursor, e.Type, t.Cursor)
	}
	if e.Type.Block() {
		text, err := textOf(e)
		if err != nil {
			return err
		}
		key := blockKey(e)
		t.texts[key] += text
		if int64(len(t.texts[key])) != e.Cursor.Offset {
			return fmt.Errorf("block %s has %d bytes at cursor %s", key, len(t.texts[key]), e.Cursor)
		}
	} else if e.Cursor.Seq == t.Cursor.Seq && t.Cursor.Offset == 0 {
		return fmt.Errorf("event %s came twice", e.Cursor)
	}
	t.types[e.Cursor.Seq] = e.Type
	t.Cursor, t.Ended = e.Cursor, e.Type.Terminal()
	t.Events = append(t.Events, e)
	return nil
}

// Agrees checks the transcript against the log as it is stored, read from its beginning once
// it had ended. A reader may have more of a block than is stored only where a retry dropped
// it, or, with killed set, where its writer died before the end.
func (t *Transcript) Agrees(stored []domain.Event, killed bool) error {
	if !t.Ended {
		return fmt.Errorf("the transcript has no terminal event")
	}
	for i, e := range stored {
		if got := t.types[e.Cursor.Seq]; got != e.Type {
			return fmt.Errorf("place %d holds %q, want %q", e.Cursor.Seq, got, e.Type)
		}
		if !e.Type.Block() {
			continue
		}
		want, err := textOf(e)
		if err != nil {
			return err
		}
		next := stored[i+1].Type
		dropped := next == domain.EventRetry || next.Terminal() && killed
		if got := t.texts[blockKey(e)]; got != want && !(dropped && strings.HasPrefix(got, want)) {
			return fmt.Errorf("block %d has %q, want %q", e.Cursor.Seq, got, want)
		}
	}
	return nil
}

func textOf(e domain.Event) (string, error) {
	var body struct{ Text string }
	if err := json.Unmarshal(e.Payload, &body); err != nil {
		return "", fmt.Errorf("event %s: %w", e.Cursor, err)
	}
	return body.Text, nil
}

func blockKey(e domain.Event) string { return fmt.Sprintf("%d/%d", e.Cursor.Seq, e.Attempt) }
