package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const openCommandColumns = commandColumns + ` from commands c`

var (
	// The workflow that looks runs, so that it needs no start. One that finds the command over ends.
	sqlLookAtCommand = statement("look at a command", `
with noted as (
    update commands set launched_at = coalesce(launched_at, now()), told_at = case when ended_at is not null then now() end
    where id = @command and (launched_at is null or ended_at is not null and told_at is null)
)
select`+commandColumns+`, coalesce(c.result_by, c.deliver_by) - now() from commands c where c.id = @command`)

	sqlUnstartedCommands = statement("list unstarted commands", `
select`+openCommandColumns+`
where c.ended_at is null and c.launched_at is null and c.status <> 'pending' and c.created_at < now() - @age::interval
order by c.created_at limit @limit`)

	sqlOverdueCommands = statement("list commands whose time is up", `
select c.id from commands c
where c.ended_at is null and c.status <> 'pending' and coalesce(c.result_by, c.deliver_by) < now() - @age::interval
order by coalesce(c.result_by, c.deliver_by) limit @limit`)

	sqlUntoldCommands = statement("list commands whose workflow was not told", `
select c.id from commands c
where c.ended_at is not null and c.told_at is null and c.ended_at < now() - @age::interval order by c.ended_at limit @limit`)

	sqlOpenCommands = statement("list open commands", `
select`+openCommandColumns+`
where c.ended_at is null and c.launched_at is not null and c.created_at < now() - @age::interval and c.id > @after
order by c.id limit @limit`)

	sqlCommandTold = statement("mark a command told", `update commands set told_at = now() where id = @command and told_at is null`)

	sqlCommandLaunched = statement("mark a command launched", `update commands set launched_at = now() where id = @command and launched_at is null`)

	sqlProjectCommands = statement("list what is open of a project", `
select`+openCommandColumns+` where c.project_id = @project and c.ended_at is null order by c.created_at, c.id`)

	sqlOpenOfProject = statement("list the open commands of a project", `
select c.id from commands c where c.project_id = @project and c.ended_at is null order by c.created_at, c.id`)
)

// LookAtCommand gives a command to its workflow, which is known to run from here on, and how long
// it is until time settles it. One that is removed is not_found.
func (s *Store) LookAtCommand(ctx context.Context, id string) (c domain.Command, left time.Duration, err error) {
	c, err = scanCommand(s.pool.QueryRow(ctx, sqlLookAtCommand, pgx.NamedArgs{"command": id}), &left)
	if noRows(err) {
		return c, 0, domain.NotFound("there is no command %q", id)
	}
	return c, left, failed("look at command "+id, err)
}

// LapseCommand settles a command whose time is up: one that waits for its agent expires, one that
// was sent is unknown. Any other stays as it is.
func (s *Store) LapseCommand(ctx context.Context, id string) (domain.Command, error) {
	c, err := s.change(ctx, id, func(c domain.Command) (domain.Command, error) {
		switch c.Status {
		case domain.CommandQueued:
			return s.settle(ctx, c, domain.CommandExpired, "the machine "+c.Hostname+" was not connected in time; the command never ran", true)
		case domain.CommandDelivered, domain.CommandRunning:
			return s.settle(ctx, c, domain.CommandUnknown, "no result came from "+c.Hostname+" in time: the command may have run, in part or to its end", true)
		}
		return c, nil
	})
	if errors.Is(err, errRaced) { // it is not due
		return s.CommandByID(ctx, id)
	}
	return c, err
}

// CancelCommand cancels a command of a project: one that was not sent at once, one that was by
// its agent, which is told and says how it ended. by names who does. Errors: not_found; conflict
// where it has ended, or its agent can't cancel.
func (s *Store) CancelCommand(ctx context.Context, projectID, id, by string) (domain.Command, error) {
	return s.change(ctx, id, func(c domain.Command) (domain.Command, error) {
		switch {
		case c.ProjectID != projectID:
			return c, domain.Hidden("there is no command %q in this project", id)
		case c.Status.Over():
			return c, domain.Errorf(domain.CodeConflict, "command %s has ended already: it is %s", id, c.Status)
		case c.Status == domain.CommandPending, c.Status == domain.CommandQueued:
			return s.settle(ctx, c, domain.CommandCanceled, "canceled by "+by+" before it was sent; it never ran", false)
		}
		var asked bool
		err := s.pool.QueryRow(ctx, sqlCancelSent, pgx.NamedArgs{"command": id, "was": string(c.Status)}).Scan(&asked)
		if noRows(err) {
			return s.cannotCancel(ctx, c)
		}
		if err != nil {
			return c, failed("cancel command "+id, err)
		}
		c.CancelRequested = true
		s.tellAgent(c.AgentID)
		return c, nil
	})
}

// cannotCancel tells a command that has changed from one whose agent can't cancel.
func (s *Store) cannotCancel(ctx context.Context, c domain.Command) (domain.Command, error) {
	now, err := s.CommandByID(ctx, c.ID)
	if err == nil && now.Status != c.Status {
		err = errRaced
	}
	if err != nil {
		return c, err
	}
	return c, domain.Errorf(domain.CodeConflict, "the agent on %s can't cancel a command that it was sent; it ends by itself, or at its time limit of %s", c.Hostname, domain.Span(c.Timeout))
}

