package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	// overdueAge is how long a command's workflow may take to settle what its time is up for. Then
	// the sweeper does: there may be no worker.
	overdueAge = 10 * time.Second
	// notesAtOnce bounds the notes that are on their way: those of a project wait for each other,
	// each with a connection to the database, which commands themselves need.
	notesAtOnce = 2
	// cancelPatience is how long the deletion of a project waits for commands that it canceled.
	cancelPatience = 5 * time.Second
)

// CommandStore keeps commands on machines.
type CommandStore interface {
	// CreateCommand stores a command, or gives the one of that id. For its errors see
	// Engine.StartCommand.
	CreateCommand(ctx context.Context, order domain.CommandOrder) (domain.Command, error)
	// Command gives a command of a project with its output, or not_found.
	Command(ctx context.Context, projectID, id string) (domain.Command, error)
	// CommandByID gives a command without its output, or not_found.
	CommandByID(ctx context.Context, id string) (domain.Command, error)
	// Commands lists the commands of an agent of a project, the newest first.
	Commands(ctx context.Context, projectID, agentID string, page domain.Page) ([]domain.Command, error)
	// AbandonedCommands lists open commands whose turns were canceled, and that can be, too.
	AbandonedCommands(ctx context.Context, limit int) ([]domain.Command, error)
	// KeepCommandKey gives the command that a person's idempotency key stands for: id, or an
	// earlier one. For its errors see Engine.CommandKey.
	KeepCommandKey(ctx context.Context, userID, key string, hash []byte, id string) (string, error)
	// AwaitCommand waits until a command is over.
	AwaitCommand(ctx context.Context, id string) (domain.Command, error)
	// ReleaseCommand lets a command go that waits for approval; others stay as they are.
	ReleaseCommand(ctx context.Context, id string) (domain.Command, error)
	// RejectCommand ends a command that waits for approval; others stay as they are.
	RejectCommand(ctx context.Context, id, why string) (domain.Command, error)
	// CancelCommand cancels a command, or asks its agent to. For its errors see
	// Engine.CancelCommand.
	CancelCommand(ctx context.Context, projectID, id, by string) (domain.Command, error)
	// LapseCommand settles a command whose time is up.
	LapseCommand(ctx context.Context, id string) (domain.Command, error)
	// ProjectCommands lists the open commands of a project.
	ProjectCommands(ctx context.Context, projectID string) ([]domain.Command, error)
	// EndProjectCommands ends them.
	EndProjectCommands(ctx context.Context, projectID string) error
	// MarkCommandLaunched records that a command's workflow was started.
	MarkCommandLaunched(ctx context.Context, id string) error
	// MarkCommandTold records that no workflow has to be told of a command's end.
	MarkCommandTold(ctx context.Context, id string) error
	// UnstartedCommands lists commands older than age that are not known to have a workflow.
	UnstartedCommands(ctx context.Context, age time.Duration, limit int) ([]domain.Command, error)
	// OverdueCommands names open commands whose time is up since longer than age.
	OverdueCommands(ctx context.Context, age time.Duration, limit int) ([]string, error)
	// UntoldCommands names commands that ended longer than age ago and whose workflow does not know.
	UntoldCommands(ctx context.Context, age time.Duration, limit int) ([]string, error)
	// NoteCommand tells a project of a person's command what it was not told: that it was ordered,
	// and how it ended.
	NoteCommand(ctx context.Context, id string) error
	// UnnotedCommands names commands of which projects were not told all, since longer than age.
	UnnotedCommands(ctx context.Context, age time.Duration, limit int) ([]string, error)
	// OpenCommands lists commands older than age that have a workflow and have not ended, by id,
	// after the given one.
	OpenCommands(ctx context.Context, age time.Duration, after string, limit int) ([]domain.Command, error)
}

// StartCommand orders a command on a machine, or gives the one that was ordered by the same id.
// One that is stored is delivered once its agent is connected, whatever happens here; one that
// waits for approval is only stored. Errors: invalid; not_found where the agent is not one of
// the project's; unprocessable where it can't do what is asked, the line holds the value of a
// secret, or a handle stands for none; conflict where the id is that of another command.
func (e *Engine) StartCommand(ctx context.Context, order domain.CommandOrder) (domain.Command, error) {
	order, err := order.Check()
	if err != nil {
		return domain.Command{}, err
	}
	fit, err := e.vet(ctx, order)
	if err != nil {
		c, same := e.ordered(ctx, order)
		if !same {
			return domain.Command{}, err
		}
		e.launchSoon(ctx, c)
		return c, nil
	}
	c, err := e.Commands.CreateCommand(ctx, fit)
	if err == nil {
		e.launchSoon(ctx, c)
	}
	return c, err
}

