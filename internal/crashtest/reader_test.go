package crashtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// stream is what a reader makes of the events that it gets.
type stream interface {
	// path is where the events are.
	path() string
	// take takes an event with its id; over says that it was the last one wanted.
	take(id string, data []byte) (over bool, err error)
}

// reader is a client that comes and goes and is slow as it pleases, and always resumes with
// the last id that it has.
type reader struct {
	stream
	front  *front
	rng    *rand.Rand
	lastID string
	visits int
	known  int    // the visit in which the first id came
	joined func() // called at the first event; nil where it was
}

// run reads until the stream's end.
func (r *reader) run(ctx context.Context) error {
	for {
		over, err := r.visit(ctx)
		if err != nil {
			return fmt.Errorf("a reader of %s, in visit %d: %w", r.path(), r.visits, err)
		}
		if over {
			return nil
		}
		if err := pause(ctx, between(r.rng, 0, 250*time.Millisecond)); err != nil {
			return fmt.Errorf("after %d visits, at %q: %w", r.visits, r.lastID, err)
		}
	}
}

// visit connects, reads some events at some pace, and goes away. That nobody answers, or that
// the stream is cut off, is no error.
func (r *reader) visit(ctx context.Context) (over bool, err error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	header := map[string]string{}
	if r.lastID != "" {
		header["Last-Event-ID"] = r.lastID
	}
	resp, err := r.front.request(ctx, http.MethodGet, r.path(), header, nil)
	if err != nil {
		return false, nil
	}
	defer resp.Body.Close()
	r.visits++
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable: // it is being stopped
		return false, nil
	default:
		text, _ := io.ReadAll(resp.Body)
		return false, fmt.Errorf("GET %s at %q: %s %s", r.path(), r.lastID, resp.Status, text)
	}
	events := sse.NewReader(resp.Body, 1<<20)
	stay, pace := 1+r.rng.IntN(120), r.pace()
	for n := 0; n < stay || r.lastID == ""; n++ {
		e, err := events.Next()
		if err != nil {
			return false, nil
		}
		if r.lastID == "" {
			r.known = r.visits
		}
		if e.ID != "" { // not before the connection's first event with an id
			r.lastID = e.ID
		}
		if over, err = r.take(r.lastID, e.Data); err != nil || over {
			return over, err
		}
		if r.joined != nil {
			r.joined()
			r.joined = nil
		}
		if err := pause(ctx, pace()); err != nil {
			return false, nil
		}
	}
	return false, nil
}

// pace draws how long a visit's events take the reader: no time, some each, or none for a
// while in its midst.
func (r *reader) pace() func() time.Duration {
	switch r.rng.IntN(4) {
	case 0:
		each := between(r.rng, time.Millisecond, 60*time.Millisecond)
		return func() time.Duration { return each }
	case 1:
		stall, after := between(r.rng, 200*time.Millisecond, 4*time.Second), r.rng.IntN(20)
		return func() time.Duration {
			if after--; after == 0 {
				return stall
			}
			return 0
		}
	}
	return func() time.Duration { return 0 }
}

// turnStream is the events of one turn.
type turnStream struct {
	testkit.Transcript
	id string
}

func (t *turnStream) path() string { return "/turns/" + t.id + "/events" }

func (t *turnStream) take(id string, data []byte) (bool, error) {
	cursor, err := domain.ParseCursor(id)
	if err != nil {
		return false, err
	}
	var head struct{ Type domain.EventType }
	if err := json.Unmarshal(data, &head); err != nil {
		return false, err
	}
	err = t.Take(domain.Event{Cursor: cursor, Type: head.Type, Payload: data})
	return t.Ended, err
}

// feedStream is the events of a project, until a conversation is made.
type feedStream struct {
	project, conversation string
	cursor                domain.FeedCursor
	begun                 bool
	joinedAt              int64 // the place in the project's log that it joined at
	lastID                string
	own                   map[int64]domain.EventType     // of the project's log
	turns                 map[string]*testkit.Transcript // by the turn's id
}

func (f *feedStream) path() string {
	return "/projects/" + f.project + "/events?conv=" + f.conversation
}

func (f *feedStream) take(id string, data []byte) (bool, error) {
	var head struct {
		Type   domain.EventType
		TurnID string `json:"turn_id"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return false, err
	}
	if id == f.lastID { // a state, which is not stored
		switch head.Type {
		case domain.EventPresence, domain.EventUserJoin, domain.EventUserLeave, domain.EventLock:
			return false, nil
		}
		return false, fmt.Errorf("%s has no id of its own: %s", head.Type, data)
	}
	f.lastID = id
	next, err := domain.ParseFeedCursor(id)
	if err != nil {
		return false, err
	}
	if !f.begun {
		f.begin(next)
	}
	was := f.cursor
	f.cursor = next
	switch next.Log - was.Log {
	case 0:
		return false, f.ofTurn(was, head.Type, head.TurnID, data)
	case 1:
		return head.Type == domain.EventConversationCreated, f.ofProject(head.Type, head.TurnID)
	}
	return false, fmt.Errorf("%s at %s follows %s", head.Type, next, was)
}

// begin finds from the first event where the reader joined: at the log's end, with the turns
// that ran from their beginning.
func (f *feedStream) begin(first domain.FeedCursor) {
	f.begun, f.own, f.turns = true, map[int64]domain.EventType{}, map[string]*testkit.Transcript{}
	ofProject := true
	f.cursor = domain.FeedCursor{Log: first.Log, Open: map[int64]domain.Cursor{}}
	for lock, at := range first.Open {
		f.cursor.Open[lock] = domain.Cursor{}
		ofProject = ofProject && at == domain.Cursor{}
	}
	if ofProject {
		f.cursor.Log--
	}
	f.joinedAt = f.cursor.Log
}

// ofProject takes an event of the project's log.
func (f *feedStream) ofProject(kind domain.EventType, turnID string) error {
	if t := f.turns[turnID]; kind == domain.EventUnlock && (t == nil || !t.Ended) {
		return fmt.Errorf("turn %s is unlocked at %s before its end", turnID, f.cursor)
	}
	f.own[f.cursor.Log] = kind
	return nil
}

// ofTurn takes an event of a turn. The id tells its place, save of the terminal event: with
// that its turn leaves the ids.
func (f *feedStream) ofTurn(was domain.FeedCursor, kind domain.EventType, turnID string, data []byte) error {
	t := f.turns[turnID]
	if t == nil {
		t = &testkit.Transcript{}
		f.turns[turnID] = t
	}
	at := domain.Cursor{Seq: t.Cursor.Seq + 1}
	for lock, cursor := range f.cursor.Open {
		if cursor != was.Open[lock] {
			at = cursor
		}
	}
	if moved := !maps.Equal(was.Open, f.cursor.Open); !moved || kind.Terminal() != (len(f.cursor.Open) < len(was.Open)) {
		return fmt.Errorf("%s of turn %s at %s follows %s", kind, turnID, f.cursor, was)
	}
	return t.Take(domain.Event{Cursor: at, Type: kind, Payload: data})
}
