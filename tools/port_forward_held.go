package tools

import (
	"context"
	"encoding/json"

	"github.com/harvest-engine/harvest/internal/domain"
)

// oneForward is what the tools share that change a port forward.
type oneForward struct{ forwardShelf }

// forwardShown names a port forward, with what was shown of it.
type forwardShown struct {
	AgentID      string `json:"agent_id" need:""`
	ID           string `json:"id" need:""`
	Hostname     string `json:"hostname"` // of its machine
	WasPort      int    `json:"was_port"`
	WasRouteName string `json:"was_route_name"`
}

// Pin says in the input what the port forward is, as people are shown it.
func (t oneForward) Pin(ctx context.Context, scope domain.Scope, input json.RawMessage) (json.RawMessage, error) {
	in, err := decode[forwardShown](input)
	if err != nil {
		return nil, err
	}
	f, err := t.forwards.PortForward(ctx, scope.ProjectID, in.AgentID, in.ID)
	if err != nil {
		return nil, err
	}
	return pinned(input, map[string]any{"hostname": f.Hostname, "was_port": f.Port, "was_route_name": f.RouteName})
}

// Holds looks whether the port forward is still as it was shown.
func (t oneForward) Holds(ctx context.Context, scope domain.Scope, input json.RawMessage) error {
	in, err := decode[forwardShown](input)
	if err != nil {
		return nil // its run says what is wrong
	}
	f, err := t.forwards.PortForward(ctx, scope.ProjectID, in.AgentID, in.ID)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
		return notHeld("the port forward that this was asked for (id %s) is not there any more; list_port_forwards has those that are", in.ID)
	case err != nil:
		return err
	case in.WasRouteName != "" && (in.WasRouteName != f.RouteName || in.WasPort != f.Port):
		return notHeld("the port forward was %s, to port %d, as this was asked for, and is %s, to port %d, now; look whether it is still to be changed, and ask again",
			in.WasRouteName, in.WasPort, f.RouteName, f.Port)
	}
	return sameMachine(in.Hostname, f.AgentID, f.Hostname)
}
