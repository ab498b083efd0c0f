package api

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/obs"
)

const requestIDHeader = "X-Request-Id"

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// identify gives the request an id, the client's own where it is a plain word.
func (s *Server) identify(c *gin.Context) {
	id := c.GetHeader(requestIDHeader)
	if !requestIDPattern.MatchString(id) {
		id = domain.NewID()
	}
	c.Header(requestIDHeader, id)
	c.Header("X-Content-Type-Options", "nosniff")
	// The deadline of an earlier answer on this connection would stay otherwise.
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{})
	c.Request = c.Request.WithContext(obs.With(c.Request.Context(), obs.IDs{RequestID: id}))
	c.Next()
}

// often are the routes that are called by programs, all the time.
var often = map[string]bool{"/health": true, "/ready": true, "/agent/ping": true, "/agent/output": true}

// logAccess writes one line per request. It never logs query strings: they may hold a ticket.
func (s *Server) logAccess(c *gin.Context) {
	start := s.now()
	c.Next()
	entry := s.Log.Info()
	if often[c.FullPath()] {
		entry = s.Log.Debug()
	}
	entry.Ctx(obs.With(c.Request.Context(), obs.IDs{TurnID: turnOf(c)})).
		Str("method", c.Request.Method).
		Str("route", c.FullPath()).
		Str("path", c.Request.URL.EscapedPath()).
		Int("status", c.Writer.Status()).
		Int("bytes", max(0, c.Writer.Size())).
		Dur("ms", s.now().Sub(start)).
		Str("client", addressOf(c.Request)).
		Msg("request")
}

// turnOf gives the turn that a request started or named, or "".
func turnOf(c *gin.Context) string {
	if id := c.Writer.Header().Get(turnIDHeader); id != "" {
		return id
	}
	if strings.HasPrefix(c.FullPath(), "/turns/:id") {
		return c.Param("id")
	}
	return ""
}

// recoverPanic turns a handler's panic into a 500, and the server lives on.
func (s *Server) recoverPanic(c *gin.Context) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(cause) // net/http's own way to drop a connection
		}
		s.Log.Error().Ctx(c.Request.Context()).Str("panic", fmt.Sprint(cause)).Bytes("stack", debug.Stack()).Msg("handler_panicked")
		if c.Writer.Written() {
			panic(http.ErrAbortHandler) // half an answer must not look like a whole one
		}
		s.fail(c, domain.Errorf(domain.CodeInternal, "panic"))
	}()
	c.Next()
}
