package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/harvest-engine/harvest/internal/domain"
)

// CommandOrder is the body of an order to run a command on a machine.
type CommandOrder struct {
	Command     string            `json:"command"` // a line for bash
	Description string            `json:"description,omitempty"`
	Env         map[string]string `json:"env,omitempty"` // values may be handles of secrets
	TimeoutSecs int               `json:"timeout_secs,omitempty"`
	WaitSecs    int               `json:"wait_secs,omitempty"` // for its machine to connect
	Detach      bool              `json:"detach"`              // answer at once
}

// Ordered is what becomes of an order.
type Ordered struct {
	CommandID string               `json:"command_id"`
	Status    domain.CommandStatus `json:"status"`
	ActionID  string               `json:"action_id,omitempty"` // of the action that asks for approval; "" where it runs at once
}

// RunCommand orders a command, and answers before it ends. key is the idempotency key: the same
// order with the same key is one command, however often it is sent.
func (c *Client) RunCommand(ctx context.Context, a Agent, order CommandOrder, key string) (Ordered, error) {
	var made Ordered
	order.Detach = true
	err := c.fetch(ctx, call{
		method: http.MethodPost, path: agentPath(a, "execute"), body: order, header: map[string]string{"Idempotency-Key": key},
	}, &made)
	return made, err
}

// Commands lists the commands of a machine, the newest first; next is where the next page
// begins, "" for none.
func (c *Client) Commands(ctx context.Context, a Agent, before string, limit int) (list []domain.CommandInfo, next string, err error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if before != "" {
		query.Set("cursor", before)
	}
	var page struct {
		Commands []domain.CommandInfo `json:"commands"`
		Next     string               `json:"next_cursor"`
	}
	err = c.fetch(ctx, call{method: http.MethodGet, path: agentPath(a, "commands") + "?" + query.Encode()}, &page)
	return page.Commands, page.Next, err
}

// Command reads a command by its id alone.
func (c *Client) Command(ctx context.Context, id string) (domain.CommandDetail, error) {
	var x domain.CommandDetail
	err := c.CommandInto(ctx, id, &x)
	return x, err
}

// CommandInto reads a command into out, which is a pointer to any form of it.
func (c *Client) CommandInto(ctx context.Context, id string, out any) error {
	return c.fetch(ctx, call{method: http.MethodGet, path: "/commands/" + segment(id)}, out)
}

// commandPath is where a command stands.
func commandPath(x domain.CommandInfo, under string) string {
	return agentPath(Agent{AgentInfo: domain.AgentInfo{ID: x.AgentID}, ProjectID: x.ProjectID}, "commands", x.ID) + under
}

// FollowCommand gives the events of a command, after one that was read before or with "" from
// the first, ending after the terminal one.
func (c *Client) FollowCommand(ctx context.Context, x domain.CommandInfo, after string) iter.Seq2[Event, error] {
	return c.followFrom(ctx, commandPath(x, "/events"), after, nil, domain.EventType.Terminal)
}

// CancelCommand asks for the end of a command.
func (c *Client) CancelCommand(ctx context.Context, x domain.CommandInfo) error {
	return c.change(ctx, http.MethodPost, commandPath(x, "/cancel"), struct{}{})
}
