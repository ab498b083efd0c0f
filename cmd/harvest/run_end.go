package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// rest shows what is kept of the output and was not told as it came: the end of what was longer
// than its log.
func (v *commandView) rest(ctx context.Context, api *client.Client, x client.Command, end *commandEnd) error {
	whole := func(stream string, written int64) bool {
		return v.shown[stream] >= min(written, domain.CommandHeadBytes) && written <= domain.CommandHeadBytes
	}
	if whole(domain.StreamStdout, end.Stdout) && whole(domain.StreamStderr, end.Stderr) {
		return nil
	}
	now, err := api.Command(ctx, x.ID)
	if err != nil {
		return err
	}
	for stream, out := range map[string]client.CommandOutput{domain.StreamStdout: now.Stdout, domain.StreamStderr: now.Stderr} {
		if len(out.Tail) == 0 {
			continue
		}
		if out.Cut > 0 {
			v.note("%d bytes of the %s are left out here; they are not kept", out.Cut, streamName(stream))
		}
		if err := v.write(stream, out.Tail); err != nil {
			return err
		}
	}
	return nil
}

func streamName(stream string) string {
	if stream == domain.StreamStderr {
		return "standard error"
	}
	return "standard output"
}

// printCommand prints a command as the API gives it.
func (p *program) printCommand(ctx context.Context, api *client.Client, id string) error {
	var whole json.RawMessage
	if err := api.CommandInto(ctx, id, &whole); err != nil {
		return err
	}
	return p.showJSON(whole)
}

// ended gives how a command ended as an error with the exit code; nil where it ended well. What
// the exit code does not say is said.
func ended(x client.Command, end *commandEnd) error {
	because := ""
	if end.Error != "" {
		because = ": " + domain.Visible(end.Error)
	}
	host := domain.Visible(x.Hostname)
	say := func(code int, format string, args ...any) error { return exitError{code, fmt.Errorf(format, args...)} }
	switch end.Status {
	case domain.CommandDone:
		switch {
		case end.ExitCode == nil:
			return say(exitFailed, "it ended without an exit code%s", because)
		case *end.ExitCode == 0:
			return nil
		case end.Error != "":
			return exitError{*end.ExitCode, errors.New(domain.Visible(end.Error))}
		}
		return exitError{code: *end.ExitCode}
	case domain.CommandTimedOut:
		return say(exitTimedOut, "it ran longer than its time limit and was ended, with all that it had begun; give it more with --timeout")
	case domain.CommandCanceled:
		return say(exitStopped, "it was canceled%s", because)
	case domain.CommandFailed:
		return say(exitNotRun, "it never ran%s", because)
	case domain.CommandExpired:
		return say(exitNotRun, "it never ran: %s was not connected in time; start harvest-agent there, or wait longer with --wait", host)
	case domain.CommandRejected:
		return say(exitNotRun, "it never ran: it was not approved%s", because)
	case domain.CommandUnknown:
		return say(exitUnknown, "it was sent to %s, and how it ended can't be known%s; look how things stand there before you run it again", host, because)
	}
	return say(exitFailed, "it ended as %q%s", string(end.Status), because)
}
