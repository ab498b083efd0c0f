package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Query is the body of a query.
type Query struct {
	ProjectID      string   `json:"-"` // "" for a person's own; else ConversationID is one of the project's
	Query          string   `json:"query"`
	ConversationID string   `json:"conversation_id,omitempty"`
	Repositories   []string `json:"repositories,omitempty"`
	Versions       []string `json:"versions,omitempty"`
	ProviderID     string   `json:"provider_id,omitempty"`
	Model          string   `json:"model,omitempty"`
	Attachments    []File   `json:"attachments,omitempty"`
}

// File is a file that goes with a query.
type File struct {
	Name     string `json:"name"`
	MimeType string `json:"mime_type"`
	Data     []byte `json:"data"` // in base64
}

// path is where the query is put.
func (q Query) path() string {
	if q.ProjectID == "" {
		return "/query"
	}
	return "/projects/" + segment(q.ProjectID) + "/query"
}

// Ask starts a turn and gives its events, ending after the terminal one. key is the
// idempotency key under which the server recognises the query after a lost answer.
func (c *Client) Ask(ctx context.Context, q Query, key string) (turnID string, events iter.Seq2[Event, error], err error) {
	response, err := c.again(ctx, call{
		method: http.MethodPost, path: q.path() + "/stream", body: q,
		header: map[string]string{"Idempotency-Key": key, "Accept": "text/event-stream"},
	})
	if err != nil {
		return "", nil, err
	}
	turnID = response.Header.Get("X-Turn-Id")
	if q.ProjectID != "" { // the answer is not the stream
		response.Body.Close()
		response = nil
	}
	return turnID, c.follow(ctx, "/turns/"+segment(turnID)+"/events", response), nil
}

// FollowTurn gives a turn's events from the first, ending after the terminal one.
func (c *Client) FollowTurn(ctx context.Context, turnID string) iter.Seq2[Event, error] {
	return c.follow(ctx, "/turns/"+segment(turnID)+"/events", nil)
}

// answerTries is how often an answer is asked for whose transfer breaks off; the turn is
// over by then, and its answer is stored.
const answerTries = 5

// Answer starts a turn, waits for its end, and gives the body of POST /query as the server
// wrote it, on one line.
func (c *Client) Answer(ctx context.Context, q Query, key string) ([]byte, error) {
	var broken error
	for range answerTries {
		response, err := c.again(ctx, call{
			method: http.MethodPost, path: q.path(), body: q, header: map[string]string{"Idempotency-Key": key},
		})
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			broken = err
			continue
		}
		var line bytes.Buffer
		if err := json.Compact(&line, text); err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		return line.Bytes(), nil
	}
	return nil, fmt.Errorf("read the answer: %w", broken)
}

// Cancel asks a turn to stop.
func (c *Client) Cancel(ctx context.Context, turnID string) error {
	response, err := c.do(ctx, call{method: http.MethodPost, path: "/turns/" + segment(turnID) + "/cancel", body: struct{}{}})
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Turn reads a turn.
func (c *Client) Turn(ctx context.Context, turnID string) (domain.Turn, error) {
	var turn domain.Turn
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/turns/" + segment(turnID)}, &turn)
	return turn, err
}
