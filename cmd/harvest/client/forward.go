package client

import (
	"context"
	"net/http"

	"github.com/harvest-engine/harvest/internal/domain"
)

// forwards is under a machine's path.
const forwards = "port-forwards"

// PortForwards lists those of a machine.
func (c *Client) PortForwards(ctx context.Context, a Agent) ([]domain.PortForward, error) {
	list := []domain.PortForward{}
	err := c.fetch(ctx, call{method: http.MethodGet, path: agentPath(a, forwards)}, &list)
	return list, err
}

// AddPortForward makes one.
func (c *Client) AddPortForward(ctx context.Context, a Agent, port int, name string) (domain.PortForward, error) {
	var made domain.PortForward
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
