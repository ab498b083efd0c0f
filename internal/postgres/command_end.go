package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlEndCommand = statement("end a command", "with"+openCommand+`, guard as (
update commands c
set status = @status, exit_code = @exit_code, error = @error, swept = @swept, ended_at = now(), 
    started_at = case when @ran then coalesce(c.started_at, now()) else c.started_at end,
    stdout_logged = c.stdout_logged + @stdout_more, stderr_logged = c.stderr_logged + @stderr_more,
    stdout_bytes = @stdout_bytes, stderr_bytes = @stderr_bytes`+atCommand+`,
kept as (
    insert into command_outputs (command_id, stdout_head, stdout_tail, stderr_head, stderr_tail)
    select id, @stdout_head, @stdout_tail, @stderr_head, @stderr_tail from guard
)`+appendEvents+endSubject+appended)

	// Its output stands with the command; how it ended stays as it is.
	sqlLateResult = statement("keep what came late of a command", `
with late as (
    update commands c set late = @late::text::json
    where c.id = @subject and c.ended_at is not null and c.late is null and not exists (select from command_outputs o where o.command_id = c.id)
    returning c.id
)
insert into command_outputs (command_id, stdout_head, stdout_tail, stderr_head, stderr_tail)
select id, @stdout_head, @stdout_tail, @stderr_head, @stderr_tail from late on conflict do nothing`)

	// Ends a command without its agent. The time is asked for again behind the locks.
	sqlSettleCommand = statement("settle a command", "with"+openCommand+`, guard as (
update commands c set status = @status, error = @error, ended_at = now()
from open where c.id = open.id and c.status = @was and (not @due or coalesce(c.result_by, c.deliver_by) <= now())
returning c.id
)`+appendEvents+endSubject+appended)

	sqlNow = statement("ask for the time", `select now()`)

	sqlCancelSent = statement("ask for the cancel of a command", `
update commands c set cancel_requested_at = coalesce(c.cancel_requested_at, now())
from agents a where a.id = c.agent_id and 'cancel' = any(a.capabilities) and c.id = @command and c.status = @was returning true`)

	// What is approved is the machine by the name that it was shown with.
	sqlReleaseCommand = statement("release a command", `
update commands c set status = 'queued', deliver_by = now() + c.wait
from agents a where a.id = c.agent_id and a.hostname = c.hostname and c.id = @command and c.status = 'pending'
  and `+barred("c.user_id", "c.project_id")+` = ''`)
)

// EndCommand ends a command as its agent says: row, output, what its log lacks of that, and the
// terminal event are one commit. A command ends once: a result that comes again changes nothing,
// and one that comes after the command was ended without its agent is kept as late. Errors:
// not_found where the command is not the agent's, superseded where its log has grown since
// the rest was cut out, conflict where it was not sent yet.
func (s *Store) EndCommand(ctx context.Context, agentID string, end domain.CommandEnd) (domain.Command, error) {
	switch end.Status {
	case domain.CommandDone, domain.CommandTimedOut, domain.CommandCanceled, domain.CommandFailed, domain.CommandUnknown:
	default:
		return domain.Command{}, domain.Invalid("outcome", "%q is no way for a command to end", end.Status)
	}
	for try := 1; ; try++ {
		c, err := s.commandLog(ctx, agentID, end.CommandID)
		switch {
		case err != nil:
			return domain.Command{}, err
		case c.Status.Over():
			return s.endLate(ctx, c, end)
		case !c.sent():
			return domain.Command{}, unsent(end.CommandID)
		}
		ended, err := s.endSent(ctx, c, end)
		if !errors.Is(err, errRaced) || try == casTries {
			return ended, err
		}
	}
}

// endSent ends a command that is with its agent.
func (s *Store) endSent(ctx context.Context, c commandLog, end domain.CommandEnd) (domain.Command, error) {
	end = judged(c.Command, end)
	args := c.args(outputArgs(end))
	var events []domain.NewEvent
	ran := hasRun(c.Command, end)
	if ran {
		events = c.started()
	}
	events = append(events, c.output(end.Rest, args)...)
	if err := c.follows(args); err != nil {
		return domain.Command{}, err
	}
	args["status"], args["exit_code"], args["error"], args["swept"], args["ran"], args["ends"] = string(end.Status), end.ExitCode, end.Error, end.Swept, ran, true
	args["stdout_bytes"], args["stderr_bytes"] = end.Stdout.Bytes, end.Stderr.Bytes
	ended := c.Command
	ended.Status, ended.ExitCode, ended.Error, ended.Swept = end.Status, end.ExitCode, end.Error, end.Swept
	ended.Stdout, ended.Stderr = end.Stdout, end.Stderr
	var last int64
	var at time.Time
	b := newBatch(c.ID, 0, append(events, doneEvent(ended)), args)
	err := s.pool.QueryRow(ctx, sqlEndCommand, b.args).Scan(&last, &at)
	if noRows(err) {
		return domain.Command{}, errRaced
	}
	if err != nil {
		return domain.Command{}, failed("end command "+c.ID, err)
	}
	s.tell(b.messages(last, at)...)
	ended.EndedAt = &at
	return ended, nil
}

