package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The tools about machines.
const (
	ListAgentsName = "list_agents"
	RunCommandName = domain.ToolRunCommand
)

// Machines knows the machines of projects, and runs commands on them.
type Machines interface {
	// Agents lists the machines of a project.
	Agents(ctx context.Context, projectID string) ([]domain.Agent, error)
	// Command gives a command of a project with its output, or not_found.
	Command(ctx context.Context, projectID, id string) (domain.Command, error)
	// StartCommand orders a command, or gives the one that was ordered by the same id.
	StartCommand(ctx context.Context, order domain.CommandOrder) (domain.Command, error)
	// AwaitCommand gives a command with its output once it is over, or ends with ctx.
	AwaitCommand(ctx context.Context, id string) (domain.Command, error)
	// ConfirmSettings gives what a project has settled about what asks.
	ConfirmSettings(ctx context.Context, projectID string) (domain.ConfirmSettings, error)
}

// MachineTools gives the tools about machines.
func MachineTools(machines Machines) []Tool {
	return []Tool{listAgents{machines}, runCommand{machines}}
}

type listAgents struct{ machines Machines }

func (listAgents) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: ListAgentsName, Description: "List the project's machines: id, hostname, whether they are online, and what they are for.", InputSchema: schema(),
		},
		Local: true, Timeout: localTimeout, Phase: PhaseRead, Activity: "Listing the project's machines",
	})
}

func (t listAgents) Run(ctx context.Context, scope domain.Scope, _ json.RawMessage) (domain.ToolResult, error) {
	list, err := t.machines.Agents(ctx, scope.ProjectID)
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("list machines: %w", err)
	}
	var r report
	if len(list) == 0 {
		r.line("The project has no machines. A person adds one with the command that the project's page of agents shows (harvest agents).")
	}
	for _, a := range list {
		r.line("%s (id %s): %s", a.Hostname, a.ID, strings.Join(aboutAgent(a), "; "))
	}
	return r.result("%d machines", len(list)), nil
}

// aboutAgent says how a machine stands.
func aboutAgent(a domain.Agent) []string {
	about := []string{"online"}
	switch {
	case a.Online:
	case a.LastSeen == nil:
		about[0] = "offline; it was never seen"
	default:
		about[0] = "offline; seen " + age(*a.LastSeen) + " ago"
	}
	if a.Provider == domain.ProviderLXD {
		about = append(about, "a container on LXD")
	}
	if a.Description != "" {
		about = append(about, a.Description)
	}
	return about
}

// findAgent gives the machine of a project that a model names by its id, or by its hostname
// where only one has it.
func findAgent(ctx context.Context, machines Machines, projectID, name string) (domain.Agent, error) {
	list, err := machines.Agents(ctx, projectID)
	if err != nil {
		return domain.Agent{}, fmt.Errorf("list machines: %w", err)
	}
	var named []domain.Agent
	for _, a := range list {
		if a.ID == name {
			return a, nil
		}
		if a.Hostname == name {
			named = append(named, a)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return domain.Agent{}, domain.NotFound("the project has no machine %q; list_agents names those there are", name)
	}
	return domain.Agent{}, domain.Invalid("agent_id", "names %d machines of the hostname %q; give the id of one, as list_agents has it", len(named), name)
}

// approvedAgent gives the machine that a call that asked is for, as it was found now: the one that
// was shown, by the name that it was shown with. A name alone may mean another by now.
func approvedAgent(in commandCall, found domain.Agent, err error) (domain.Agent, error) {
	switch {
	case err == nil && found.ID == in.AgentID:
		return found, sameMachine(in.Hostname, found.ID, found.Hostname)
	case err == nil || domain.CodeOf(err) == domain.CodeNotFound || domain.CodeOf(err) == domain.CodeInvalid:
		return found, goneMachine(in.Hostname, in.AgentID)
	}
	return found, err
}
