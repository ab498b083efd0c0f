package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/obs"
)

// envelope is the body of every answer that is not a success.
type envelope struct {
	Error     string      `json:"error"` // for people
	Code      domain.Code `json:"code"`
	RequestID string      `json:"request_id"`
	Field     string      `json:"field,omitempty"`   // what is wrong in the request
	Holder    string      `json:"holder,omitempty"`  // the turn or run that is in the way
	Actions   []string    `json:"actions,omitempty"` // the actions that it waits for
	// Of a command that did not end by itself.
	CommandID string               `json:"command_id,omitempty"`
	Status    domain.CommandStatus `json:"status,omitempty"`
}

// statuses maps each domain code to its HTTP status.
var statuses = map[domain.Code]int{
	domain.CodeInvalid:         http.StatusBadRequest,
	domain.CodeUnprocessable:   http.StatusUnprocessableEntity,
	domain.CodeUnauthorized:    http.StatusUnauthorized,
	domain.CodeForbidden:       http.StatusForbidden,
	domain.CodeNotFound:        http.StatusNotFound,
	domain.CodeConflict:        http.StatusConflict,
	domain.CodeTooLarge:        http.StatusRequestEntityTooLarge,
	domain.CodeRateLimited:     http.StatusBadGateway,
	domain.CodeOverloaded:      http.StatusBadGateway,
	domain.CodeTimeout:         http.StatusGatewayTimeout,
	domain.CodeUnavailable:     http.StatusServiceUnavailable,
	domain.CodeUpstream:        http.StatusBadGateway,
	domain.CodeBudgetExhausted: http.StatusTooManyRequests,
	domain.CodeCanceled:        http.StatusConflict,
	domain.CodeSuperseded:      http.StatusConflict,
	domain.CodeTooMany:         http.StatusTooManyRequests,
	domain.CodeNotConfigured:   http.StatusNotImplemented,
	domain.CodeInternal:        http.StatusInternalServerError,
}

// statusClientGone is what the access log says of a client that left before its answer.
const statusClientGone = 499

var (
	errNoRoute  = domain.NotFound("there is no such route")
	errStopping = domain.Errorf(domain.CodeUnavailable, "the server is stopping; try again")
)

// noMethod is of a route that takes other methods than the one it was called by.
func noMethod(takes string) error {
	if takes == "" {
		return &domain.Error{Code: codeMethod, Message: "this route does not take that method"}
	}
	return &domain.Error{Code: codeMethod, Message: "this route does not take that method; it takes " + takes}
}

// codeMethod is the API's own: no domain error is about methods.
const codeMethod domain.Code = "method_not_allowed"

// turnFailure is a turn that ended without an answer: 504 for a time limit, else 502.
type turnFailure struct{ turn domain.Turn }

// Error implements error.
func (f *turnFailure) Error() string {
	if f.turn.Error != "" {
		return f.turn.Error
	}
	return "the turn ended without an answer"
}

func (f *turnFailure) code() domain.Code {
	if f.turn.ErrorCode == "" {
		return domain.CodeUpstream
	}
	return f.turn.ErrorCode
}

func (f *turnFailure) status() int {
	if f.turn.ErrorCode == domain.CodeTimeout {
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

// fail answers with the envelope of err. Faults of ours are logged with their cause, which
// the client never sees.
func (s *Server) fail(c *gin.Context, err error) {
	c.Abort()
	ctx := c.Request.Context()
	if errors.Is(context.Cause(ctx), errAccessEnded) {
		err = errAccessEnded
	} else if ctx.Err() != nil {
		c.Status(statusClientGone)
		return
	}
	status, body := describe(err)
	body.RequestID = obs.From(ctx).RequestID
	if status >= http.StatusInternalServerError {
		s.Log.Error().Ctx(ctx).Err(err).Int("status", status).Msg("request_failed")
	}
	if status == http.StatusUnauthorized {
		c.Header("WWW-Authenticate", "Bearer")
	}
	var e *domain.Error
	if errors.As(err, &e) && e.Wait > 0 {
		c.Header("Retry-After", strconv.Itoa(int(e.Wait.Seconds()+0.999)))
	}
	c.Set(hiddenKey, e != nil && e.Hidden)
	writeJSON(c, status, body)
}

func describe(err error) (int, envelope) {
	var failed *turnFailure
	if errors.As(err, &failed) {
		return failed.status(), envelope{Error: failed.Error(), Code: failed.code()}
	}
	var ended *commandFailure
	if errors.As(err, &ended) {
		return ended.status(), envelope{Error: ended.Error(), Code: ended.code(), CommandID: ended.command.ID, Status: ended.command.Status}
	}
	if errors.Is(err, context.DeadlineExceeded) && domain.CodeOf(err) == domain.CodeInternal {
		err = domain.Wrap(domain.CodeTimeout, err, "this took too long; try again")
	}
	code := domain.CodeOf(err)
	status, known := statuses[code]
	switch {
	case code == codeMethod:
		status = http.StatusMethodNotAllowed
	case !known:
		status, code = http.StatusInternalServerError, domain.CodeInternal
	}
	body := envelope{Error: domain.PublicMessage(err), Code: code}
	var e *domain.Error
	if errors.As(err, &e) {
		body.Field, body.Holder, body.Actions = e.Field, e.Holder, e.Actions
		if e.Field != "" {
			body.Error = e.Field + ": " + body.Error
		}
	}
	return status, body
}