// hasRun reports whether a command that ends so was begun.
func hasRun(c domain.Command, end domain.CommandEnd) bool {
	never := end.Status == domain.CommandFailed || end.Status == domain.CommandCanceled
	return !never || c.Status == domain.CommandRunning || end.ExitCode != nil || end.Stdout.Bytes+end.Stderr.Bytes > 0
}

// judged gives an end as it is stored. A command whose cancel was asked for and that never began
// was canceled.
func judged(c domain.Command, end domain.CommandEnd) domain.CommandEnd {
	end.Error = clean(end.Error)
	if end.Status == domain.CommandFailed && c.CancelRequested {
		end.Status = domain.CommandCanceled
		if end.Error == "" {
			end.Error = "canceled before it began"
		}
	}
	return end
}

func outputArgs(end domain.CommandEnd) pgx.NamedArgs {
	return pgx.NamedArgs{
		"stdout_head": blob(end.Stdout.Head), "stdout_tail": blob(end.Stdout.Tail),
		"stderr_head": blob(end.Stderr.Head), "stderr_tail": blob(end.Stderr.Tail),
	}
}

// blob is never null.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// doneEvent is the terminal event of a command.
func doneEvent(c domain.Command) domain.NewEvent {
	return domain.NewPayload(domain.EventCommandDone, map[string]any{
		"status": c.Status, "exit_code": c.ExitCode, "error": c.Error, "stdout_bytes": c.Stdout.Bytes, "stderr_bytes": c.Stderr.Bytes,
	})
}

// endLate takes a result of a command that has ended.
func (s *Store) endLate(ctx context.Context, c commandLog, end domain.CommandEnd) (domain.Command, error) {
	if c.told || c.DeliveredAt == nil { // what never was sent has no result
		return c.Command, nil
	}
	var now time.Time
	if err := s.pool.QueryRow(ctx, sqlNow).Scan(&now); err != nil {
		return domain.Command{}, failed("keep the late result of command "+c.ID, err)
	}
	args := outputArgs(end)
	args["subject"] = c.ID
	late, err := json.Marshal(domain.CommandLate{Status: end.Status, ExitCode: end.ExitCode, Error: clean(end.Error), At: now.UTC()})
	if err != nil {
		return domain.Command{}, failed("keep the late result of command "+c.ID, err)
	}
	args["late"] = string(late)
	if _, err := s.pool.Exec(ctx, sqlLateResult, args); err != nil {
		return domain.Command{}, failed("keep the late result of command "+c.ID, err)
	}
	return s.commandWithOutput(ctx, c.ID)
}

// settle ends a command that stands as c was read, without its agent, and tells readers. errRaced
// where it does not stand so any more or, with due, is not due.
func (s *Store) settle(ctx context.Context, c domain.Command, to domain.CommandStatus, because string, due bool) (domain.Command, error) {
	b, ended, err := settle(ctx, s.pool, c, to, because, due)
	if err == nil {
		s.tell(b.told...)
	}
	return ended, err
}

func settle(ctx context.Context, db querier, c domain.Command, to domain.CommandStatus, because string, due bool) (*batch, domain.Command, error) {
	was := c.Status
	c.Status, c.Error = to, clean(because)
	b := newBatch(c.ID, 0, []domain.NewEvent{doneEvent(c)}, pgx.NamedArgs{
		"status": string(to), "error": c.Error, "was": string(was), "due": due, "ends": true,
	})
	var last int64
	var at time.Time
	err := db.QueryRow(ctx, sqlSettleCommand, b.args).Scan(&last, &at)
	if noRows(err) {
		return nil, c, errRaced
	}
	if err != nil {
		return nil, c, failed("settle command "+c.ID, err)
	}
	b.told = b.messages(last, at)
	c.EndedAt = &at
	return b, c, nil
}

// change reads a command and does a step with it, again where another came between.
func (s *Store) change(ctx context.Context, id string, step func(domain.Command) (domain.Command, error)) (domain.Command, error) {
	for try := 1; ; try++ {
		c, err := s.CommandByID(ctx, id)
		if err != nil {
			return c, err
		}
		c, err = step(c)
		if !errors.Is(err, errRaced) || try == casTries {
			return c, err
		}
	}
}
