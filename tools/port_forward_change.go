package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/harvest-engine/harvest/internal/domain"
)

type updatePortForward struct{ oneForward }

func (updatePortForward) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "update_port_forward",
			Description: "Change the port or the name of a port forward; what is left out stays. A person must approve it.",
			InputSchema: schema(agentField, idField, portField, routeField),
		},
		Policy: domain.PolicyAlways, Local: true, Timeout: localTimeout, Phase: PhaseWrite, Activity: "Changing port forward {id}[ to port {port}][, named {route_name}]",
	})
}

type forwardUpdate struct {
	AgentID   string  `json:"agent_id" need:""`
	ID        string  `json:"id" need:""`
	Port      *int    `json:"port"`
	RouteName *string `json:"route_name"`
}

// Explain tells what the port forward is, and what it would be.
func (t updatePortForward) Explain(ctx context.Context, scope domain.Scope, input json.RawMessage) ([]domain.Detail, error) {
	in, err := decode[forwardUpdate](input)
	if err != nil {
		return noForward("the input is not one that can be run"), nil
	}
	if err := (domain.PortForwardChange{Port: in.Port, RouteName: in.RouteName}).Check(); err != nil {
		return noForward(domain.PublicMessage(err)), nil
	}
	now, about, err := t.about(ctx, scope, in.AgentID, in.ID)
	if err != nil || now == nil {
		return about, err
	}
	if in.Port != nil {
		about = append(about, domain.Detail{Name: "new port", Value: strconv.Itoa(*in.Port)})
	}
	if in.RouteName != nil {
		about = append(about, domain.Detail{Name: "then reached at", Value: t.address(in.AgentID, *in.RouteName)})
	}
	return about, nil
}

// about tells a person what a port forward is; it is nil where the project has none of this id.
func (s forwardShelf) about(ctx context.Context, scope domain.Scope, agentID, id string) (*domain.PortForward, []domain.Detail, error) {
	f, err := s.forwards.PortForward(ctx, scope.ProjectID, agentID, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil, noForward("the project has none of this id on such a machine"), nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &f, []domain.Detail{
		{Name: "machine", Value: f.Hostname},
		{Name: "port", Value: strconv.Itoa(f.Port)},
		{Name: "reached at", Value: s.address(f.AgentID, f.RouteName)},
	}, nil
}

func (t updatePortForward) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[forwardUpdate](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if err := t.Holds(ctx, scope, input); err != nil {
		return domain.ToolResult{}, unrun(err)
	}
	f, err := t.forwards.UpdatePortForward(ctx,
		domain.PortForward{ID: in.ID, AgentID: in.AgentID, ProjectID: scope.ProjectID}, domain.PortForwardChange{Port: in.Port, RouteName: in.RouteName})
	if err != nil {
		return domain.ToolResult{}, told(err)
	}
	return t.forwarded(f), nil
}

type deletePortForward struct{ oneForward }

func (deletePortForward) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "delete_port_forward",
			Description: "Remove a port forward: its port is no longer reached by its name. A person must approve it.",
			InputSchema: schema(agentField, idField),
		},
		Policy: domain.PolicyAlways, Local: true, Timeout: localTimeout, Phase: PhaseWrite, Activity: "Removing port forward {id}",
	})
}

type forwardDeletion struct {
	AgentID string `json:"agent_id" need:""`
	ID      string `json:"id" need:""`
}

// Explain tells what would be removed.
func (t deletePortForward) Explain(ctx context.Context, scope domain.Scope, input json.RawMessage) ([]domain.Detail, error) {
	in, err := decode[forwardDeletion](input)
	if err != nil {
		return noForward("the input is not one that can be run"), nil
	}
	_, about, err := t.about(ctx, scope, in.AgentID, in.ID)
	return about, err
}

func (t deletePortForward) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[forwardDeletion](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if err := t.Holds(ctx, scope, input); err != nil {
		return domain.ToolResult{}, unrun(err)
	}
	f, err := t.forwards.PortForward(ctx, scope.ProjectID, in.AgentID, in.ID)
	if err == nil {
		err = t.forwards.DeletePortForward(ctx, scope.ProjectID, in.AgentID, in.ID)
	}
	if err != nil {
		return domain.ToolResult{}, err
	}
	return domain.ToolResult{
		Text:    fmt.Sprintf("Removed the port forward %s (port %d of %s).", f.RouteName, f.Port, f.Hostname),
		Preview: "Removed " + f.RouteName,
	}, nil
}