// ReleaseCommand lets a command go to its agent that waited for approval. One that does not wait
// any more stays as it is; not_found for an unknown id.
func (e *Engine) ReleaseCommand(ctx context.Context, id string) (domain.Command, error) {
	c, err := e.Commands.ReleaseCommand(ctx, id)
	if err == nil {
		e.launchSoon(ctx, c)
	}
	return c, err
}

// RejectCommand ends a command that waited for approval, because of what is said. One that does
// not wait any more stays as it is; not_found for an unknown id.
func (e *Engine) RejectCommand(ctx context.Context, id, why string) (domain.Command, error) {
	return e.Commands.RejectCommand(ctx, id, why)
}

// CancelCommand cancels a command of a project: at once where it was not sent yet, else its agent
// is told, and says how it ended. Errors: not_found; conflict where it has ended, or its agent
// can't cancel.
func (e *Engine) CancelCommand(ctx context.Context, projectID, id string, who domain.Actor) (domain.Command, error) {
	c, err := e.Commands.CancelCommand(ctx, projectID, id, who.Name)
	if err == nil && c.Status.Over() {
		e.tellCommand(ctx, id)
	}
	return c, err
}

// AwaitCommand gives a command with its output once it is over. An end of ctx ends the wait, not
// the command.
func (e *Engine) AwaitCommand(ctx context.Context, id string) (domain.Command, error) {
	return e.Commands.AwaitCommand(ctx, id)
}

// FollowCommand gives the events of a command after the cursor, as they come, and ends after the
// terminal event or with ctx.
func (e *Engine) FollowCommand(ctx context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	return e.Events.Follow(ctx, id, after)
}

// CommandFinished tells the workflow of a command that it is over. One that is gone, or was never
// started, has nothing to be told: whoever starts it looks at the row.
func (e *Engine) CommandFinished(ctx context.Context, id string) error {
	e.noteSoon(ctx, id)
	workflowID := workflows.CommandWorkflowID(id)
	err := e.Temporal.SignalWorkflow(ctx, workflowID, "", workflows.CommandFinished.Name, struct{}{})
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return e.Commands.MarkCommandTold(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("signal workflow %s: %w", workflowID, err)
	}
	return nil
}

// noteSoon tells a project of a person's command beside whatever is going on; what fails here, or
// finds too much on its way, the sweeper does.
func (e *Engine) noteSoon(ctx context.Context, id string) {
	select {
	case e.notes <- struct{}{}:
	default:
		return
	}
	e.launches.Go(func() {
		defer func() { <-e.notes }()
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), launchTimeout)
		defer stop()
		if err := e.Commands.NoteCommand(ctx, id); err != nil {
			e.Log.Warn().Str("command_id", id).Err(err).Msg("command_note_postponed")
		}
	})
}

// tellCommand is CommandFinished for who does not wait for it; the sweeper repeats what fails.
func (e *Engine) tellCommand(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), launchTimeout)
	defer stop()
	if err := e.CommandFinished(ctx, id); err != nil {
		e.Log.Warn().Str("command_id", id).Err(err).Msg("command_end_postponed")
	}
}

// launchSoon starts the workflow of a command beside its delivery, which does not wait for it;
// what fails here the sweeper repeats.
func (e *Engine) launchSoon(ctx context.Context, c domain.Command) {
	if c.Launched || c.Status.Over() || c.Status == domain.CommandPending {
		return
	}
	e.launches.Go(func() {
		if err := e.launchCommand(context.WithoutCancel(ctx), c); err != nil {
			e.Log.Warn().Str("command_id", c.ID).Err(err).Msg("command_launch_postponed")
		}
	})
}

