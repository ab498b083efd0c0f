package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// rest shows what is kept of the output and was not told as it came: the end of what was longer
// than its log.
func (v *commandView) rest(ctx context.Context, api *client.Client, x domain.CommandInfo, end *commandEnd) error {
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
	for stream, out := range map[string]domain.CommandKept{domain.StreamStdout: now.Stdout, domain.StreamStderr: now.Stderr} {
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
// the exit code does not say is said: by what is told of the end, where anything is.
func ended(x domain.CommandInfo, end *commandEnd) error {
	told := domain.VisibleFault(end.Error)
	say := func(code int, otherwise, advice string) error {
		return exitError{code, errors.New(cmp.Or(told, otherwise) + advice)}
	}
	host := domain.Visible(x.Hostname)
	switch end.Status {
	case domain.CommandDone:
		return ownEnd(end.ExitCode, told)
	case domain.CommandTimedOut:
		return say(exitTimedOut, "it was ended at its time limit", "; a longer one is given by --timeout")
	case domain.CommandCanceled:
		return say(exitStopped, "it was canceled, and ended with all that it had begun", "")
	case domain.CommandFailed:
		return say(exitNotRun, host+" could not start it", "; it never ran")
	case domain.CommandExpired:
		return say(exitNotRun, host+" was not connected in time; it never ran", "; start harvest-agent there, or wait longer by --wait")
	case domain.CommandRejected:
		return say(exitNotRun, "it was not approved; it never ran", "")
	case domain.CommandUnknown:
		return say(exitUnknown, "how it ended on "+host+" can't be known", "; look how things stand on "+host+" before you run it again")
	}
	return say(exitFailed, fmt.Sprintf("it ended as %q", string(end.Status)), "")
}

// ownEnd is the end of a command that ended by itself.
func ownEnd(code *int, told string) error {
	switch {
	case code == nil:
		return exitError{exitFailed, errors.New(cmp.Or(told, "it ended without an exit code"))}
	case told != "":
		return exitError{*code, errors.New(told)}
	case *code == 0:
		return nil
	}
	return exitError{code: *code}
}
