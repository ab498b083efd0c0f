package agenthub

import (
	"context"
	"math"
	"strings"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// statuses are the states of commands that outcomes lead to.
var statuses = map[agentwire.Outcome]domain.CommandStatus{
	"":                   domain.CommandDone, // of plain agents
	agentwire.Exited:     domain.CommandDone,
	agentwire.TimedOut:   domain.CommandTimedOut,
	agentwire.Canceled:   domain.CommandCanceled,
	agentwire.NotStarted: domain.CommandFailed,
	agentwire.Unknown:    domain.CommandUnknown,
}

// maxReason bounds what an agent says of why there is no exit code, in bytes.
const maxReason = 4 << 10

// Result ends a command by what its agent says. It is given once it is committed, and whoever
// waits for the command was told: the agent may then forget it. not_found where the command is not the agent's.
func (h *Hub) Result(ctx context.Context, agent domain.Agent, r agentwire.Result) error {
	status, ok := statuses[r.Outcome]
	switch {
	case r.RequestID == "":
		return domain.Invalid("request_id", "name the command that has ended")
	case !ok:
		return domain.Invalid("outcome", "%q is no outcome that this server knows; install harvest-agent of this server", domain.Visible(string(r.Outcome)))
	}
	if err := countable(r); err != nil {
		return err
	}
	end := domain.CommandEnd{
		CommandID: r.RequestID, Status: status, ExitCode: r.ExitCode, Error: r.Error, Swept: max(0, r.Swept),
		Stdout: outputOf(r.StdoutHead, r.StdoutTail, r.StdoutBytes),
		Stderr: outputOf(r.StderrHead, r.StderrTail, r.StderrBytes),
	}
	return h.finish(ctx, agent.ID, end)
}

// maxBytes bounds what an agent counts of an output: more than any command writes, and so little
// that sums of it are numbers as well.
const maxBytes = 1 << 53

// countable refuses numbers that nothing has.
func countable(r agentwire.Result) error {
	if r.ExitCode != nil && (*r.ExitCode < math.MinInt32 || *r.ExitCode > math.MaxInt32) {
		return domain.Invalid("exit_code", "%d is no exit code", *r.ExitCode)
	}
	if r.Swept > math.MaxInt32 {
		return domain.Invalid("swept", "%d is no number of processes", r.Swept)
	}
	return counted(r.StdoutBytes, r.StderrBytes)
}

// counted refuses numbers of bytes that no output has.
func counted(stdout, stderr int64) error {
	switch {
	case stdout < 0 || stdout > maxBytes:
		return domain.Invalid("stdout_bytes", "must be 0 to %d", int64(maxBytes))
	case stderr < 0 || stderr > maxBytes:
		return domain.Invalid("stderr_bytes", "must be 0 to %d", int64(maxBytes))
	}
	return nil
}

// finish scrubs how a command ended, commits it, and tells whoever waits.
func (h *Hub) finish(ctx context.Context, agentID string, end domain.CommandEnd) error {
	if err := h.commit(ctx, agentID, end); err != nil {
		return err
	}
	return h.Commands.CommandFinished(ctx, end.CommandID)
}

func (h *Hub) commit(ctx context.Context, agentID string, end domain.CommandEnd) error {
	defer h.turns.lock(end.CommandID)()
	leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for range takeTries {
		var command domain.Command
		if command, err = h.Store.CommandTaken(ctx, agentID, end.CommandID); err != nil {
			return err
		}
		var scrubber domain.Scrubber
		if scrubber, err = h.Secrets.Scrubber(ctx, command.ProjectID); err != nil {
			return err
		}
		if _, err = h.Store.EndCommand(ctx, agentID, scrubbed(end, command, scrubber)); domain.CodeOf(err) != domain.CodeSuperseded {
			return err
		}
	}
	return err
}

// outputOf gives an output as it is kept.
func outputOf(head, tail []byte, written int64) domain.CommandOutput {
	head, tail = head[:min(len(head), agentwire.HeadBytes)], tail[max(0, len(tail)-agentwire.TailBytes):]
	return domain.CommandOutput{Head: head, Tail: tail, Bytes: max(written, int64(len(head)+len(tail)))}
}

// scrubbed gives how a command ended without values of secrets, and what its log lacks.
func scrubbed(end domain.CommandEnd, command domain.Command, s domain.Scrubber) domain.CommandEnd {
	end.Error = s.Scrub(end.Error) // before it is cut: of half a value nothing is known
	end.Error = strings.ToValidUTF8(end.Error[:min(len(end.Error), maxReason)], "")
	end.Rest = nil
	for _, o := range []struct {
		stream agentwire.Stream
		out    *domain.CommandOutput
	}{{agentwire.Stdout, &end.Stdout}, {agentwire.Stderr, &end.Stderr}} {
		head := o.out.Head
		if o.out.Cut() > 0 { // what begins here may end in what is missing
			head = head[:len(head)-s.Held(string(head))]
		}
		from := command.Taken[string(o.stream)]
		if from < int64(len(head)) {
			end.Rest = append(end.Rest, domain.CommandChunk{
				Stream: string(o.stream), Offset: from, Data: []byte(s.Scrub(string(head[from:]))),
			})
		}
		*o.out = scrubOutput(*o.out, s)
	}
	return end
}

// scrubOutput takes values out of what is kept of an output. At a cut, what may be the half of
// a value goes too. Bytes shrinks by what was taken out, so that what is missing stays as it is.
func scrubOutput(o domain.CommandOutput, s domain.Scrubber) domain.CommandOutput {
	cut := o.Cut()
	if cut == 0 {
		whole := []byte(s.Scrub(string(o.Head) + string(o.Tail)))
		head := min(len(whole), agentwire.HeadBytes)
		return domain.CommandOutput{Head: whole[:head], Tail: whole[head:], Bytes: int64(len(whole))}
	}
	head, tail := string(o.Head), string(o.Tail)
	held, half := s.Held(head), s.Half(tail)
	head, tail = s.Scrub(head[:len(head)-held]), s.Scrub(tail[half:])
	return domain.CommandOutput{
		Head: []byte(head), Tail: []byte(tail), Bytes: int64(len(head)+len(tail)) + cut + int64(held+half),
	}
}
