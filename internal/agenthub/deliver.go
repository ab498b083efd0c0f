package agenthub

import (
	"context"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// deliverAtOnce bounds the commands that are claimed before the first is written.
const deliverAtOnce = 16

// deliver sends what waits for an agent. An error ends the stream.
func (h *Hub) deliver(ctx context.Context, c *connection, send func(agentwire.Message) error) error {
	list, err := h.claim(ctx, c)
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return err
		case domain.CodeOf(err) == domain.CodeSuperseded:
			c.end(endLost)
		default: // the next look tries again
			h.Log.Error().Ctx(ctx).Err(err).Str("agent", c.AgentID).Msg("commands_undelivered")
		}
		return nil
	}
	for _, d := range list {
		if err := h.dispatch(ctx, c, d, send); err != nil {
			return err
		}
	}
	if len(list) == deliverAtOnce {
		c.lookAgain()
	}
	return nil
}

// claim takes what is to be sent, before it is: from here on it may run.
func (h *Hub) claim(ctx context.Context, c *connection) ([]domain.CommandDelivery, error) {
	patience := plainGrace
	if c.can(agentwire.Ack) {
		patience = h.Patience
	}
	leave, err := h.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return h.Store.DeliverCommands(ctx, c.AgentID, c.ID, patience, deliverAtOnce)
}

// dispatch sends one command, or that it is to be canceled.
func (h *Hub) dispatch(ctx context.Context, c *connection, d domain.CommandDelivery, send func(agentwire.Message) error) error {
	begun := d.Status == domain.CommandRunning
	log := h.Log.Info().Ctx(ctx).Str("agent", c.AgentID).Str("command", d.ID)
	if d.Cancel {
		if !c.can(agentwire.Cancel) {
			return nil // it was told so who asked
		}
		log.Msg("command_cancel_sent")
		return send(agentwire.Message{Type: agentwire.CancelRun, RequestID: d.ID, Begun: begun})
	}
	if d.Barred != "" && !d.Again { // what has begun goes on
		log.Str("why", d.Barred).Msg("command_barred")
		return h.unsent(ctx, c, d, domain.CommandCanceled, "it was not sent, for "+d.Barred+"; it never ran")
	}
	env, err := h.environment(ctx, c, d)
	if err != nil {
		return h.undeliverable(ctx, c, d, err, send)
	}
	log.Bool("again", d.Again).Msg("command_sent")
	return send(agentwire.Message{
		Type: agentwire.Execute, RequestID: d.ID, Command: d.Command.Command, Env: env,
		TimeoutSecs: int((d.Timeout + time.Second - 1) / time.Second), Begun: begun,
	})
}

// environment puts the values of secrets in the place of their handles. They are in the
// message alone.
func (h *Hub) environment(ctx context.Context, c *connection, d domain.CommandDelivery) (map[string]string, error) {
	if len(d.Env) == 0 {
		return nil, nil
	}
	if !c.can(agentwire.Env) {
		return nil, domain.Errorf(domain.CodeUnprocessable, "the agent on %s can't set variables of a command; install harvest-agent of this server on it", c.Hostname)
	}
	env := make(map[string]string, len(d.Env))
	for name, text := range d.Env {
		if !domain.HoldsHandle(text) {
			env[name] = text
			continue
		}
		value, err := h.reveal(ctx, d.ProjectID, text)
		if err != nil {
			return nil, fmt.Errorf("the variable %s: %w", name, err)
		}
		env[name] = value.Reveal()
	}
	return env, nil
}

func (h *Hub) reveal(ctx context.Context, projectID, handle string) (domain.SecretValue, error) {
	ref, err := domain.ParseHandle(handle)
	if err != nil {
		return domain.SecretValue{}, err
	}
	if ref.Version == 0 {
		if ref, err = h.Secrets.Pin(ctx, projectID, ref); err != nil {
			return domain.SecretValue{}, err
		}
	}
	return h.Secrets.Open(ctx, projectID, ref)
}

// undeliverable settles a command that was claimed and not sent. One that may have been sent
// before is left to its agent, which posts what became of it.
func (h *Hub) undeliverable(ctx context.Context, c *connection, d domain.CommandDelivery, cause error, send func(agentwire.Message) error) error {
	h.Log.Warn().Ctx(ctx).Err(cause).Str("agent", c.AgentID).Str("command", d.ID).Bool("again", d.Again).Msg("command_unsendable")
	if d.Again {
		return nil
	}
	code := domain.CodeOf(cause)
	if passing := code == domain.CodeInternal || code == domain.CodeUnavailable; passing && c.can(agentwire.Ack) {
		_ = send(agentwire.Message{Type: agentwire.ErrorNotice, Message: string(endStuck)})
		return cause // it is delivered again with the next stream
	}
	return h.unsent(ctx, c, d, domain.CommandFailed, "the command was not sent: "+domain.PublicMessage(cause))
}

// unsent ends a command that was claimed and is not sent. What can't be stored is settled in its
// time.
func (h *Hub) unsent(ctx context.Context, c *connection, d domain.CommandDelivery, status domain.CommandStatus, why string) error {
	if err := h.finish(ctx, c.AgentID, domain.CommandEnd{CommandID: d.ID, Status: status, Error: why}); err != nil {
		h.Log.Error().Ctx(ctx).Err(err).Str("command", d.ID).Msg("command_unsettled")
	}
	return nil
}
