package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/settings"
	"github.com/harvest-engine/harvest/internal/agent/uplink"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// connect holds the event stream open until ctx ends. What is waited behind a stream begins anew
// only where that has lasted: a server, or a proxy before it, that greets and drops everybody would
// be asked again by all of them at once, for ever.
func (a *Agent) connect(ctx context.Context) {
	lost := uplink.Backoff{First: time.Second, Most: 30 * time.Second}
	refused := uplink.Backoff{First: 30 * time.Second, Most: 5 * time.Minute}
	for ctx.Err() == nil {
		good := false
		var since time.Time
		err := a.client.Events(ctx, a.hello, func(data []byte) {
			before := good
			if good = a.handle(ctx, data, good); good && !before {
				since = time.Now()
			}
			a.greeted.Store(good)
		})
		a.greeted.Store(false)
		if ctx.Err() != nil {
			return
		}
		if good {
			refused.Reset()
			a.client.Forget()
		}
		if good && time.Since(since) >= a.cfg.GoodAfter {
			lost.Reset()
		}
		wait := lost.Next
		if uplink.Status(err) == http.StatusUnauthorized {
			wait = refused.Next
			err = explained{err}
		}
		pause := max(wait(), uplink.Wait(err))
		a.cfg.Log.Warn("not connected", "error", err, "again_in", pause.Round(time.Millisecond).String())
		if !uplink.Sleep(ctx, pause) {
			return
		}
	}
}

// explained says of a token that is refused what can be done about it, where the server itself
// does not: an older one, or something in between that answers for it.
type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

func (e explained) Error() string {
	var status *uplink.StatusError
	if errors.As(e.error, &status) && status.Code != "" {
		return "the server does not take agent_token: " + status.Message
	}
	return e.error.Error() + "; the server does not take agent_token: it expired or was used up before this machine joined, " +
		"the agent was removed from its project, or its files were copied from another machine. " +
		"Run a new install command of the project on this machine"
}

// handle does what a message says, and reports whether the connection is a good one: that
// the server has greeted the agent, and has not told it of an error since.
func (a *Agent) handle(ctx context.Context, data []byte, good bool) (still bool) {
	defer func() {
		if fault := recover(); fault != nil {
			a.cfg.Log.Error("a message could not be handled", "panic", fault)
			still = good
		}
	}()
	var m agentwire.Message
	if err := json.Unmarshal(data, &m); err != nil {
		a.cfg.Log.Warn("a message of the server is not understood", "error", err)
		return good
	}
	switch m.Type {
	case agentwire.Registered:
		return a.register(m)
	case agentwire.HelloAck:
		a.cfg.Log.Info("connected", "agent", m.AgentID)
		a.hurry()
		return true
	case agentwire.Execute:
		a.execute(ctx, m)
	case agentwire.CancelRun:
		a.cancel(m)
	case agentwire.OpenShell, agentwire.OpenTunnel:
		a.open(ctx, m)
	case agentwire.Uninstall:
		a.cfg.Log.Info("uninstalling, as the server says")
		a.removed(errRemoved)
	case agentwire.ErrorNotice:
		a.cfg.Log.Error("the server reports an error", slog.String("message", journal.Brief(m.Message)))
		return false
	}
	return good
}

// register keeps the permanent token. Where it can't be stored the agent works on with it,
// and joins as the same one when it is started again, by its machine's id.
func (a *Agent) register(m agentwire.Message) bool {
	if !settings.IsToken(m.AgentToken) {
		a.cfg.Log.Warn("the server registered this agent without a token that can be one")
		return false
	}
	if err := a.cfg.Settings.SetToken(m.AgentToken); err != nil {
		a.cfg.Log.Error("the permanent token is not stored", "error", err)
	}
	a.cfg.Log.Info("registered", "agent", m.AgentID)
	a.hurry()
	return true
}

// hurry posts at once what waits for its next attempt: the server is there.
func (a *Agent) hurry() {
	a.outbox.kick()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.commands {
		select {
		case c.nudge <- struct{}{}:
		default:
		}
	}
}

// sessionName is what the id of a session may be: it becomes a part of an address.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func (a *Agent) open(ctx context.Context, m agentwire.Message) {
	switch {
	case !sessionName.MatchString(m.SessionID):
		a.cfg.Log.Warn("a session without a proper id is left out")
	case m.Type == agentwire.OpenShell:
		a.work.Go(func() { a.host.Console(ctx, m.SessionID, m.Cols, m.Rows) })
	default:
		a.work.Go(func() { a.host.Tunnel(ctx, m.SessionID, m.Port) })
	}
}
