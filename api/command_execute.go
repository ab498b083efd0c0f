package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// commandBody is room for the longest command line with its escapes, and for variables.
const commandBody int64 = 2 << 20

// executeBody is an order to run a command on a machine.
type executeBody struct {
	Command     string            `json:"command"` // a line for bash
	Description string            `json:"description"`
	Env         map[string]string `json:"env"`
	TimeoutSecs *int              `json:"timeout_secs"` // of its run; nil for the standard
	WaitSecs    *int              `json:"wait_secs"`    // for its machine to connect; nil for the standard
	Detach      bool              `json:"detach"`       // answer at once
}

func (b *executeBody) validate() error {
	err := secondsOr(&b.TimeoutSecs, "timeout_secs", domain.DefaultCommandTimeout, domain.MaxCommandTimeout)
	if err == nil {
		err = secondsOr(&b.WaitSecs, "wait_secs", domain.DefaultCommandWait, domain.MaxCommandWait)
	}
	return err // the rest is judged where commands are kept
}

// secondsOr judges a number of seconds, which is the standard where it is left out. 0 is none: it
// could mean no limit as well.
func secondsOr(n **int, field string, standard, most time.Duration) error {
	if *n == nil {
		secs := int(standard / time.Second)
		*n = &secs
	}
	if most := int(most / time.Second); **n < 1 || **n > most {
		return domain.Invalid(field, "must be 1 to %d; leave it out for %d", most, int(standard/time.Second))
	}
	return nil
}

// executed is the answer about a command that has ended by itself. Bytes that are no UTF-8 come
// whole in base64 beside the texts.
type executed struct {
	Stdout          string               `json:"stdout"`
	Stderr          string               `json:"stderr"`
	ExitCode        *int                 `json:"exit_code"`
	CommandID       string               `json:"command_id"`
	Status          domain.CommandStatus `json:"status"`
	Hostname        string               `json:"hostname"`
	StdoutBase64    []byte               `json:"stdout_base64,omitempty"` // of the beginning, where it is no text
	StdoutEndBase64 []byte               `json:"stdout_end_base64,omitempty"`
	StderrBase64    []byte               `json:"stderr_base64,omitempty"`
	StderrEndBase64 []byte               `json:"stderr_end_base64,omitempty"`
	StdoutBytes     int64                `json:"stdout_bytes"` // that it wrote
	StderrBytes     int64                `json:"stderr_bytes"`
	StdoutCut       int64                `json:"stdout_cut"` // bytes that are left out between beginning and end
	StderrCut       int64                `json:"stderr_cut"`
}

// ordered is the answer about a command that goes on, or waits for an approval.
type ordered struct {
	CommandID string               `json:"command_id"`
	Status    domain.CommandStatus `json:"status"`
	Hostname  string               `json:"hostname"`
	ActionID  string               `json:"action_id,omitempty"`
	Action    *domain.Action       `json:"action,omitempty"`
}

// commandFailure is a command that did not end by itself.
type commandFailure struct{ command domain.Command }

// Error implements error.
func (f *commandFailure) Error() string {
	c := f.command
	said := map[domain.CommandStatus]string{
		domain.CommandExpired:  "the command was not run: " + c.Hostname + " was not connected in time",
		domain.CommandFailed:   "the command was not run: " + c.Hostname + " could not start it",
		domain.CommandTimedOut: "the command was ended at its time limit of " + domain.Span(c.Timeout) + ", with all that it had started",
		domain.CommandCanceled: "the command was canceled",
		domain.CommandRejected: "the command was not run: nobody approved it",
		domain.CommandUnknown:  "how the command ended on " + c.Hostname + " can't be known: it may have run, in part or to its end, and is not run again by itself",
	}[c.Status]
	if c.Error != "" && !strings.HasPrefix(c.Error, "it was ended at its time limit") { // which is said
		said += ": " + c.Error
	}
	return said
}

func (f *commandFailure) code() domain.Code {
	switch f.command.Status {
	case domain.CommandTimedOut:
		return domain.CodeTimeout
	case domain.CommandCanceled, domain.CommandRejected:
		return domain.CodeCanceled
	}
	return domain.CodeUpstream
}

func (f *commandFailure) status() int {
	if f.code() == domain.CodeCanceled {
		return http.StatusConflict
	}
	return http.StatusBadGateway
}