// ReleaseCommand lets a command that waited for its approval go to its agent. One whose machine
// has another name by now is rejected, and so is one whose person may do nothing here any more;
// one that does not wait, or not any more, stays as it is.
func (s *Store) ReleaseCommand(ctx context.Context, id string) (domain.Command, error) {
	return s.change(ctx, id, func(c domain.Command) (domain.Command, error) {
		if c.Status != domain.CommandPending {
			return c, nil
		}
		tag, err := s.pool.Exec(ctx, sqlReleaseCommand, pgx.NamedArgs{"command": id})
		if err != nil {
			return c, failed("release command "+id, err)
		}
		if tag.RowsAffected() > 0 {
			s.tellAgent(c.AgentID)
			return s.CommandByID(ctx, id)
		}
		err = s.mayOrder(ctx, c.UserID, c.ProjectID)
		if domain.CodeOf(err) == domain.CodeForbidden {
			return s.settle(ctx, c, domain.CommandRejected, "it was approved, but "+domain.PublicMessage(err), false)
		}
		var agent domain.Agent
		if err == nil {
			agent, err = s.Agent(ctx, c.ProjectID, c.AgentID)
		}
		if err == nil && agent.Hostname == c.Hostname {
			err = errRaced
		}
		if err != nil {
			return c, err
		}
		return s.settle(ctx, c, domain.CommandRejected, fmt.Sprintf(
			"the machine that it was approved for was called %q then, and is %q now; the command never ran: look whether it is the right one, and order it again", c.Hostname, agent.Hostname), false)
	})
}

// RejectCommand ends a command that waited for its approval, because of what is said. One that
// does not wait, or not any more, stays as it is.
func (s *Store) RejectCommand(ctx context.Context, id, why string) (domain.Command, error) {
	return s.change(ctx, id, func(c domain.Command) (domain.Command, error) {
		if c.Status != domain.CommandPending {
			return c, nil
		}
		return s.settle(ctx, c, domain.CommandRejected, why, false)
	})
}

// ProjectCommands lists the open commands of a project, the oldest first.
func (s *Store) ProjectCommands(ctx context.Context, projectID string) ([]domain.Command, error) {
	return s.commands(ctx, sqlProjectCommands, pgx.NamedArgs{"project": projectID})
}

// EndProjectCommands ends the open commands of a project that is being deleted: those that were
// not sent are canceled, the others unknown.
func (s *Store) EndProjectCommands(ctx context.Context, projectID string) (err error) {
	var ends []*batch
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		ends, err = endAll(ctx, tx, sqlOpenOfProject, pgx.NamedArgs{"project": projectID}, "its project was deleted")
		return err
	})
	if err != nil {
		return failed("end the commands of project "+projectID, err)
	}
	for _, b := range ends {
		s.tell(b.told...)
	}
	return nil
}

// endBecause ends a command without its agent; nil where it is over.
func endBecause(ctx context.Context, tx pgx.Tx, id, because string) (*batch, error) {
	for range casTries {
		c, err := scanCommand(tx.QueryRow(ctx, sqlCommand, pgx.NamedArgs{"command": id}))
		if err != nil {
			return nil, err
		}
		to, why := domain.CommandUnknown, because
		switch {
		case c.Status.Over():
			return nil, nil
		case c.Status == domain.CommandPending, c.Status == domain.CommandQueued:
			to, why = domain.CommandCanceled, because+"; it never ran"
		}
		b, _, err := settle(ctx, tx, c, to, why, false)
		if !errors.Is(err, errRaced) {
			return b, err
		}
	}
	return nil, errRaced
}

// UnstartedCommands lists open commands older than age whose workflow is not known to be started,
// the oldest first; not those that wait for an approval.
func (s *Store) UnstartedCommands(ctx context.Context, age time.Duration, limit int) ([]domain.Command, error) {
	return s.commands(ctx, sqlUnstartedCommands, pgx.NamedArgs{"age": age, "limit": limit})
}

// OpenCommands lists commands older than age that have a workflow and have not ended, by id, after
// the given one.
func (s *Store) OpenCommands(ctx context.Context, age time.Duration, after string, limit int) ([]domain.Command, error) {
	return s.commands(ctx, sqlOpenCommands, pgx.NamedArgs{"age": age, "after": after, "limit": limit})
}

// OverdueCommands names open commands whose time is up since longer than age.
func (s *Store) OverdueCommands(ctx context.Context, age time.Duration, limit int) ([]string, error) {
	return s.ids(ctx, "list commands whose time is up", sqlOverdueCommands, pgx.NamedArgs{"age": age, "limit": limit})
}

// UntoldCommands names commands that have ended longer than age ago and whose workflow does not
// know it.
func (s *Store) UntoldCommands(ctx context.Context, age time.Duration, limit int) ([]string, error) {
	return s.ids(ctx, "list commands whose workflow was not told", sqlUntoldCommands, pgx.NamedArgs{"age": age, "limit": limit})
}

// MarkCommandTold records that there is no workflow that has to be told of a command's end.
func (s *Store) MarkCommandTold(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, sqlCommandTold, pgx.NamedArgs{"command": id})
	return failed("mark command "+id+" told", err)
}

// MarkCommandLaunched records that a command's workflow was started.
func (s *Store) MarkCommandLaunched(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, sqlCommandLaunched, pgx.NamedArgs{"command": id})
	return failed(fmt.Sprintf("mark command %s launched", id), err)
}
