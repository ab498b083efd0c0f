package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Service is a provider as messages name it.
type Service struct {
	ID  string
	Key string // its API key, which no message may hold
}

// Fail turns what an SDK gave as an error of a call with the model into a domain error.
// nil stays nil.
func (s Service) Fail(ctx context.Context, model string, err error) error {
	if err == nil {
		return nil
	}
	if ended := canceled(ctx); ended != nil {
		return ended
	}
	var status *statusError
	var lost *lostError
	var ours *domain.Error
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &status):
		return s.answer(model, status.status, status.header, status.body)
	case errors.Is(err, errPage):
		return domain.Errorf(domain.CodeUpstream, "provider %q answered with a web page: check base_url in its [[llm]] block", s.ID)
	case errors.Is(err, errSilent):
		return domain.Errorf(domain.CodeTimeout, "provider %q sent nothing within its timeout_secs", s.ID)
	case errors.As(err, &lost):
		return domain.Wrap(domain.CodeUnavailable, s.cause(err), "the connection to provider %q could not be made or broke", s.ID)
	}
	return domain.Wrap(domain.CodeUpstream, s.cause(err), "provider %q sent an answer that can't be read", s.ID)
}

// Report turns an error object that came inside of a stream, as JSON, into a domain error.
func (s Service) Report(model string, body []byte) error {
	return s.answer(model, 0, nil, body)
}

// Broken reports a stream that ended before the answer did.
func (s Service) Broken() error {
	return domain.Errorf(domain.CodeUnavailable, "provider %q ended the stream before the answer was complete", s.ID)
}

// Empty reports a stream that brought nothing.
func (s Service) Empty() error {
	return domain.Errorf(domain.CodeUpstream, "provider %q gave an empty answer", s.ID)
}

// answer maps an error answer. status is 0 inside of a stream.
func (s Service) answer(model string, status int, header http.Header, body []byte) error {
	p := parseProblem(body)
	code := p.classify(status)
	shown := s.hide(p.message)
	if shown == "" {
		shown = http.StatusText(status)
	}
	at := ""
	if status != 0 {
		at = " (" + strconv.Itoa(status) + ")"
	}
	failure := &domain.Error{Code: code, Err: s.cause(errors.New(string(body)))}
	switch {
	case p.refusesKey(status):
		failure.Code = domain.CodeUpstream
		failure.Message = "provider " + strconv.Quote(s.ID) + " refused the API key" + at + ": check api_key in its [[llm]] block, and what the key may use"
		return failure
	case code == domain.CodeRateLimited:
		failure.Wait = cmp.Or(retryAfter(header, time.Now()), p.retryDelay)
		failure.Message = "provider " + strconv.Quote(s.ID) + " has reached its rate limit" + at + ": " + shown
	case code == domain.CodeOverloaded:
		failure.Message = "provider " + strconv.Quote(s.ID) + " is overloaded" + at + ": " + shown
	case code == domain.CodeTimeout:
		failure.Message = "provider " + strconv.Quote(s.ID) + " did not answer in time" + at + ": " + shown
	case code == domain.CodeTooLarge:
		failure.Message = "the conversation is too long for " + model + " of provider " + strconv.Quote(s.ID) + at + ": " + shown
	case code == domain.CodeInvalid:
		failure.Field = "model"
		failure.Message = "provider " + strconv.Quote(s.ID) + " has no model " + strconv.Quote(model) + at + ": " + shown + "; check model and base_url"
	default:
		failure.Message = "provider " + strconv.Quote(s.ID) + " failed" + at + ": " + shown
	}
	return failure
}

// problem is what the three services say in an error answer.
type problem struct {
	message    string
	kinds      []string // its types, codes and statuses, in lower case
	retryDelay time.Duration
}

