package postgres

import (
	"context"
	"errors"
	"math/bits"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// eventBytes bounds the output that one event holds.
	eventBytes = 32 << 10
	// casTries is how often a step is taken again that another one came before.
	casTries = 20
)

// Steps of a command change its row and append to its log in one statement, by these parts
// before appendEvents. They lock the log first, as all appends do.
const (
	openCommand = `
open as (
    select id from subjects where id = @subject and ended_at is null for no key update
)`
	// atCommand expects the row as it was read.
	atCommand = `
from open where c.id = open.id and c.status = @was and c.stdout_logged = @stdout_logged and c.stderr_logged = @stderr_logged
  and c.stdout_taken = coalesce(@stdout_from::bigint, c.stdout_taken) and c.stderr_taken = coalesce(@stderr_from::bigint, c.stderr_taken)
returning c.id
)`
	takeOutput = `
set status = 'running', started_at = coalesce(c.started_at, now()),
    stdout_taken = greatest(c.stdout_taken, @stdout_taken), stderr_taken = greatest(c.stderr_taken, @stderr_taken),
    stdout_logged = c.stdout_logged + @stdout_more, stderr_logged = c.stderr_logged + @stderr_more,
    stdout_bytes = greatest(c.stdout_bytes, @stdout_bytes), stderr_bytes = greatest(c.stderr_bytes, @stderr_bytes)`
)

var (
	sqlCommandLog = statement("read how far the log of a command is", `
select`+commandColumns+`, c.stdout_logged, c.stderr_logged, exists (select from command_outputs o where o.command_id = c.id)
from commands c where c.id = @command`)

	sqlTakeOutput = statement("take output of a command", "with"+openCommand+`, guard as (
update commands c`+takeOutput+atCommand+appendEvents+appended)

	// Nothing is appended.
	sqlCountOutput = statement("count output of a command", `
update commands c
set stdout_taken = greatest(c.stdout_taken, @stdout_taken), stderr_taken = greatest(c.stderr_taken, @stderr_taken),
    stdout_bytes = greatest(c.stdout_bytes, @stdout_bytes), stderr_bytes = greatest(c.stderr_bytes, @stderr_bytes)
where c.id = @subject and c.status = 'running'
  and c.stdout_taken = coalesce(@stdout_from::bigint, c.stdout_taken) and c.stderr_taken = coalesce(@stderr_from::bigint, c.stderr_taken)
returning 0, now()`)
)

// commandLog is a command with how far its log is.
type commandLog struct {
	domain.Command
	logged map[string]int64 // bytes of each stream that its events hold
	told   bool             // its agent has told how it ended
}

// commandLog gives a command of an agent, or not_found.
func (s *Store) commandLog(ctx context.Context, agentID, id string) (commandLog, error) {
	var at commandLog
	var stdout, stderr int64
	var err error
	at.Command, err = scanCommand(s.pool.QueryRow(ctx, sqlCommandLog, pgx.NamedArgs{"command": id}), &stdout, &stderr, &at.told)
	switch {
	case noRows(err):
		return at, domain.NotFound("there is no command %q", id)
	case err != nil:
		return at, failed("load command "+id, err)
	case at.AgentID != agentID:
		return at, domain.Hidden("this agent has no command %q", id)
	}
	at.logged = map[string]int64{domain.StreamStdout: stdout, domain.StreamStderr: stderr}
	return at, nil
}

// sent reports whether the command is with its agent.
func (c commandLog) sent() bool {
	return c.Status == domain.CommandDelivered || c.Status == domain.CommandRunning
}

// unsent is the error of an agent that tells of a command which it was not sent.
func unsent(id string) error {
	return domain.Errorf(domain.CodeConflict, "command %s was not sent to this agent yet", id)
}

// started gives the event that a command begins with, unless its log has it.
func (c commandLog) started() []domain.NewEvent {
	if c.Status == domain.CommandRunning {
		return nil
	}
	return []domain.NewEvent{domain.NewPayload(domain.EventCommandStarted, map[string]string{"hostname": c.Hostname, "command": c.Command.Command})}
}

// args are the arguments of a step that expects the command as it was read.
func (c commandLog) args(more pgx.NamedArgs) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"was": string(c.Status), "stdout_from": nil, "stderr_from": nil, "stdout_more": int64(0), "stderr_more": int64(0),
		"stdout_taken": int64(0), "stderr_taken": int64(0), "stdout_bytes": int64(0), "stderr_bytes": int64(0),
		"stdout_logged": c.logged[domain.StreamStdout], "stderr_logged": c.logged[domain.StreamStderr],
	}
	for name, value := range more {
		args[name] = value
	}
	return args
}

// output gives the events of chunks, and notes in args what they add. The first chunk of a
// stream must begin where the log ends.
func (c commandLog) output(chunks []domain.CommandChunk, args pgx.NamedArgs) (events []domain.NewEvent) {
	more := map[string]int64{}
	for _, chunk := range chunks {
		if _, begun := more[chunk.Stream]; !begun {
			args[chunk.Stream+"_from"] = chunk.Offset
		}
		events = append(events, outputEvents(chunk.Stream, c.logged[chunk.Stream]+more[chunk.Stream], chunk.Data)...)
		more[chunk.Stream] += int64(len(chunk.Data))
	}
	args["stdout_more"], args["stderr_more"] = more[domain.StreamStdout], more[domain.StreamStderr]
	return events
}

