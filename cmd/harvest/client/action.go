package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Actions lists the newest actions of a project, or without one those of the caller's own
// turns; with a status, those that have it.
func (c *Client) Actions(ctx context.Context, projectID string, status domain.ActionStatus) ([]domain.Action, error) {
	path := "/actions"
	if projectID != "" {
		path = "/projects/" + segment(projectID) + path
	}
	if status != "" {
		path += "?status=" + url.QueryEscape(string(status))
	}
	var list []domain.Action
	err := c.fetch(ctx, call{method: http.MethodGet, path: path}, &list)
	return list, err
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
