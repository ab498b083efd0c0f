package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"

	"github.com/harvest-engine/harvest/internal/domain"
)

// errNoUpgrade is the answer to who asks for a console by plain HTTP.
var errNoUpgrade = domain.Invalid("", "this route is a WebSocket: connect to it as one")

// console answers GET /projects/:pid/agents/:aid/console: a shell on the machine, for a
// terminal at the other end of the WebSocket. Who opened it is noted as it opens, and for how
// long and why it ended as it ends.
func (s *Server) console(c *gin.Context) {
	req, err := decode[none](c)
	if err != nil {
		s.fail(c, err)
		return
	}
	order, err := s.consoleOrder(req)
	if err != nil {
		s.fail(c, err)
		return
	}
	ctx, cancel := s.untilDrain(c.Request.Context())
	defer cancel()
	_, hostname, err := s.Forwards.AgentPlace(ctx, order.AgentID)
	if err != nil {
		s.fail(c, err)
		return
	}
	opened := time.Time{}
	reason, err := s.Sessions.Console(ctx, order, func() (*websocket.Conn, error) {
		// Where the browser is from was judged with its cookies; a key needs no page of ours.
		conn, err := websocket.Accept(c.Writer, c.Request, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err == nil {
			opened = s.now()
			s.noteDetail(c, req.caller, domain.OutcomeDone, "opened a console on "+hostname)
		}
		return conn, err
	})
	switch {
	case !opened.IsZero():
		took := s.now().Sub(opened).Round(time.Second)
		s.noteDetail(c, req.caller, domain.OutcomeDone, fmt.Sprintf("the console on %s ended after %s: %s", hostname, took, reason))
	case err != nil && !c.Writer.Written():
		s.fail(c, err)
		s.noteDetail(c, req.caller, domain.OutcomeFailed, "no console on "+hostname)
	}
}

// consoleOrder reads what is asked for, of an agent of the project.
func (s *Server) consoleOrder(r request[none]) (domain.AgentSession, error) {
	order := domain.AgentSession{
		AgentID: r.path["aid"], ProjectID: r.project.ID, Cols: domain.DefaultCols, Rows: domain.DefaultRows,
		UserID: r.caller.UserID, UserName: r.caller.Name, Address: addressOf(r.http),
	}
	if _, err := s.Agents.Agent(r.http.Context(), r.project.ID, order.AgentID); err != nil {
		return order, err
	}
	settings, err := s.Projects.ConfirmSettings(r.http.Context(), r.project.ID)
	if err != nil {
		return order, err
	}
	// What is typed into a console asks nobody: it is for those who may approve what they ask for.
	if err := settings.MayDecide(r.caller.Actor, domain.Action{ProjectID: r.project.ID, Requester: r.caller.UserID}); err != nil {
		return order, domain.Errorf(domain.CodeForbidden, "a console is for those who may approve their own commands, and in this project you may not; run single commands instead, which others approve")
	}
	if !websocketAsked(r.http) {
		return order, errNoUpgrade
	}
	err = sizeParam(r.query, "cols", domain.MaxCols, &order.Cols)
	if err == nil {
		err = sizeParam(r.query, "rows", domain.MaxRows, &order.Rows)
	}
	return order, err
}

func sizeParam(query url.Values, name string, most int, size *int) error {
	text := query.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return domain.Invalid(name, "%q is not from 1 to %d", text, most)
	}
	*size = n
	return nil
}

// claimSession answers GET /agent/console/:sid and GET /agent/tunnel/:sid: the agent's end of
// what it was told to open.
func (s *Server) claimSession(kind domain.SessionKind) gin.HandlerFunc {
	return func(c *gin.Context) {
		if !websocketAsked(c.Request) {
			s.fail(c, errNoUpgrade)
			return
		}
		ctx, cancel := s.untilDrain(c.Request.Context())
		defer cancel()
		err := s.Sessions.Claim(ctx, agentOf(c).ID, c.Param("sid"), kind, func() (*websocket.Conn, error) {
			return websocket.Accept(c.Writer, c.Request, &websocket.AcceptOptions{InsecureSkipVerify: true}) // no browser
		})
		if err != nil && !c.Writer.Written() {
			s.fail(c, err)
		}
	}
}

// websocketAsked reports whether a request asks for a WebSocket.
func websocketAsked(r *http.Request) bool {
	return headerHas(r.Header, "Connection", "upgrade") && headerHas(r.Header, "Upgrade", "websocket")
}

// headerHas reports whether a header that lists words has one.
func headerHas(h http.Header, name, word string) bool {
	for _, line := range h.Values(name) {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), word) {
				return true
			}
		}
	}
	return false
}
