package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// PortForwards is the part of the store that the tools of port forwards need. Its methods give
// not_found for an agent, or a port forward, of another project.
type PortForwards interface {
	PortForwards(ctx context.Context, projectID, agentID string) ([]domain.PortForward, error)
	PortForward(ctx context.Context, projectID, agentID, id string) (domain.PortForward, error)
	CreatePortForward(ctx context.Context, f domain.PortForward, by domain.Author) (domain.PortForward, error)
	UpdatePortForward(ctx context.Context, at domain.PortForward, change domain.PortForwardChange) (domain.PortForward, error)
	DeletePortForward(ctx context.Context, projectID, agentID, id string) error
	// AgentPlace gives the project and the host name of an agent, or not_found.
	AgentPlace(ctx context.Context, agentID string) (projectID, hostname string, err error)
}

// PortForwardTools are the tools by which models give ports of machines a name. base is the
// address of the server under which people reach them, "" where it is not known.
func PortForwardTools(forwards PortForwards, base string) []Tool {
	shelf := forwardShelf{forwards, strings.TrimSuffix(base, "/")}
	return []Tool{listPortForwards{shelf}, createPortForward{shelf}, updatePortForward{oneForward{shelf}}, deletePortForward{oneForward{shelf}}}
}

type forwardShelf struct {
	forwards PortForwards
	base     string
}

// address says where a port forward is reached.
func (s forwardShelf) address(agentID, routeName string) string {
	return s.base + domain.ForwardPath(agentID, routeName)
}

// hostname gives the host name of a machine of the project, or not_found.
func (s forwardShelf) hostname(ctx context.Context, scope domain.Scope, agentID string) (string, error) {
	project, hostname, err := s.forwards.AgentPlace(ctx, agentID)
	if err == nil && project != scope.ProjectID {
		err = domain.NotFound("there is no agent %q in this project; list_agents names them", agentID)
	}
	return hostname, err
}

var (
	agentField = field{name: "agent_id", kind: "string", about: "The machine's agent, by its id.", required: true}
	portField  = field{name: "port", kind: "integer", about: "The port on the machine, where something listens on its loopback interface."}
	routeField = field{name: "route_name", kind: "string", about: "The name under which people reach it: lower-case letters, digits and hyphens."}
	idField    = field{name: "id", kind: "string", about: "The port forward's id.", required: true}
)

func needed(f field) field {
	f.required = true
	return f
}

type listPortForwards struct{ forwardShelf }

func (listPortForwards) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "list_port_forwards",
			Description: "List the ports of a machine that people of the project reach by a name, with their addresses.",
			InputSchema: schema(agentField),
		},
		Policy: domain.PolicyNever, Local: true, Timeout: localTimeout, Phase: PhaseRead, Activity: "Listing the port forwards of {agent_id}",
	})
}

func (t listPortForwards) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		AgentID string `json:"agent_id" need:""`
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	list, err := t.forwards.PortForwards(ctx, scope.ProjectID, in.AgentID)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if len(list) == 0 {
		return domain.ToolResult{Text: "The machine has no port forwards.", Preview: "No port forwards"}, nil
	}
	var text strings.Builder
	for _, f := range list {
		fmt.Fprintf(&text, "%s: port %d of %s, reached at %s (id %s)\n", f.RouteName, f.Port, f.Hostname, t.address(f.AgentID, f.RouteName), f.ID)
	}
	return domain.ToolResult{Text: text.String(), Preview: fmt.Sprintf("%d port forwards", len(list))}, nil
}

type createPortForward struct{ forwardShelf }

func (createPortForward) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "create_port_forward",
			Description: "Let the people of the project reach a port of a machine by a name, in a browser. A person must approve it.",
			InputSchema: schema(agentField, needed(portField), needed(routeField)),
		},
		Policy: domain.PolicyAlways, Local: true, Timeout: localTimeout, Phase: PhaseWrite, Activity: "Forwarding port {port} as {route_name}",
	})
}

type newForward struct {
	AgentID   string `json:"agent_id" need:""`
	Hostname  string `json:"hostname"` // that was shown
	Port      int    `json:"port" need:""`
	RouteName string `json:"route_name" need:""`
}

// Pin names the machine by the name that people are shown, too.
func (t createPortForward) Pin(ctx context.Context, scope domain.Scope, input json.RawMessage) (json.RawMessage, error) {
	in, err := decode[newForward](input)
	if err != nil {
		return nil, err
	}
	hostname, err := t.hostname(ctx, scope, in.AgentID)
	if err != nil {
		return nil, err
	}
	return pinned(input, map[string]any{"hostname": hostname})
}

// Holds looks whether the machine is still the one that was shown.
func (t createPortForward) Holds(ctx context.Context, scope domain.Scope, input json.RawMessage) error {
	in, err := decode[newForward](input)
	if err != nil {
		return nil // its run says what is wrong
	}
	hostname, err := t.hostname(ctx, scope, in.AgentID)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
		return goneMachine(in.Hostname, in.AgentID)
	case err != nil:
		return err
	}
	return sameMachine(in.Hostname, in.AgentID, hostname)
}

// Explain names the machine, and where its port will be reached.
func (t createPortForward) Explain(ctx context.Context, scope domain.Scope, input json.RawMessage) ([]domain.Detail, error) {
	in, err := decode[newForward](input)
	if err != nil {
		return noForward("the input is not one that can be run"), nil
	}
	if err := (domain.PortForward{Port: in.Port, RouteName: in.RouteName}).Check(); err != nil {
		return noForward(domain.PublicMessage(err)), nil
	}
	hostname, err := t.hostname(ctx, scope, in.AgentID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return noForward("the project has no machine of this id"), nil
	}
	if err != nil {
		return nil, err
	}
	return []domain.Detail{
		{Name: "machine", Value: hostname},
		{Name: "port", Value: strconv.Itoa(in.Port)},
		{Name: "reached at", Value: t.address(in.AgentID, in.RouteName) + " by the people of the project"},
	}, nil
}

func (t createPortForward) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[newForward](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if err := t.Holds(ctx, scope, input); err != nil {
		return domain.ToolResult{}, unrun(err)
	}
	made, err := t.forwards.CreatePortForward(ctx,
		domain.PortForward{ProjectID: scope.ProjectID, AgentID: in.AgentID, Port: in.Port, RouteName: in.RouteName}, authorOf(scope))
	if err != nil {
		return domain.ToolResult{}, told(err)
	}
	return t.forwarded(made), nil
}

// forwarded tells where a port is reached.
func (s forwardShelf) forwarded(f domain.PortForward) domain.ToolResult {
	at := s.address(f.AgentID, f.RouteName)
	return domain.ToolResult{
		Text:    fmt.Sprintf("Port %d of %s is reached at %s (port forward %s, named %s).", f.Port, f.Hostname, at, f.ID, f.RouteName),
		Preview: fmt.Sprintf("Port %d of %s at %s", f.Port, f.Hostname, at),
	}
}

// noForward tells a person that a call is about nothing.
func noForward(why string) []domain.Detail {
	return []domain.Detail{{Name: "port forward", Value: "none: " + why}}
}
