package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/flow"
)

// CommandWorkflowID names the workflow of a command on a machine.
func CommandWorkflowID(commandID string) string { return "command/" + idPart(commandID) }

// CommandInput names a command.
type CommandInput struct {
	CommandID string `json:"command_id"`
}

// CommandSeen is how a command stands.
type CommandSeen struct {
	Status domain.CommandStatus `json:"status"`
	Over   bool                 `json:"over,omitempty"`
	// Left is how long it is, by the clock of the store, until time settles the command.
	Left time.Duration `json:"left,omitempty"`
}

// CommandResult says how a command ended; "" where it was removed with its project.
type CommandResult struct {
	Status domain.CommandStatus `json:"status"`
}

// CommandFinished tells a command's workflow that the command may be over. How it ended is a row:
// the signal is only a hint to look at it, and does no harm when repeated.
var CommandFinished = flow.Signal[struct{}]{Name: "command.finished"}

// The workflow and its activities.
var (
	CommandRun = flow.Workflow[CommandInput, CommandResult]{Name: "command.run"}

	LookAtCommand = flow.Activity[CommandInput, CommandSeen]{Name: "command.look"}
	LapseCommand  = flow.Activity[CommandInput, CommandSeen]{Name: "command.lapse"}
	CancelCommand = flow.Activity[CommandInput, CommandSeen]{Name: "command.cancel"}
)

// RunCommand sees a command to its end. The command is delivered and ended without it, by the
// processes that its agent talks to; what nobody tells of, time settles: a command whose agent
// stays away expires, one whose result stays away is unknown.
func RunCommand(ctx workflow.Context, in CommandInput) (CommandResult, error) {
	seen, err := step(ctx, LookAtCommand, in, "Look at the command")
	for {
		if temporal.IsCanceledError(err) { // once: what follows hears of no other
			ctx, _ = workflow.NewDisconnectedContext(ctx)
			seen, err = step(ctx, CancelCommand, in, "Cancel the command")
		}
		if err != nil || seen.Over {
			return CommandResult{Status: seen.Status}, err
		}
		seen, err = awaitCommand(ctx, in, seen)
	}
}

// awaitCommand waits until the command is said to be over, or its time is up, and looks at it.
func awaitCommand(ctx workflow.Context, in CommandInput, seen CommandSeen) (CommandSeen, error) {
	finished := CommandFinished.Channel(ctx)
	timer := workflow.AwaitOptions{
		Timeout:      max(seen.Left, time.Second),
		TimerOptions: workflow.TimerOptions{Summary: commandWaits(seen.Status)},
	}
	told, err := workflow.AwaitWithOptions(ctx, timer, func() bool { return finished.Len() > 0 })
	switch {
	case err != nil:
		return seen, err
	case !told:
		return step(ctx, LapseCommand, in, "Settle the command if its time is up")
	}
	for _, more := CommandFinished.Receive(ctx); more; {
		_, more = CommandFinished.Receive(ctx)
	}
	return step(ctx, LookAtCommand, in, "Look at the command")
}

func commandWaits(status domain.CommandStatus) string {
	if status == domain.CommandQueued {
		return "Wait for the agent"
	}
	return "Wait for the result"
}
