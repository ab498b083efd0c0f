package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/shellpolicy"
)

// commandTimeout bounds a run of run_command: the longest command, the time to wait for its
// agent, and that for an agent that was cut off to tell its result.
const commandTimeout = domain.MaxToolTimeout + domain.DefaultCommandWait + 15*time.Minute

type runCommand struct{ machines Machines }

func (runCommand) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: RunCommandName,
			Description: "Run a bash command line on one of the project's machines, and get its exit code and output. Each call is a shell of its own: nothing but files stays. " +
				"What is known to only read (ls, cat, grep, systemctl status, journalctl, docker ps and the like, plainly written on one line, joined by pipes, && or ;) runs at once; " +
				"everything else a person must approve. So keep looking apart from changing, and don't put what only reads into scripts, loops or substitutions.",
			InputSchema: schema(
				field{name: "agent_id", kind: "string", about: "The machine: its id, or its hostname where only one has it; see list_agents.", required: true},
				field{name: "command", kind: "string", about: "A line for bash -c. No values of secrets: give these as variables, by their handles.", required: true},
				field{name: "description", kind: "string", about: "What it is for, in a few words that people see.", required: true},
				field{name: "timeout_secs", kind: "integer", about: "How long it may run: 30 unless given, at most 1800."},
				field{name: "env", kind: "object", about: "Environment variables for it, name to text; a text may be the handle of a secret. A call with any must be approved."}),
		},
		Policy: domain.PolicyInput, Timeout: commandTimeout, MaxResult: longResult, Phase: PhaseRun, Resumable: true, SecretEnv: "env",
		Activity: "Running on {agent_id}: [{description}: ]{command}",
	})
}

type commandCall struct {
	AgentID     string            `json:"agent_id" need:""`
	Hostname    string            `json:"hostname"` // of the machine that was approved, with its id
	Command     string            `json:"command" need:""`
	Description string            `json:"description"`
	TimeoutSecs *int              `json:"timeout_secs"`
	Env         map[string]string `json:"env"`
}

// readCommand reads the input of run_command.
func readCommand(input json.RawMessage) (commandCall, error) {
	in, err := decode[commandCall](input)
	limit := int(domain.MaxToolTimeout / time.Second)
	if in.TimeoutSecs == nil {
		standard := int(domain.DefaultCommandTimeout / time.Second)
		in.TimeoutSecs = &standard
	}
	if err == nil && (*in.TimeoutSecs < 1 || *in.TimeoutSecs > limit) {
		err = domain.Invalid("timeout_secs", "must be 1 to %d; leave it out for %d", limit, int(domain.DefaultCommandTimeout/time.Second))
	}
	return in, err
}

// timeout gives how long the command may run.
func (c commandCall) timeout() time.Duration { return time.Duration(*c.TimeoutSecs) * time.Second }

// Asks tells whether the project lets this line run without an approval. What can't be run, for
// its machine too, asks nobody: its run says what is wrong.
func (t runCommand) Asks(ctx context.Context, scope domain.Scope, input json.RawMessage) (bool, error) {
	in, err := readCommand(input)
	if err != nil {
		return false, nil
	}
	if verdict, err := t.judge(ctx, scope.ProjectID, in); verdict.Passes || err != nil {
		return err != nil, err
	}
	_, err = findAgent(ctx, t.machines, scope.ProjectID, in.AgentID)
	return domain.CodeOf(err) != domain.CodeNotFound && domain.CodeOf(err) != domain.CodeInvalid, nil
}

// Pin names the machine by its id, beside the hostname that people are shown.
func (t runCommand) Pin(ctx context.Context, scope domain.Scope, input json.RawMessage) (json.RawMessage, error) {
	in, err := readCommand(input)
	if err != nil {
		return nil, err
	}
	agent, err := findAgent(ctx, t.machines, scope.ProjectID, in.AgentID)
	if err != nil {
		return nil, err
	}
	return pinned(input, map[string]any{"agent_id": agent.ID, "hostname": agent.Hostname})
}

// Holds looks whether the machine is still the one that was shown.
func (t runCommand) Holds(ctx context.Context, scope domain.Scope, input json.RawMessage) error {
	in, err := readCommand(input)
	if err != nil {
		return nil // its run says what is wrong
	}
	agent, err := findAgent(ctx, t.machines, scope.ProjectID, in.AgentID)
	_, err = approvedAgent(in, agent, err)
	return err
}

