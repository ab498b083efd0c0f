package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

// Bodies of agents, in bytes.
const (
	outputLimit int64 = 1 << 20 // agentwire.MaxChunks in base64, with what stands around them
	resultLimit int64 = agentwire.MaxPlain
	// largeBody is from where on results are read a few at a time.
	largeBody = 256 << 10
	// largeBodies is how many: each takes several times its size while it is read.
	largeBodies = 4
)

// agentEvents answers GET /agent/events.
func (s *Server) agentEvents(c *gin.Context) {
	ctx, cancel := s.untilDrain(c.Request.Context())
	defer cancel()
	req, err := decode[none](c)
	if err != nil {
		s.fail(c, err)
		return
	}
	token, _ := bearerToken(c.Request)
	opened := false
	err = s.AgentHub.Stream(ctx, token, helloOf(req.query.Get), func() (func(agentwire.Message) error, error) {
		opened = true
		w, err := sse.NewWriter(c.Writer, s.sendLimit)
		return func(m agentwire.Message) error { return sendMessage(w, m) }, err
	})
	if err != nil && errors.Is(context.Cause(ctx), errStopping) {
		err = errStopping // and no fault, though it came amid a step
	}
	if err != nil && !opened {
		s.fail(c, err)
	}
}

func sendMessage(w *sse.Writer, m agentwire.Message) error {
	if m.Type == "" {
		w.Comment("keep-alive")
	} else {
		w.Event("", encode(m))
	}
	return w.Flush()
}

// helloOf reads what an agent says of itself.
func helloOf(param func(string) string) domain.AgentHello {
	hello := domain.AgentHello{Hostname: param(agentwire.ParamHostname), Machine: param(agentwire.ParamMachine), Version: param(agentwire.ParamVersion)}
	for word := range strings.SplitSeq(param(agentwire.ParamCapabilities), ",") {
		if word = strings.TrimSpace(word); word != "" {
			hello.Capabilities = append(hello.Capabilities, word)
		}
	}
	return hello
}

// agentPing answers POST /agent/ping.
func (s *Server) agentPing(ctx context.Context, r request[none]) (done, error) {
	if err := sameMachine(r); err != nil {
		return done{}, err
	}
	return done{true}, s.AgentHub.Ping(ctx, r.agent)
}

// sameMachine refuses who names another machine than the agent's: a disk that was copied has the
// token as well.
func sameMachine(r request[none]) error {
	named := r.query.Get(agentwire.ParamMachine)
	if named != "" && r.agent.Machine != "" && named != r.agent.Machine {
		return domain.Errorf(domain.CodeUnauthorized, "the token belongs to the agent of another machine; run an install command on this one")
	}
	return nil
}

// agentLeave answers POST /agent/leave, of a machine that the agent was taken off. One that is
// connected was not: it is another one, with a copy of the token.
func (s *Server) agentLeave(ctx context.Context, r request[none]) (done, error) {
	err := sameMachine(r)
	switch {
	case err != nil:
		return done{}, err
	case r.agent.Online:
		return done{}, domain.Errorf(domain.CodeConflict, "the agent is connected; end it first")
	case r.agent.Provider == domain.ProviderLXD:
		return done{}, domain.Invalid("", "the machine is a container that Harvest made; delete it in its project")
	}
	err = s.Machines.RemoveAgent(context.WithoutCancel(ctx), r.agent.ProjectID, r.agent.ID)
	return done{err == nil}, err
}

// agentStarted answers POST /agent/started.
func (s *Server) agentStarted(ctx context.Context, r request[agentwire.Started]) (done, error) {
	if r.body.RequestID == "" {
		return done{}, domain.Invalid("request_id", "name the command that has started")
	}
	return done{true}, s.AgentHub.Started(ctx, r.agent, r.body.RequestID)
}

// outputPost is the body of POST /agent/output.
type outputPost struct {
	agentwire.Output
	Line *agentText `json:"line"`
}

func (*outputPost) mayHoldBytes() {}

// agentOutput answers POST /agent/output.
func (s *Server) agentOutput(ctx context.Context, r request[outputPost]) (agentwire.OutputTaken, error) {
	var line []byte
	if r.body.Line != nil {
		line = append([]byte{}, *r.body.Line...) // not nil: an empty line is one, too
	}
	return s.AgentHub.Output(ctx, r.agent, r.body.Output, line)
}

// fewLarge lets a few large bodies be read at a time; the others wait.
func (s *Server) fewLarge(next gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		if length := c.Request.ContentLength; length >= 0 && length < largeBody {
			next(c)
			return
		}
		select {
		case s.large <- struct{}{}:
			defer func() { <-s.large }()
			next(c)
		case <-c.Request.Context().Done():
			c.Status(statusClientGone)
		}
	}
}

// agentText is a text of an agent that may hold any bytes: those that are no UTF-8 stay as
// they are, where the JSON package would put another character in their place.
type agentText []byte

// UnmarshalJSON reads a JSON string.
func (t *agentText) UnmarshalJSON(doc []byte) error {
	if string(doc) == "null" {
		return nil
	}
	if doc[0] != '"' {
		return domain.Invalid("", "must be a string")
	}
	inner := doc[1 : len(doc)-1]
	out := make([]byte, 0, len(inner))
	for len(inner) > 0 {
		run := len(inner)
		if at := bytes.IndexByte(inner, '\\'); at >= 0 {
			run = at
		}
		out, inner = append(out, inner[:run]...), inner[run:]
		if len(inner) == 0 {
			break
		}
		length := escapes(inner)
		var part string
		if err := json.Unmarshal([]byte(`"`+string(inner[:length])+`"`), &part); err != nil {
			return err
		}
		out, inner = append(out, part...), inner[length:]
	}
	*t = out
	return nil
}

// escapes gives the length of the escapes that a text begins with: several, since two can be
// one character.
func escapes(text []byte) int {
	length := 0
	for length < len(text) && text[length] == '\\' {
		step := 2
		if text[length+1] == 'u' {
			step = 6
		}
		length += step
	}
	return length
}
