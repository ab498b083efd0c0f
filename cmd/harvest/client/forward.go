package client

import (
	"context"
	"net/http"
	"time"
)

// PortForward gives a port of a machine a name under which people reach it.
type PortForward struct {
	ID        string    `json:"id"`
	AgentID   string    `json:"agent_id"`
	Port      int       `json:"port"`
	RouteName string    `json:"route_name"` // unique on the machine
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	URL       string    `json:"url"` // where it is reached
}

// forwards is under a machine's path.
const forwards = "port-forwards"

// PortForwards lists those of a machine.
func (c *Client) PortForwards(ctx context.Context, a Agent) ([]PortForward, error) {
	list := []PortForward{}
	err := c.fetch(ctx, call{method: http.MethodGet, path: agentPath(a, forwards)}, &list)
	return list, err
}

// AddPortForward makes one.
func (c *Client) AddPortForward(ctx context.Context, a Agent, port int, name string) (PortForward, error) {
	var made PortForward
	body := map[string]any{"port": port, "route_name": name}
	err := c.once(ctx, call{method: http.MethodPost, path: agentPath(a, forwards), body: body}, &made)
	return made, err
}

// ChangePortForward changes what changes gives: port, route_name.
func (c *Client) ChangePortForward(ctx context.Context, a Agent, id string, changes map[string]any) error {
	return c.change(ctx, http.MethodPut, agentPath(a, forwards, id), changes)
}

// DeletePortForward removes one.
func (c *Client) DeletePortForward(ctx context.Context, a Agent, id string) error {
	return c.change(ctx, http.MethodDelete, agentPath(a, forwards, id), nil)
}
