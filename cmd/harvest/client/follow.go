package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

// maxEvent bounds one event of a stream, in bytes.
const maxEvent = 16 << 20

// Event is an event as the server sends it.
type Event struct {
	ID   string // where a reader stands that has it
	Type domain.EventType
	Data json.RawMessage // the whole JSON object, "type" included
}

// Decode reads the event's fields into out.
func (e Event) Decode(out any) error {
	if err := json.Unmarshal(e.Data, out); err != nil {
		return fmt.Errorf("read event %s (%s): %w", e.ID, e.Type, err)
	}
	return nil
}

// follow gives the events of a stream up to the terminal one. begun is a response that
// streams already, or nil. A stream that breaks is taken up again after its last event.
func (c *Client) follow(ctx context.Context, path string, begun *http.Response) iter.Seq2[Event, error] {
	return c.followFrom(ctx, path, "", begun, domain.EventType.Terminal)
}

// FollowProject gives all that happens in a project: after an event that was read before, or
// with "" from now on, and what runs now from its beginning. It ends with an error alone.
func (c *Client) FollowProject(ctx context.Context, projectID, after string) iter.Seq2[Event, error] {
	return c.followFrom(ctx, "/projects/"+segment(projectID)+"/events", after, nil, func(domain.EventType) bool { return false })
}

// followFrom is follow from an event on, up to one that is the last.
func (c *Client) followFrom(ctx context.Context, path, after string, begun *http.Response, ends func(domain.EventType) bool) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for after := after; ; {
			response := begun
			begun = nil
			if response == nil {
				var err error
				if response, err = c.resume(ctx, path, after); err != nil {
					yield(Event{}, err)
					return
				}
			}
			last, more := read(response, after, ends, yield)
			if !more {
				return
			}
			if last == after && !pause(ctx) || ctx.Err() != nil {
				yield(Event{}, ctx.Err())
				return
			}
			after = last
		}
	}
}

// pause waits a moment, for a server that keeps hanging up is not asked without one; false where
// ctx ended.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(200 * time.Millisecond):
		return true
	}
}

func (c *Client) resume(ctx context.Context, path, after string) (*http.Response, error) {
	header := map[string]string{"Accept": "text/event-stream"}
	if after != "" {
		header["Last-Event-ID"] = after
	}
	return c.again(ctx, call{method: http.MethodGet, path: path, header: header})
}

// read yields the events of one connection and gives the id of the last; more is false
// once the caller or the stream is done.
func read(response *http.Response, after string, ends func(domain.EventType) bool, yield func(Event, error) bool) (last string, more bool) {
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent { // everything was read before
		return after, false
	}
	events := sse.NewReader(response.Body, maxEvent)
	for last = after; ; {
		raw, err := events.Next()
		if err != nil {
			return last, true // the connection ended before the terminal event
		}
		var kind struct {
			Type domain.EventType `json:"type"`
		}
		if err := json.Unmarshal(raw.Data, &kind); err != nil {
			yield(Event{}, fmt.Errorf("read an event: %w", err))
			return last, false
		}
		if raw.ID != "" {
			last = raw.ID
		}
		if !yield(Event{ID: raw.ID, Type: kind.Type, Data: raw.Data}, nil) || ends(kind.Type) {
			return last, false
		}
	}
}
