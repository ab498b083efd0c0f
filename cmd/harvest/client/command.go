package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

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

// Command is a command on a machine, as it stands.
type Command struct {
	ID              string               `json:"id"`
	ProjectID       string               `json:"project_id"`
	AgentID         string               `json:"agent_id"`
	Hostname        string               `json:"hostname"`
	Command         string               `json:"command"`
	Description     string               `json:"description"`
	Env             map[string]string    `json:"env,omitempty"` // handles of secrets
	Status          domain.CommandStatus `json:"status"`
	ExitCode        *int                 `json:"exit_code"`
	Error           string               `json:"error"`
	UserID          string               `json:"user_id"`
	TurnID          string               `json:"turn_id"` // "" for a person's own
	CallID          string               `json:"call_id"`
	TimeoutSecs     int                  `json:"timeout_secs"`
	CancelRequested bool                 `json:"cancel_requested"`
	Swept           int                  `json:"swept"` // processes that it left behind, which were ended
	StdoutBytes     int64                `json:"stdout_bytes"`
	StderrBytes     int64                `json:"stderr_bytes"`
	CreatedAt       time.Time            `json:"created_at"`
	DeliverBy       time.Time            `json:"deliver_by"`
	DeliveredAt     *time.Time           `json:"delivered_at"`
	StartedAt       *time.Time           `json:"started_at"`
	ResultBy        *time.Time           `json:"result_by"`
	EndedAt         *time.Time           `json:"ended_at"`
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
func (c *Client) Commands(ctx context.Context, a Agent, before string, limit int) (list []Command, next string, err error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if before != "" {
		query.Set("cursor", before)
	}
	var page struct {
		Commands []Command `json:"commands"`
		Next     string    `json:"next_cursor"`
	}
	err = c.fetch(ctx, call{method: http.MethodGet, path: agentPath(a, "commands") + "?" + query.Encode()}, &page)
	return page.Commands, page.Next, err
}

// CommandDetail is a command with what is kept of its output.
type CommandDetail struct {
	Command
	Stdout CommandOutput       `json:"stdout"`
	Stderr CommandOutput       `json:"stderr"`
	Late   *domain.CommandLate `json:"late"` // what its machine told after its end; nil for nothing
}

// CommandOutput is what is kept of an output: its beginning, and behind a cut its end.
type CommandOutput struct {
	Head  []byte `json:"head"` // in base64, as the tail
	Tail  []byte `json:"tail"`
	Bytes int64  `json:"bytes"` // that the command wrote
	Cut   int64  `json:"cut"`   // bytes that are missing between head and tail
}

// Command reads a command by its id alone.
func (c *Client) Command(ctx context.Context, id string) (CommandDetail, error) {
	var x CommandDetail
	err := c.CommandInto(ctx, id, &x)
	return x, err
}

// CommandInto reads a command into out, which is a pointer to any form of it.
func (c *Client) CommandInto(ctx context.Context, id string, out any) error {
	return c.fetch(ctx, call{method: http.MethodGet, path: "/commands/" + segment(id)}, out)
}

// commandPath is where a command stands.
func commandPath(x Command, under string) string {
	return agentPath(Agent{ID: x.AgentID, ProjectID: x.ProjectID}, "commands", x.ID) + under
}

// FollowCommand gives the events of a command, after one that was read before or with "" from
// the first, ending after the terminal one.
func (c *Client) FollowCommand(ctx context.Context, x Command, after string) iter.Seq2[Event, error] {
	return c.followFrom(ctx, commandPath(x, "/events"), after, nil, domain.EventType.Terminal)
}

// CancelCommand asks for the end of a command.
func (c *Client) CancelCommand(ctx context.Context, x Command) error {
	return c.change(ctx, http.MethodPost, commandPath(x, "/cancel"), struct{}{})
}
