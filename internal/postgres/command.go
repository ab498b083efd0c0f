package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// commandFeed begins the name of the feed of a command, which has one of its own.
const commandFeed = "command/"

func commandStream(id string) string { return commandFeed + id }

const commandColumns = `
c.id, c.project_id, c.agent_id, c.hostname, c.command, c.description, c.env, c.time_limit, c.wait, c.user_id, c.turn_id, c.call_id,
c.status, c.exit_code, c.error, c.swept, c.created_at, c.deliver_by, c.delivered_at, c.started_at, c.result_by, c.ended_at,
c.cancel_requested_at is not null, c.launched_at is not null, c.stdout_taken, c.stderr_taken, c.stdout_bytes, c.stderr_bytes, c.late`

var (
	// One statement, and so one round trip: who begins something in a project shares it with others,
	// and whoever removes the project or the agent waits.
	sqlNewCommand = statement("new command", `
with home as (
    select id from projects where id = @project and deleting_at is null and `+barred("@user", "@project")+` = '' for share
), machine as (
    select a.id, a.hostname from agents a join home on a.project_id = home.id
    where a.id = @agent and (@env::text = '{}' or 'env' = any(a.capabilities)) for key share of a
), feed as (
    insert into streams (id) select @stream from machine on conflict do nothing
), made as (
    insert into commands (id, project_id, agent_id, hostname, command, description, env, time_limit, user_id, turn_id, call_id, status, wait, deliver_by)
    select @command, @project, id, hostname, @line, @description, @env::text::json, @limit::interval, @user, @turn, @call, @status, @wait::interval,
        now() + @wait::interval
    from machine on conflict (id) do nothing returning id
)
insert into subjects (id, stream_id) select id, @stream from made`)

	sqlCommand = statement("read a command", `select`+commandColumns+` from commands c where c.id = @command`)

	sqlCommandOutput = statement("read the output of a command", `
select stdout_head, stdout_tail, stderr_head, stderr_tail from command_outputs where command_id = @command`)

	sqlCommandElsewhere = statement("look for a command anywhere", `select exists (select from commands where id = @id)`)

	sqlCommands = statement("list commands", `
select`+commandColumns+` from commands c
where c.project_id = @project and c.agent_id = @agent
  and (@before = '' or (c.created_at, c.id) < (select b.created_at, b.id from commands b where b.id = @before and b.agent_id = @agent))
order by c.created_at desc, c.id desc limit @limit`)

	sqlCommandPlace = statement("look for a place in a list of commands", `
select exists (select from commands where id = @before and project_id = @project and agent_id = @agent)`)

	sqlCommandEnd = statement("find the end of a command's log", `
select c.ended_at is not null, s.last_seq from commands c join subjects s on s.id = c.id where c.id = @command`)
)

// The bounds of a list of commands.
const (
	defaultCommands = 50
	maxCommands     = 500
)

func scanCommand(row pgx.Row, more ...any) (c domain.Command, err error) {
	var env, late []byte
	var stdout, stderr int64
	fields := []any{
		&c.ID, &c.ProjectID, &c.AgentID, &c.Hostname, &c.Command, &c.Description, &env, &c.Timeout, &c.Wait, &c.UserID, &c.TurnID, &c.CallID,
		&c.Status, &c.ExitCode, &c.Error, &c.Swept, &c.CreatedAt, &c.DeliverBy, &c.DeliveredAt, &c.StartedAt, &c.ResultBy, &c.EndedAt,
		&c.CancelRequested, &c.Launched, &stdout, &stderr, &c.Stdout.Bytes, &c.Stderr.Bytes, &late,
	}
	if err := row.Scan(append(fields, more...)...); err != nil {
		return c, err
	}
	c.Pending = c.Status == domain.CommandPending
	c.Taken = map[string]int64{domain.StreamStdout: stdout, domain.StreamStderr: stderr}
	if err := json.Unmarshal(env, &c.Env); err != nil {
		return c, fmt.Errorf("read the variables of command %s: %w", c.ID, err)
	}
	if late != nil {
		if err := json.Unmarshal(late, &c.Late); err != nil {
			return c, fmt.Errorf("read what came late of command %s: %w", c.ID, err)
		}
	}
	return c, nil
}

// CreateCommand stores a command with its log, and hints at its agent unless it waits for an
// approval. A command of that id that is there already is given back as it stands. Errors:
// not_found where the project has no such agent, forbidden where the person may do nothing there
// any more, unprocessable where the agent can't set the
// variables, conflict where the id is that of another command.
func (s *Store) CreateCommand(ctx context.Context, o domain.CommandOrder) (domain.Command, error) {
	args, err := commandArgs(o)
	if err != nil {
		return domain.Command{}, err
	}
	var c domain.Command
	var found bool
	steps := &pgx.Batch{}
	steps.Queue(sqlNewCommand, args)
	steps.Queue(sqlCommand, args).Query(func(rows pgx.Rows) (err error) {
		if found = rows.Next(); found {
			c, err = scanCommand(rows)
		}
		return err
	})
	if err := s.pool.SendBatch(ctx, steps).Close(); err != nil {
		return domain.Command{}, failed("create a command", err)
	}
	switch {
	case found && c.ProjectID == o.ProjectID && c.AgentID == o.AgentID && c.Command == o.Command:
		if c.Status == domain.CommandQueued {
			s.tellAgent(c.AgentID)
		}
		return c, nil
	case found:
		return domain.Command{}, domain.Errorf(domain.CodeConflict, "there is another command with the id %q", o.ID)
	}
	agent, err := s.Agent(ctx, o.ProjectID, o.AgentID)
	if err == nil {
		err = s.mayOrder(ctx, o.UserID, o.ProjectID)
	}
	if err != nil || len(o.Env) == 0 || agent.Can("env") {
		return domain.Command{}, orNotFound(err, o.ProjectID)
	}
	return domain.Command{}, domain.Errorf(domain.CodeUnprocessable,
		"the agent on this machine can't set variables of a command; install harvest-agent of this server on it, or ask without them")
}

