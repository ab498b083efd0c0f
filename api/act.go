package api

import (
	"context"
	"net/url"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

// act is what a request does of what a tool does in calls that ask.
type act struct {
	tool   string
	inputs []map[string]any // of the calls that do the same
}

type actKey struct{}

// acting prepares the requests of a route that acts as a tool; "" for one that does not.
func acting(tool string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if tool != "" {
			c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), actKey{}, &act{tool: tool}))
		}
		c.Next()
	}
}

// acted tells by which inputs the tool of the route would have done what the request did. A
// handler that does not call it has done what the path's parameters say, but for :pid.
func acted(ctx context.Context, inputs ...map[string]any) {
	if a, acts := ctx.Value(actKey{}).(*act); acts {
		a.inputs = inputs
	}
}

// noteAct records what a request did, before it is answered: the client may report it at once.
// What can't be recorded is done all the same; a report of it is then not verified.
func (s *Server) noteAct(c *gin.Context) {
	ctx := c.Request.Context()
	a, acts := ctx.Value(actKey{}).(*act)
	if !acts {
		return
	}
	if a.inputs == nil {
		a.inputs = []map[string]any{pathInput(c)}
	}
	p := domain.Performance{UserID: callerOf(c).UserID, ProjectID: projectOf(c).ID, Tool: a.tool}
	for _, input := range a.inputs {
		p.Inputs = append(p.Inputs, encode(input))
	}
	if err := s.Actions.NotePerformed(context.WithoutCancel(ctx), p); err != nil {
		s.Log.Warn().Ctx(ctx).Err(err).Str("tool", a.tool).Msg("act_unnoted")
	}
}

// pathInput makes an input of the path's parameters.
func pathInput(c *gin.Context) map[string]any {
	input := map[string]any{}
	for _, p := range c.Params {
		if p.Key != "pid" {
			input[p.Key], _ = url.PathUnescape(p.Value) // decode has read it
		}
	}
	return input
}
