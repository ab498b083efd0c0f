package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// ended is how a console ends by what one end says.
type ended struct{ reason string }

func (e *ended) Error() string { return e.reason }

var (
	errIdle    = domain.Errorf(domain.CodeTimeout, "nothing was typed or shown for too long")
	errMax     = domain.Errorf(domain.CodeTimeout, "the console was open for as long as one may be")
	errRemoved = domain.Errorf(domain.CodeNotFound, "the machine was removed")
)

// Console opens a shell on a machine for a person. accept is called for the person's connection
// once the agent has been told; what is wrong before that is an error, such as that the machine
// is not connected. It carries until either end, a limit or ctx ends it, tells the person why,
// and gives the reason: the cause of ctx where that ended it.
func (s *Sessions) Console(ctx context.Context, order domain.AgentSession, accept func() (*websocket.Conn, error)) (reason string, err error) {
	s.open.Add(1)
	defer s.open.Done()
	order.Kind = domain.ConsoleSession
	session, err := s.start(ctx, order)
	if err != nil {
		return "", err
	}
	defer session.end()
	person, err := accept()
	if err != nil {
		return "", err
	}
	c := &console{opened: session, person: newEnd(person)}
	return c.reason(c.run(ctx)), nil
}

// console is a shell that is open.
type console struct {
	*opened
	person *end
	agent  *end
	last   atomic.Int64 // when something moved, in ns
}

// run waits for the agent, carries between it and the person, and gives what ended it.
func (c *console) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.sessions.limits.ConsoleMax, errMax)
	defer cancel()
	conn, err := c.await(ctx)
	if err != nil {
		c.goodbye(err)
		return err
	}
	c.agent = newEnd(conn)
	c.moved()
	// The ends are closed by goodbye: a context that ended would cut them off in mid-frame, and
	// nobody would hear why.
	beneath, release := context.WithCancel(context.WithoutCancel(ctx))
	parts := []func() error{
		func() error { return carry(beneath, c.person, c.agent, fromPerson, c.moved) },
		func() error { return carry(beneath, c.agent, c.person, fromAgent, c.moved) },
		func() error { return c.person.stayAlive(beneath, c.sessions.limits.Silence, nil) },
		func() error {
			return c.agent.stayAlive(beneath, c.sessions.limits.Silence, c.sessions.agentDead(c.AgentID))
		},
		func() error { return c.watch(beneath) },
		func() error { return until(beneath, ctx) },
	}
	over := make(chan error, len(parts))
	for _, part := range parts {
		go func() { over <- part() }()
	}
	first := <-over
	c.goodbye(first)
	release()
	for range len(parts) - 1 {
		<-over
	}
	return first
}

// until returns as the person's request ends, with its cause, or as the session does.
func until(session, request context.Context) error {
	select {
	case <-request.Done():
		return context.Cause(request)
	case <-session.Done():
		return session.Err()
	}
}

func (c *console) moved() { c.last.Store(time.Now().UnixNano()) }

// watch returns when nothing has moved for too long, or the machine is gone.
func (c *console) watch(ctx context.Context) error {
	limits := c.sessions.limits
	idle := time.NewTimer(limits.ConsoleIdle)
	defer idle.Stop()
	look := time.NewTicker(limits.Look)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-idle.C:
			left := limits.ConsoleIdle - time.Since(time.Unix(0, c.last.Load()))
			if left <= 0 {
				return errIdle
			}
			idle.Reset(left)
		case <-look.C:
			stands, err := c.sessions.store.SessionStands(ctx, c.ID)
			if err == nil && !stands {
				return errRemoved
			}
		}
	}
}

// fromPerson lets keystrokes pass, which are binary, and what a terminal says of its size.
func fromPerson(text []byte) ([]byte, error) {
	var frame agentwire.Frame
	if json.Unmarshal(text, &frame) != nil || frame.Type != agentwire.Resize {
		return nil, nil // of a newer client
	}
	if frame.Cols < 1 || frame.Cols > domain.MaxCols || frame.Rows < 1 || frame.Rows > domain.MaxRows {
		return nil, nil
	}
	return text, nil
}

// fromAgent lets pass what an agent says of its shell, and ends the console with it.
func fromAgent(text []byte) ([]byte, error) {
	var frame agentwire.Frame
	if json.Unmarshal(text, &frame) != nil {
		return nil, nil
	}
	switch frame.Type {
	case agentwire.Ready:
		return text, nil
	case agentwire.ExitedWith:
		if frame.Code == nil {
			return text, &ended{"the shell ended"}
		}
		return text, &ended{fmt.Sprintf("the shell ended with exit code %d", *frame.Code)}
	case agentwire.FrameError:
		return text, &ended{"the agent could not go on: " + frame.Message}
	}
	return nil, nil // of a newer agent
}

// goodbye tells the person why the console ends, unless they know, and closes both ends; once.
func (c *console) goodbye(why error) {
	told := &agentwire.Frame{Type: agentwire.FrameError, Message: domain.PublicMessage(why)}
	var over *ended
	var gone *parted
	switch {
	case errors.As(why, &over):
		told = nil
	case errors.As(why, &gone) && gone.from == c.person:
		told = nil
	case errors.As(why, &gone):
		told.Message = "the connection to " + c.hostname + " was cut off; the shell is ended with all that ran in it, so open a new console"
	}
	code := websocket.StatusNormalClosure
	if told != nil {
		code = websocket.StatusTryAgainLater
		if text, err := json.Marshal(told); err == nil {
			limited, cancel := context.WithTimeout(context.Background(), closeLimit)
			_ = c.person.write(limited, websocket.MessageText, text) // who does not read is not told
			cancel()
		}
	}
	if c.agent == nil {
		_ = c.person.conn.Close(code, "")
		return
	}
	closeBoth(c.person, c.agent, code)
}

// reason says for the audit how a console ended.
func (c *console) reason(why error) string {
	var over *ended
	var gone *parted
	switch {
	case errors.As(why, &over):
		return over.reason
	case !errors.As(why, &gone):
		return domain.PublicMessage(why)
	case gone.from == c.person && closed(gone.err):
		return "the person closed it"
	case gone.from == c.person:
		return "the person's connection was lost"
	case closed(gone.err):
		return "the agent closed it"
	}
	return "the agent's connection was lost"
}