// orNotFound is the error of a project that takes nothing any more.
func orNotFound(err error, projectID string) error {
	if err != nil {
		return err
	}
	return domain.NotFound("there is no project %q", projectID)
}

func commandArgs(o domain.CommandOrder) (pgx.NamedArgs, error) {
	env := []byte("{}")
	if len(o.Env) > 0 {
		var err error
		if env, err = json.Marshal(o.Env); err != nil {
			return nil, fmt.Errorf("keep the variables of a command: %w", err)
		}
	}
	status := domain.CommandQueued
	if o.Pending {
		status = domain.CommandPending
	}
	return pgx.NamedArgs{
		"command": o.ID, "project": o.ProjectID, "agent": o.AgentID, "stream": commandStream(o.ID), "line": o.Command,
		"description": clean(o.Description), "env": string(env), "limit": o.Timeout, "wait": o.Wait,
		"user": o.UserID, "turn": o.TurnID, "call": o.CallID, "status": string(status),
	}, nil
}

// Command gives a command of a project with its output, or not_found.
func (s *Store) Command(ctx context.Context, projectID, id string) (domain.Command, error) {
	c, err := s.commandWithOutput(ctx, id)
	if domain.CodeOf(err) == domain.CodeNotFound || err == nil && c.ProjectID != projectID {
		return domain.Command{}, s.missing(ctx, sqlCommandElsewhere, id, "there is no command %q in this project")
	}
	return c, err
}

// CommandByID gives a command whatever its project, without its output, or not_found.
func (s *Store) CommandByID(ctx context.Context, id string) (domain.Command, error) {
	c, err := scanCommand(s.pool.QueryRow(ctx, sqlCommand, pgx.NamedArgs{"command": id}))
	if noRows(err) {
		return domain.Command{}, domain.NotFound("there is no command %q", id)
	}
	return c, failed("load command "+id, err)
}

func (s *Store) commandWithOutput(ctx context.Context, id string) (c domain.Command, err error) {
	args := pgx.NamedArgs{"command": id}
	steps := &pgx.Batch{}
	steps.Queue(sqlCommand, args).QueryRow(func(row pgx.Row) (err error) {
		c, err = scanCommand(row)
		return err
	})
	steps.Queue(sqlCommandOutput, args).Query(func(rows pgx.Rows) error {
		if !rows.Next() {
			return nil
		}
		return rows.Scan(&c.Stdout.Head, &c.Stdout.Tail, &c.Stderr.Head, &c.Stderr.Tail)
	})
	err = s.pool.SendBatch(ctx, steps).Close()
	if noRows(err) {
		return domain.Command{}, domain.NotFound("there is no command %q", id)
	}
	return c, failed("load command "+id, err)
}

// CommandTaken gives a command of an agent with how much of its output the log has, or
// not_found.
func (s *Store) CommandTaken(ctx context.Context, agentID, id string) (domain.Command, error) {
	c, err := s.CommandByID(ctx, id)
	if err == nil && c.AgentID != agentID {
		return domain.Command{}, domain.Hidden("this agent has no command %q", id)
	}
	return c, err
}

// Commands lists the commands of an agent of a project, the newest first, without outputs. The error
// is invalid for a place that is none of the list's.
func (s *Store) Commands(ctx context.Context, projectID, agentID string, page domain.Page) ([]domain.Command, error) {
	limit := page.Limit
	if limit <= 0 {
		limit = defaultCommands
	}
	args := pgx.NamedArgs{"project": projectID, "agent": agentID, "before": page.Before, "limit": min(limit, maxCommands)}
	list, err := s.commands(ctx, sqlCommands, args)
	if err == nil {
		err = s.placed(ctx, len(list), "cursor", sqlCommandPlace, args)
	}
	return list, err
}

func (s *Store) commands(ctx context.Context, sql string, args pgx.NamedArgs) ([]domain.Command, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, failed("list commands", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Command, error) { return scanCommand(row) })
	return list, failed("list commands", err)
}

// AwaitCommand waits until a command is over, and gives it with its output. It returns early
// with ctx's error, or not_found where the command is removed.
func (s *Store) AwaitCommand(ctx context.Context, id string) (domain.Command, error) {
	var over bool
	var last domain.Cursor
	err := s.pool.QueryRow(ctx, sqlCommandEnd, pgx.NamedArgs{"command": id}).Scan(&over, &last.Seq)
	switch {
	case noRows(err):
		return domain.Command{}, domain.NotFound("there is no command %q", id)
	case err != nil:
		return domain.Command{}, failed("look for the end of command "+id, err)
	case !over:
		for _, err := range s.Follow(ctx, id, last) {
			if err != nil {
				return domain.Command{}, err
			}
		}
	}
	return s.commandWithOutput(ctx, id)
}