// execute answers POST /projects/:pid/agents/:aid/execute: it waits for the end of the command,
// which goes on where the client leaves.
func (s *Server) execute(ctx context.Context, r request[executeBody]) (raw, error) {
	id, err := s.commandID(ctx, r)
	if err != nil {
		return raw{}, err
	}
	c, action, err := s.Commands.OrderCommand(ctx, r.caller.Actor, domain.CommandOrder{
		ID: id, ProjectID: r.project.ID, AgentID: r.path["aid"], Command: r.body.Command, Description: r.body.Description, Env: r.body.Env,
		Timeout: time.Duration(*r.body.TimeoutSecs) * time.Second, Wait: time.Duration(*r.body.WaitSecs) * time.Second,
	})
	acted(ctx, []map[string]any{}...) // unless it has run, nothing is vouched for
	if err == nil {
		remark(ctx, fmt.Sprintf("command %s on %s: %s", c.ID, c.Hostname, c.Command))
	}
	switch {
	case err != nil:
		return raw{}, err
	case action != nil:
		return raw{status: http.StatusAccepted, json: encode(ordered{c.ID, c.Status, c.Hostname, action.ID, action})}, nil
	case r.body.Detach:
		return raw{status: http.StatusAccepted, json: encode(ordered{CommandID: c.ID, Status: c.Status, Hostname: c.Hostname})}, nil
	}
	waiting, done := s.untilDrain(ctx)
	defer done()
	if c, err = s.Commands.AwaitCommand(waiting, c.ID); err != nil {
		if errors.Is(context.Cause(waiting), errStopping) {
			return raw{}, domain.Errorf(domain.CodeUnavailable, "the server is stopping, but command %s goes on: read it at /commands/%s", id, id)
		}
		return raw{}, err
	}
	if c.Status != domain.CommandDone {
		return raw{}, &commandFailure{c}
	}
	acted(ctx, sameCalls(c, r.body)...)
	return raw{json: encode(endOf(c))}, nil
}

// commandID gives the id of a new command, or that of the one that was ordered by the same
// Idempotency-Key.
func (s *Server) commandID(ctx context.Context, r request[executeBody]) (string, error) {
	key, err := idempotencyKey(r.header)
	if err != nil || key == "" {
		return domain.NewID(), err
	}
	sum := sha256.Sum256(encode(map[string]any{"route": "execute", "project": r.project.ID, "agent": r.path["aid"], "order": r.body}))
	return s.Commands.CommandKey(ctx, r.caller.UserID, key, sum[:], domain.NewID())
}

// sameCalls gives the inputs of calls of run_command that would have done the same.
func sameCalls(c domain.Command, b executeBody) (inputs []map[string]any) {
	for fields := range 4 {
		input := map[string]any{"agent_id": c.AgentID, "hostname": c.Hostname, "command": b.Command}
		if fields&1 != 0 {
			input["timeout_secs"] = *b.TimeoutSecs
		}
		if fields&2 != 0 {
			input["description"] = b.Description
		}
		if len(b.Env) > 0 {
			input["env"] = b.Env
		}
		inputs = append(inputs, input)
	}
	return inputs
}

func endOf(c domain.Command) executed {
	e := executed{
		ExitCode: c.ExitCode, CommandID: c.ID, Status: c.Status, Hostname: c.Hostname,
		StdoutBytes: c.Stdout.Bytes, StderrBytes: c.Stderr.Bytes, StdoutCut: c.Stdout.Cut(), StderrCut: c.Stderr.Cut(),
	}
	e.Stdout, e.StdoutBase64, e.StdoutEndBase64 = outputText(c.Stdout)
	e.Stderr, e.StderrBase64, e.StderrEndBase64 = outputText(c.Stderr)
	return e
}

// outputText gives an output as text that says where it is cut, and its bytes where they are no
// text.
func outputText(o domain.CommandOutput) (text string, head, tail []byte) {
	cut := o.Cut()
	if cut == 0 {
		all := append(append([]byte(nil), o.Head...), o.Tail...)
		if !utf8.Valid(all) {
			head = all
		}
		return string(all), head, nil // what is no text is replaced as JSON is written
	}
	first, last := wholeLetters(o.Head, o.Tail)
	if !utf8.Valid(first) || !utf8.Valid(last) {
		head, tail = o.Head, o.Tail
	}
	return fmt.Sprintf("%s\n… %d bytes are left out here …\n%s", first, cut, last), head, tail
}

// wholeLetters leaves out the parts of letters that a cut between head and tail went through.
func wholeLetters(head, tail []byte) (first, last []byte) {
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if utf8.RuneStart(head[len(head)-i]) {
			if !utf8.FullRune(head[len(head)-i:]) {
				head = head[:len(head)-i]
			}
			break
		}
	}
	for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	return head, tail
}