// follows is superseded where the chunks of args do not begin where the log ends.
func (c commandLog) follows(args pgx.NamedArgs) error {
	for _, stream := range []string{domain.StreamStdout, domain.StreamStderr} {
		if from := args[stream+"_from"]; from != nil && from != c.Taken[stream] {
			return domain.Errorf(domain.CodeSuperseded, "the log of command %s has %s up to %d, not %d", c.ID, stream, c.Taken[stream], from)
		}
	}
	return nil
}

// outputEvents gives output as events, whose offsets count what the log has of the stream.
func outputEvents(stream string, offset int64, data []byte) (events []domain.NewEvent) {
	for len(data) > 0 {
		piece := data[:min(len(data), eventBytes)]
		if len(piece) < len(data) { // not within a character
			for back := 1; back < utf8.UTFMax; back++ {
				if b := piece[len(piece)-back]; utf8.RuneStart(b) {
					if !utf8.FullRune(piece[len(piece)-back:]) {
						piece = piece[:len(piece)-back]
					}
					break
				}
			}
		}
		payload := map[string]any{"stream": stream, "offset": offset}
		if utf8.Valid(piece) {
			payload["text"] = string(piece)
		} else {
			payload["data"] = piece // base64
		}
		events = append(events, domain.NewPayload(domain.EventCommandOutput, payload))
		data, offset = data[len(piece):], offset+int64(len(piece))
	}
	return events
}

// skipped gives the event that tells how much a command has written beyond what its log shows,
// a few times for each doubling.
func (c commandLog) skipped(written map[string]int64) []domain.NewEvent {
	now := map[string]int64{
		domain.StreamStdout: max(c.Stdout.Bytes, written[domain.StreamStdout]), domain.StreamStderr: max(c.Stderr.Bytes, written[domain.StreamStderr]),
	}
	tell := false
	for stream, was := range map[string]int64{domain.StreamStdout: c.Stdout.Bytes, domain.StreamStderr: c.Stderr.Bytes} {
		tell = tell || now[stream] > domain.CommandHeadBytes && magnitude(now[stream]) != magnitude(max(was, domain.CommandHeadBytes))
	}
	if !tell {
		return nil
	}
	return []domain.NewEvent{domain.NewPayload(domain.EventCommandSkipped, map[string]int64{
		"stdout_bytes": now[domain.StreamStdout], "stderr_bytes": now[domain.StreamStderr],
	})}
}

// magnitude changes four times while n doubles.
func magnitude(n int64) int {
	size := bits.Len64(uint64(n))
	if size < 3 {
		return size
	}
	return size<<2 | int(n>>(size-3))&3
}

// CommandStarted notes that a command runs, which its agent says; once more changes nothing.
// not_found where the command is not the agent's.
func (s *Store) CommandStarted(ctx context.Context, agentID, id string) error {
	return s.take(ctx, agentID, id, func(c commandLog) error {
		if events := c.started(); events != nil {
			_, err := s.append(ctx, "start command "+id, sqlTakeOutput, newBatch(id, 0, events, c.args(nil)))
			return raced(err)
		}
		return nil
	})
}

// TakeOutput appends output to the log of a command, which has taken of each stream then, as the
// agent counts it; written is what the command has written so far. Superseded where the first
// chunk of a stream does not begin where the log ends; not_found where the command is not the
// agent's. Of one that has ended nothing is taken: its result is whole.
func (s *Store) TakeOutput(ctx context.Context, agentID, id string, chunks []domain.CommandChunk, taken, written map[string]int64) error {
	return s.take(ctx, agentID, id, func(c commandLog) error {
		args := c.args(pgx.NamedArgs{
			"stdout_taken": taken[domain.StreamStdout], "stderr_taken": taken[domain.StreamStderr],
			"stdout_bytes": written[domain.StreamStdout], "stderr_bytes": written[domain.StreamStderr],
		})
		events := append(c.started(), c.output(chunks, args)...)
		if err := c.follows(args); err != nil {
			return err
		}
		events, sql := append(events, c.skipped(written)...), sqlTakeOutput
		if len(events) == 0 {
			sql = sqlCountOutput
		}
		_, err := s.append(ctx, "take output of command "+id, sql, newBatch(id, 0, events, args))
		return raced(err)
	})
}

// errRaced says that the command changed between its reading and the step.
var errRaced = domain.Errorf(domain.CodeUnavailable, "the command changes too fast; try again")

// raced makes the refusal of a step on a command an errRaced.
func raced(err error) error {
	if domain.CodeOf(err) == domain.CodeSuperseded {
		return errRaced
	}
	return err
}

// take does a step with a command that is with its agent, again where another came between.
func (s *Store) take(ctx context.Context, agentID, id string, step func(commandLog) error) error {
	for try := 1; ; try++ {
		c, err := s.commandLog(ctx, agentID, id)
		switch {
		case err != nil || c.Status.Over():
			return err
		case !c.sent():
			return unsent(id)
		}
		if err = step(c); !errors.Is(err, errRaced) || try == casTries {
			return err
		}
	}
}
