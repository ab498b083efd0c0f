package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/harvest-engine/harvest/internal/domain"
)

// ActionQuery asks for actions.
type ActionQuery struct {
	ProjectID string // "": those of the caller's own turns
	Status    domain.ActionStatus
	Tool      string
	Before    string // id of the action after which the page begins; "" for the newest
	Limit     int    // of the page, from 1
}

// Actions lists actions, the newest first; next is where the next page begins, "" for none.
func (c *Client) Actions(ctx context.Context, q ActionQuery) (list []domain.Action, next string, err error) {
	path := "/actions"
	if q.ProjectID != "" {
		path = "/projects/" + segment(q.ProjectID) + path
	}
	values := url.Values{"limit": {strconv.Itoa(q.Limit)}}
	for name, value := range map[string]string{"status": string(q.Status), "tool": q.Tool, "cursor": q.Before} {
		if value != "" {
			values.Set(name, value)
		}
	}
	var page struct {
		Actions []domain.Action `json:"actions"`
		Next    string          `json:"next_cursor"`
	}
	err = c.fetch(ctx, call{method: http.MethodGet, path: path + "?" + values.Encode()}, &page)
	return page.Actions, page.Next, err
}

// Action reads an action.
func (c *Client) Action(ctx context.Context, id string) (domain.Action, error) {
	var a domain.Action
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/actions/" + segment(id)}, &a)
	return a, err
}

// Decide approves or rejects an action as it was read, by the Status, Reason, Value and
// Generate of a decision. The call is made once: whether one whose answer is lost was
// recorded, the action tells.
func (c *Client) Decide(ctx context.Context, seen domain.Action, d domain.Decision) error {
	body := map[string]any{
		"approved": d.Status == domain.ActionApproved, "nonce": seen.Nonce, "hash": seen.Hash, "reason": d.Reason, "generate": d.Generate,
	}
	if !d.Value.Empty() {
		body["value"] = d.Value.Reveal()
	}
	response, err := c.do(ctx, call{method: http.MethodPost, path: "/actions/" + segment(seen.ID) + "/decide", body: body})
	if err != nil {
		return err
	}
	return response.Body.Close()
}