func (e *Engine) launchCommand(ctx context.Context, c domain.Command) error {
	ctx, stop := context.WithTimeout(ctx, launchTimeout)
	defer stop()
	return e.start(ctx, launch{
		id: workflows.CommandWorkflowID(c.ID), queue: e.Queues.Turns, workflow: workflows.CommandRun.Name,
		input:   workflows.CommandInput{CommandID: c.ID},
		labels:  labels{kind: "command", user: c.UserID, project: c.ProjectID, subject: c.Hostname},
		memo:    map[string]any{"command_id": c.ID, "agent_id": c.AgentID, "turn_id": c.TurnID},
		summary: oneLine(c.Hostname + ": " + c.Command),
		details: fmt.Sprintf("**Command** `%s` on %s\n\n> %s\n", c.ID, c.Hostname, cut(oneLine(c.Command), quoteLength)),
	})
}

// sweepCommands starts what was not started, settles what nobody has settled in time, and tells
// workflows of ends that they were not told of.
func (e *Engine) sweepCommands(ctx context.Context) error {
	if e.Commands == nil {
		return nil
	}
	return errors.Join(
		pass(ctx, "unstarted commands", e.Commands.UnstartedCommands, sweepAge, e.startCommand),
		pass(ctx, "commands whose time is up", e.Commands.OverdueCommands, overdueAge, e.lapseCommand),
		pass(ctx, "commands that projects were not told of", e.Commands.UnnotedCommands, sweepAge, e.Commands.NoteCommand),
		pass(ctx, "commands whose workflow was not told", e.Commands.UntoldCommands, sweepAge, func(ctx context.Context, id string) error {
			if err := e.CommandFinished(ctx, id); err != nil {
				return err
			}
			return e.Commands.MarkCommandTold(ctx, id) // once: there may be no worker to hear it for long
		}),
	)
}

// startCommand starts the workflow of a command. One that can never have any goes on without it:
// the sweeper settles it in its time.
func (e *Engine) startCommand(ctx context.Context, c domain.Command) error {
	return e.begin(ctx, unstarted{
		kind: "command", id: c.ID, mark: e.Commands.MarkCommandLaunched,
		launch: func(ctx context.Context) error { return e.launchCommand(ctx, c) },
		refuse: func(ctx context.Context, _ error) error { return e.Commands.MarkCommandLaunched(ctx, c.ID) },
	})
}

// lapseCommand settles a command whose time is up.
func (e *Engine) lapseCommand(ctx context.Context, id string) error {
	c, err := e.Commands.LapseCommand(ctx, id)
	if err == nil && c.Status.Over() {
		e.Log.Warn().Str("command_id", id).Str("status", string(c.Status)).Msg("command_lapsed")
	}
	return err
}

// reconcileCommand cancels a command whose workflow somebody has stopped. One whose workflow is
// gone otherwise goes on: its result counts, and the sweeper settles it in its time.
func (e *Engine) reconcileCommand(ctx context.Context, c domain.Command) error {
	if c.CancelRequested {
		return nil
	}
	found, err := e.judge(ctx, workflows.CommandWorkflowID(c.ID))
	if err != nil || !found.over || found.code != domain.CodeCanceled {
		return err
	}
	now, err := e.Commands.CancelCommand(ctx, c.ProjectID, c.ID, "an operator of Temporal")
	switch domain.CodeOf(err) {
	case "":
		e.Log.Warn().Str("command_id", c.ID).Str("status", string(now.Status)).Str("reason", found.message).Msg("command_reconciled")
	case domain.CodeConflict, domain.CodeNotFound:
	default:
		return fmt.Errorf("cancel command %s: %w", c.ID, err)
	}
	return nil
}

// endCommands ends the commands of a project that is being deleted: what can be canceled is, and
// is waited for a while; of the rest nobody will know.
func (e *Engine) endCommands(ctx context.Context, projectID string) error {
	if e.Commands == nil {
		return nil
	}
	open, err := e.Commands.ProjectCommands(ctx, projectID)
	if err != nil {
		return err
	}
	waiting, stop := context.WithTimeout(ctx, cancelPatience)
	defer stop()
	var asked []string
	for _, c := range open {
		now, err := e.Commands.CancelCommand(ctx, projectID, c.ID, "the deletion of the project")
		if err == nil && !now.Status.Over() {
			asked = append(asked, c.ID)
		}
	}
	for _, id := range asked {
		if _, err := e.Commands.AwaitCommand(waiting, id); err != nil && waiting.Err() == nil {
			return fmt.Errorf("wait for command %s: %w", id, err)
		}
	}
	if err := e.Commands.EndProjectCommands(ctx, projectID); err != nil {
		return err
	}
	for _, c := range open {
		e.tellCommand(ctx, c.ID) // while there is a row that says so
	}
	return nil
}