// judge gives the verdict on a call by the rules of its project. An error is none that passes.
func (t runCommand) judge(ctx context.Context, projectID string, in commandCall) (shellpolicy.Verdict, error) {
	settings, err := t.machines.ConfirmSettings(ctx, projectID)
	if err != nil {
		return shellpolicy.Verdict{}, fmt.Errorf("load the rules of commands: %w", err)
	}
	if len(in.Env) > 0 {
		return shellpolicy.Verdict{Reason: "it sets environment variables, which can make another command of any line"}, nil
	}
	switch settings.Commands.Policy {
	case domain.CommandsChangesAsk:
		return shellpolicy.Judge(in.Command), nil
	case domain.CommandsAllowListed:
		list, err := shellpolicy.Compile(settings.Commands.Allowed)
		if err != nil {
			return shellpolicy.Verdict{Reason: "the project's list of allowed commands can't be read"}, nil
		}
		return list.Judge(in.Command), nil
	}
	return shellpolicy.Verdict{Reason: "this project has every command asked"}, nil
}

// CheckCommands is invalid where a pattern of allowed commands can't be one.
func (r *Registry) CheckCommands(patterns []string) error {
	_, err := shellpolicy.Compile(patterns)
	var fault *shellpolicy.PatternFault
	if errors.As(err, &fault) {
		return domain.Invalid(fmt.Sprintf("allowed_commands[%d]", fault.Index), "%s", fault.Reason)
	}
	return err
}

// Hostname names the machine of a call; "" where there is none.
func (t runCommand) Hostname(ctx context.Context, scope domain.Scope, input json.RawMessage) string {
	in, err := readCommand(input)
	if err != nil {
		return ""
	}
	agent, err := findAgent(ctx, t.machines, scope.ProjectID, in.AgentID)
	if err != nil {
		return "" // its run says what is wrong
	}
	return agent.Hostname
}

// Explain names the machine, and says why the line asks.
func (t runCommand) Explain(ctx context.Context, scope domain.Scope, input json.RawMessage) ([]domain.Detail, error) {
	in, err := readCommand(input)
	if err != nil {
		return []domain.Detail{{Name: "command", Value: "none: the input is not one that can be run"}}, nil
	}
	var about []domain.Detail
	agent, err := findAgent(ctx, t.machines, scope.ProjectID, in.AgentID)
	switch {
	case err == nil:
		about = append(about, domain.Detail{Name: "machine", Value: agent.Hostname + ", id " + agent.ID})
		for _, line := range aboutAgent(agent) {
			about = append(about, domain.Detail{Name: "machine", Value: line})
		}
	case domain.CodeOf(err) == domain.CodeInternal || domain.CodeOf(err) == domain.CodeUnavailable:
		return nil, err
	default:
		about = append(about, domain.Detail{Name: "machine", Value: "none: " + domain.PublicMessage(err)})
	}
	verdict, err := t.judge(ctx, scope.ProjectID, in)
	if err != nil {
		return nil, err
	}
	why := verdict.Reason
	if verdict.Passes {
		why = "the project has this tool asked; the line itself is one that may run at once"
	}
	return append(about,
		domain.Detail{Name: "why it asks", Value: why},
		domain.Detail{Name: "time limit", Value: domain.Span(in.timeout())}), nil
}

// Run runs the command, or finds the one that an earlier run of this call began, and waits for
// its end.
func (t runCommand) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := readCommand(input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	id := scope.ActionID
	if id == "" {
		id = domain.CommandIDOf(scope.TurnID, scope.CallID)
	}
	_, err = t.machines.Command(ctx, scope.ProjectID, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		err = t.start(ctx, scope, id, in)
	}
	if err != nil {
		return domain.ToolResult{}, err
	}
	c, err := t.machines.AwaitCommand(ctx, id)
	if err != nil && domain.CodeOf(err) == domain.CodeInternal && ctx.Err() == nil {
		err = domain.Wrap(domain.CodeUnavailable, err, "the end of the command could not be read") // it goes on: the next run finds it
	}
	if err != nil {
		return domain.ToolResult{}, err
	}
	return commandResult(c), nil
}

// start orders the command. That it asks is looked at again: the rules may have changed, and a
// call may come from where nobody has judged it.
func (t runCommand) start(ctx context.Context, scope domain.Scope, id string, in commandCall) error {
	agent, err := findAgent(ctx, t.machines, scope.ProjectID, in.AgentID)
	if scope.ActionID != "" {
		agent, err = approvedAgent(in, agent, err)
		err = unrun(err)
	}
	if err != nil {
		return err
	}
	if scope.ActionID == "" {
		verdict, err := t.judge(ctx, scope.ProjectID, in)
		if err != nil {
			return err
		}
		if !verdict.Passes {
			return errUnapproved
		}
	}
	_, err = t.machines.StartCommand(ctx, domain.CommandOrder{
		ID: id, ProjectID: scope.ProjectID, AgentID: agent.ID, Command: in.Command, Description: in.Description, Env: in.Env,
		Timeout: in.timeout(), Wait: domain.DefaultCommandWait,
		UserID: scope.UserID, TurnID: scope.TurnID, CallID: scope.CallID,
	})
	return err
}
