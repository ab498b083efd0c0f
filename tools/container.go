package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// provisionTimeout is longer than a container may take to be made, and to be removed again.
	provisionTimeout = 50 * time.Minute
	removalTimeout   = 3 * time.Minute
	phaseMachines    = "Preparing machines"
)

// Containers makes and removes the agents of projects; the engine does.
type Containers interface {
	// Agent gives an agent of a project, or not_found.
	Agent(ctx context.Context, projectID, id string) (domain.Agent, error)
	// StartProvision begins to make an agent in a container, or gives what the same id began.
	StartProvision(ctx context.Context, order domain.ProvisionOrder) (domain.Provision, error)
	// AwaitProvision waits for its end.
	AwaitProvision(ctx context.Context, projectID, id string) (domain.Provision, error)
	// RemoveAgent removes an agent, and the container that it is in first.
	RemoveAgent(ctx context.Context, projectID, agentID string) error
}

// ContainerTools gives the tools that make and remove agents.
func ContainerTools(containers Containers) []Tool {
	return []Tool{createLXDAgent{containers}, deleteAgent{containers}}
}

type createLXDAgent struct{ containers Containers }

func (createLXDAgent) Spec() Spec {
	var flavors []string
	for _, f := range domain.Flavors() {
		flavors = append(flavors, f.ID)
	}
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: "create_lxd_agent", Description: "Make a new machine for the project: a container with an agent on which run_command can run commands. It takes a minute or more. A person must approve it.",
			InputSchema: schema(
				field{name: "name", kind: "string", about: "What to call the machine: letters, digits and hyphens.", required: true},
				field{name: "description", kind: "string", about: "What it is for."},
				field{name: "flavor", kind: "string", about: "Its size.", enum: flavors, required: true}),
		},
		Policy: domain.PolicyAlways, Resumable: true, Timeout: provisionTimeout, Phase: phaseMachines, Activity: "Making the machine {name} ({flavor})",
	})
}

type containerWish struct {
	Name        string `json:"name" need:""`
	Description string `json:"description"`
	Flavor      string `json:"flavor" need:""`
}

// Explain says what the flavor stands for.
func (t createLXDAgent) Explain(_ context.Context, _ domain.Scope, input json.RawMessage) ([]domain.Detail, error) {
	in, err := decode[containerWish](input)
	if err != nil {
		return []domain.Detail{{Name: "machine", Value: "none: the input is not one that can be run"}}, nil
	}
	flavor, err := domain.FindFlavor(in.Flavor)
	if err != nil {
		return []domain.Detail{{Name: "size", Value: "none: there is no such flavor"}}, nil
	}
	return []domain.Detail{{Name: "size", Value: sizeOf(flavor)}}, nil
}

func sizeOf(f domain.Flavor) string {
	cores := "cores"
	if f.CPU == 1 {
		cores = "core"
	}
	return fmt.Sprintf("%d %s, %d MiB of memory", f.CPU, cores, f.MemoryMiB)
}

// Run makes the machine once for each action: a run that is repeated waits for what the first
// began.
func (t createLXDAgent) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[containerWish](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	p, err := t.containers.StartProvision(ctx, domain.ProvisionOrder{
		ID: scope.ActionID, ProjectID: scope.ProjectID, UserID: scope.UserID,
		Name: withoutValues(ctx, in.Name), Description: withoutValues(ctx, in.Description), Flavor: in.Flavor,
	})
	if err == nil {
		p, err = t.containers.AwaitProvision(ctx, scope.ProjectID, p.ID)
	}
	if err != nil {
		return domain.ToolResult{}, err
	}
	if p.Status != domain.ProvisionDone {
		return domain.ToolResult{Text: fmt.Sprintf("Error: the machine was not made (phase %s): %s", p.Phase, p.Error), Preview: "The machine was not made", Error: true}, nil
	}
	return domain.ToolResult{
		Text:    fmt.Sprintf("Made the container %s; its agent is installed, and connects within seconds. list_agents shows it once it has: wait for that before you run commands on it.", p.Instance),
		Preview: "Made the machine " + p.Instance,
	}, nil
}

type deleteAgent struct{ containers Containers }

func (deleteAgent) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: "delete_agent", Description: "Remove a machine from the project; one in a container that Harvest made is destroyed with all that is on it. A person must approve it.",
			InputSchema: schema(field{name: "agent_id", kind: "string", about: "The agent's id, from list_agents.", required: true}),
		},
		Policy: domain.PolicyAlways, Timeout: removalTimeout, Phase: phaseMachines, Activity: "Removing the machine {agent_id}",
	})
}

type agentChoice struct {
	AgentID  string `json:"agent_id" need:""`
	Hostname string `json:"hostname"` // that was shown
}

// Pin names the machine by the name that people are shown, too.
func (t deleteAgent) Pin(ctx context.Context, scope domain.Scope, input json.RawMessage) (json.RawMessage, error) {
	in, err := decode[agentChoice](input)
	if err != nil {
		return nil, err
	}
	a, err := t.containers.Agent(ctx, scope.ProjectID, in.AgentID)
	if err != nil {
		return nil, err
	}
	return pinned(input, map[string]any{"hostname": a.Hostname})
}

// Holds looks whether the machine is still the one that was shown.
func (t deleteAgent) Holds(ctx context.Context, scope domain.Scope, input json.RawMessage) error {
	in, err := decode[agentChoice](input)
	if err != nil {
		return nil // its run says what is wrong
	}
	_, err = t.chosen(ctx, scope, in)
	return err
}

// chosen gives the machine of a call that asked, as it was shown.
func (t deleteAgent) chosen(ctx context.Context, scope domain.Scope, in agentChoice) (domain.Agent, error) {
	a, err := t.containers.Agent(ctx, scope.ProjectID, in.AgentID)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
		err = goneMachine(in.Hostname, in.AgentID)
	case err == nil:
		err = sameMachine(in.Hostname, a.ID, a.Hostname)
	}
	return a, err
}

// Explain says which machine it is, and what goes with it.
func (t deleteAgent) Explain(ctx context.Context, scope domain.Scope, input json.RawMessage) ([]domain.Detail, error) {
	in, err := decode[agentChoice](input)
	if err != nil {
		return []domain.Detail{{Name: "machine", Value: "none: the input is not one that can be run"}}, nil
	}
	a, err := t.containers.Agent(ctx, scope.ProjectID, in.AgentID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return []domain.Detail{{Name: "machine", Value: "none: the project has no machine of this id"}}, nil
	}
	if err != nil {
		return nil, err
	}
	details := []domain.Detail{{Name: "machine", Value: a.Hostname}}
	if a.Description != "" {
		details = append(details, domain.Detail{Name: "description", Value: a.Description})
	}
	goes := "the machine is taken out of the project; what is on it stays"
	if a.Provider == domain.ProviderLXD {
		goes = "the container " + a.Instance + " is destroyed, with all that is on it"
	}
	return append(details, domain.Detail{Name: "what goes", Value: goes}), nil
}

func (t deleteAgent) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[agentChoice](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	a, err := t.chosen(ctx, scope, in)
	if err != nil {
		return domain.ToolResult{}, unrun(err)
	}
	if err := t.containers.RemoveAgent(ctx, scope.ProjectID, a.ID); err != nil {
		return domain.ToolResult{}, err
	}
	return domain.ToolResult{Text: fmt.Sprintf("Removed the machine %s.", a.Hostname), Preview: "Removed " + a.Hostname}, nil
}
