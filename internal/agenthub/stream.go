package agenthub

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

var errToken = domain.Errorf(domain.CodeUnauthorized, "the token is none of an agent's; install the agent again with a new command")

// Identify gives the agent of a permanent token, or unauthorized.
func (h *Hub) Identify(ctx context.Context, token string) (domain.Agent, error) {
	if !strings.HasPrefix(token, domain.AgentTokenPrefix) {
		return domain.Agent{}, errToken
	}
	leave, err := h.enter(ctx)
	if err != nil {
		return domain.Agent{}, err
	}
	defer leave()
	agent, err := h.Store.AgentByToken(ctx, domain.MachineTokenHash(token))
	switch domain.CodeOf(err) {
	case domain.CodeUnauthorized, domain.CodeNotFound:
		return domain.Agent{}, errToken
	case "":
		if c := h.connected(agent.ID); c != nil {
			c.hear()
		}
	}
	return agent, err
}

// Stream serves the event stream of an agent until ctx or the connection ends. open is called
// once the agent is admitted, and gives what writes a message; one without a type is a sign of
// life. Unauthorized where the token is no good.
func (h *Hub) Stream(ctx context.Context, token string, hello domain.AgentHello, open func() (send func(agentwire.Message) error, err error)) error {
	if err := check(hello); err != nil {
		return err
	}
	agent, greeting, err := h.admit(ctx, token, hello)
	if err != nil {
		return err
	}
	c := newConnection(agent, hello, h.ProcessID)
	if err := h.connect(ctx, c); err != nil {
		return err
	}
	defer h.disconnect(ctx, c)
	send, err := open()
	if err != nil {
		return nil // the agent has left
	}
	h.Log.Info().Ctx(ctx).Str("agent", agent.ID).Str("hostname", hello.Hostname).Str("version", hello.Version).Msg("agent_connected")
	if send(greeting) != nil {
		return nil
	}
	c.lookAgain()
	h.attend(ctx, c, send)
	return nil
}

// admit finds out whose stream it is, and how the agent is greeted.
func (h *Hub) admit(ctx context.Context, token string, hello domain.AgentHello) (domain.Agent, agentwire.Message, error) {
	if strings.HasPrefix(token, domain.AgentTokenPrefix) {
		agent, err := h.Identify(ctx, token)
		return agent, agentwire.Message{Type: agentwire.HelloAck, AgentID: agent.ID}, err
	}
	if !strings.HasPrefix(token, domain.InstallTokenPrefix) {
		return domain.Agent{}, agentwire.Message{}, errToken
	}
	leave, err := h.enter(ctx)
	if err != nil {
		return domain.Agent{}, agentwire.Message{}, err
	}
	defer leave()
	permanent, hash := domain.NewMachineToken(domain.AgentTokenPrefix)
	agent, err := h.Store.JoinAgent(ctx, domain.MachineTokenHash(token), hash, hello)
	return agent, agentwire.Message{Type: agentwire.Registered, AgentToken: permanent, AgentID: agent.ID}, err
}

// The bounds of what an agent says of itself, in bytes.
const (
	maxHostname     = 253
	maxName         = 100
	maxCapabilities = 32
)

func check(hello domain.AgentHello) error {
	if hello.Hostname == "" {
		return domain.Invalid(agentwire.ParamHostname, "give the machine's name")
	}
	for name, text := range map[string]string{agentwire.ParamHostname: hello.Hostname, agentwire.ParamMachine: hello.Machine, agentwire.ParamVersion: hello.Version} {
		most := maxName
		if name == agentwire.ParamHostname {
			most = maxHostname
		}
		if len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return domain.Invalid(name, "must be one line of at most %d bytes", most)
		}
	}
	if len(hello.Capabilities) > maxCapabilities || len(strings.Join(hello.Capabilities, "")) > maxName*maxCapabilities {
		return domain.Invalid(agentwire.ParamCapabilities, "must be at most %d words", maxCapabilities)
	}
	return nil
}

// connect makes a connection the newest of its agent, everywhere.
func (h *Hub) connect(ctx context.Context, c *connection) error {
	leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	err = h.Store.ConnectAgent(ctx, c.AgentConnection)
	leave()
	if err != nil {
		return err
	}
	h.mu.Lock()
	older := h.open[c.AgentID]
	h.open[c.AgentID] = c
	h.mu.Unlock()
	if older != nil {
		older.end(endReplaced)
	}
	return nil
}

func (h *Hub) disconnect(ctx context.Context, c *connection) {
	h.mu.Lock()
	if h.open[c.AgentID] == c {
		delete(h.open, c.AgentID)
	}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingLimit)
	defer cancel()
	leave, err := h.enter(ctx)
	if err == nil {
		err = h.Store.DisconnectAgent(ctx, c.AgentID, c.ID)
		leave()
	}
	entry := h.Log.Info()
	if err != nil { // the row dies by itself
		entry = h.Log.Warn().Err(err)
	}
	_, _, why := c.take()
	entry.Ctx(ctx).Str("agent", c.AgentID).Str("hostname", c.Hostname).Str("reason", string(why)).Msg("agent_disconnected")
}

// attend writes what there is for the agent until its stream ends.
func (h *Hub) attend(ctx context.Context, c *connection, send func(agentwire.Message) error) {
	alive := time.NewTicker(h.KeepAlive)
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-alive.C:
			if send(agentwire.Message{}) != nil {
				return
			}
		case <-c.wake:
			queue, due, over := c.take()
			for _, m := range queue {
				if send(m) != nil {
					return
				}
			}
			if over != "" {
				h.farewell(ctx, c, over, send)
				return
			}
			if due && h.deliver(ctx, c, send) != nil {
				return
			}
		}
	}
}

// farewell says why a stream is ended. An agent that was removed is told to go; one that has
// joined again with another token is not, though its older token opens nothing any more.
func (h *Hub) farewell(ctx context.Context, c *connection, why ending, send func(agentwire.Message) error) {
	if why == endLost {
		ctx, cancel := context.WithTimeout(ctx, closingLimit)
		defer cancel()
		if _, err := h.Store.Agent(ctx, c.agent.ProjectID, c.AgentID); domain.CodeOf(err) == domain.CodeNotFound {
			_ = send(agentwire.Message{Type: agentwire.Uninstall}) // it may have left
			return
		}
	}
	_ = send(agentwire.Message{Type: agentwire.ErrorNotice, Message: string(why)})
}