// parseProblem reads {"error": {…}}, also inside of an array, or a bare error object. What
// is neither is taken as the message.
func parseProblem(body []byte) problem {
	body = []byte(strings.TrimSpace(string(body)))
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	inner := body
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 {
		inner = outer.Error
	}
	var text string
	if json.Unmarshal(inner, &text) == nil {
		return problem{message: text}
	}
	var fields struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Status  string `json:"status"`
		Code    any    `json:"code"` // a number at one service, a string at another
		Details []struct {
			Reason     string `json:"reason"`
			RetryDelay string `json:"retryDelay"`
		} `json:"details"`
	}
	if json.Unmarshal(inner, &fields) != nil {
		return problem{message: string(body)}
	}
	p := problem{message: fields.Message, kinds: []string{strings.ToLower(fields.Type), strings.ToLower(fields.Status)}}
	switch code := fields.Code.(type) {
	case string:
		p.kinds = append(p.kinds, strings.ToLower(code))
	case float64:
		p.kinds = append(p.kinds, strconv.Itoa(int(code)))
	}
	for _, d := range fields.Details {
		p.kinds = append(p.kinds, strings.ToLower(d.Reason))
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			p.retryDelay = wait
		}
	}
	return p
}

// tooLong are words by which the services say that a request exceeds the model's window.
var tooLong = []string{
	"prompt is too long", "context length", "context_length_exceeded", "context window", "exceed context limit",
	"maximum context", "exceeds the maximum number of tokens", "input is too long", "request_too_large",
}

// classify gives the code for a status and what the body says.
func (p problem) classify(status int) domain.Code {
	is := func(kinds ...string) bool {
		return slices.ContainsFunc(p.kinds, func(k string) bool { return slices.Contains(kinds, k) })
	}
	message := strings.ToLower(p.message)
	long := slices.ContainsFunc(tooLong, func(t string) bool { return strings.Contains(message, t) || is(t) })
	switch {
	case status == http.StatusRequestEntityTooLarge, long && (status == 0 || status/100 == 4):
		return domain.CodeTooLarge
	case status == http.StatusTooManyRequests, is("429", "rate_limit_error", "rate_limit_exceeded", "resource_exhausted", "insufficient_quota"):
		return domain.CodeRateLimited
	case slices.Contains([]int{502, 503, 529}, status), is("502", "503", "529", "overloaded_error", "overloaded", "unavailable", "service_unavailable"):
		return domain.CodeOverloaded
	case slices.Contains([]int{408, 504, 524}, status), is("408", "504", "timeout_error", "deadline_exceeded"):
		return domain.CodeTimeout
	case status == http.StatusNotFound, is("404", "not_found", "not_found_error", "model_not_found"):
		return domain.CodeInvalid
	}
	return domain.CodeUpstream
}

// refusesKey reports whether the key is what the service does not accept.
func (p problem) refusesKey(status int) bool {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return true
	}
	return slices.ContainsFunc(p.kinds, func(k string) bool {
		return slices.Contains([]string{"401", "403", "authentication_error", "permission_error", "invalid_api_key", "api_key_invalid", "unauthenticated", "permission_denied"}, k)
	})
}

// retryAfter reads how long a service asks to be left alone; 0 where it does not say. A
// date is taken relative to the service's own clock. Less than a second becomes one.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return max(time.Second, time.Duration(ms*float64(time.Millisecond)))
	}
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 {
		return max(time.Second, time.Duration(min(seconds, 1e6)*float64(time.Second)))
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(header.Get("Date")); err == nil {
		now = theirs
	}
	return max(time.Second, at.Sub(now))
}

const maxShown = 300

// hide makes a service's text fit to be shown: one line, short, without the key.
func (s Service) hide(text string) string {
	if s.Key != "" {
		text = strings.ReplaceAll(text, s.Key, "[key]")
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// cause keeps the text of err for logs, without the key and without what err refers to:
// an SDK's error holds the request, and that the key.
func (s Service) cause(err error) error { return errors.New(s.hide(err.Error())) }
