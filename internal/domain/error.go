package domain

import (
	"errors"
	"fmt"
	"time"
)

// Code classifies an Error. The API maps each code to one HTTP status, and Temporal
// failures carry it as their type.
type Code string

// The codes of domain errors. A code names what the caller can do, not where it happened.
const (
	CodeInvalid         Code = "invalid"          // the input is wrong; Field says where
	CodeUnprocessable   Code = "unprocessable"    // well-formed, but can't be done as asked
	CodeUnauthorized    Code = "unauthorized"     // no valid credentials
	CodeForbidden       Code = "forbidden"        // known, but not allowed
	CodeNotFound        Code = "not_found"        // does not exist, or is not the caller's
	CodeConflict        Code = "conflict"         // the state does not allow it now
	CodeTooLarge        Code = "too_large"        // beyond a stated limit
	CodeRateLimited     Code = "rate_limited"     // a model provider said 429
	CodeOverloaded      Code = "overloaded"       // a model provider said 502, 503 or 529
	CodeTimeout         Code = "timeout"          // no first byte, or an idle gap, within the limit
	CodeUnavailable     Code = "unavailable"      // a dependency can't be reached
	CodeUpstream        Code = "upstream"         // a dependency answered with an error
	CodeBudgetExhausted Code = "budget_exhausted" // a turn's or a day's budget is used up
	CodeCanceled        Code = "canceled"         // somebody asked to stop
	CodeSuperseded      Code = "superseded"       // a later attempt has taken this work over
	CodeTooMany         Code = "too_many"         // too many attempts; Wait says for how long
	CodeNotConfigured   Code = "not_configured"   // this server is not set up for it
	CodeInternal        Code = "internal"         // a fault of ours; the text stays inside
)

// Error is the one error type of the project.
type Error struct {
	Code    Code
	Message string        // for people; says what to do where something can be done
	Field   string        // the input's field, for CodeInvalid
	Holder  string        // the id of the turn or run that is in the way, for CodeConflict
	Hidden  bool          // for CodeNotFound: it exists, but not for who asks, which only the audit is told
	Actions []string      // the ids of the actions that Holder waits for, for CodeConflict
	Wait    time.Duration // how long to wait before trying again; 0 where unknown
	Err     error         // the cause; never shown outside the process
}

// Error renders the code, the message and the cause, for logs.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = string(e.Code)
	}
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf builds an Error with a formatted message for people.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap builds an Error with a message for people and a cause that stays inside.
func Wrap(code Code, cause error, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: cause}
}

// Invalid reports that the input's field is wrong.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// NotFound reports that the named thing does not exist.
func NotFound(format string, args ...any) *Error {
	return &Error{Code: CodeNotFound, Message: fmt.Sprintf(format, args...)}
}

// Hidden reports that the named thing does not exist, of one that exists for others.
func Hidden(format string, args ...any) *Error {
	e := NotFound(format, args...)
	e.Hidden = true
	return e
}

// CodeOf gives the code of the first Error in err's chain, CodeInternal for any other
// error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// PublicMessage gives the text of err that people outside the process may read: the
// message of a domain error, and a fixed sentence for everything else.
func PublicMessage(err error) string {
	var e *Error
	if !errors.As(err, &e) || e.Code == CodeInternal || e.Message == "" {
		return "something went wrong on our side; the log holds the details"
	}
	return e.Message
}
