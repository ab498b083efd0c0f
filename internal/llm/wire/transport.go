// Package wire holds what the providers that speak HTTP have in common: a client that
// bounds silence, the reading of error answers, and the gathering of a streamed answer.
package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxErrorBody = 64 << 10
	idlePerHost  = 64 // connections kept for the calls of parallel turns
)

// errSilent is why a request that got no byte for too long was ended.
var errSilent = errors.New("no byte within the limit")

// errPage is an answer for people's eyes: a proxy's, a sign-in, or another service's.
var errPage = errors.New("a web page came in place of an answer")

// statusError is an HTTP answer other than success. It never holds a request, whose
// headers carry the key.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

func (e *statusError) Error() string { return http.StatusText(e.status) }

// lostError is a connection that could not be made or that broke.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }

// NewClient gives an HTTP client for a model service. silence bounds the wait for the
// first byte of an answer and for each next one; a whole answer may take as long as it
// takes. Answers other than success become errors that Service.Fail understands.
func NewClient(silence time.Duration) *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = idlePerHost
	base.DisableCompression = true // a compressor holds small pieces back
	return &http.Client{Transport: &transport{base: base, silence: silence}}
}

type transport struct {
	base    *http.Transport
	silence time.Duration
}

// CloseIdleConnections frees what http.Client.CloseIdleConnections is to free.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// RoundTrip sends req and watches over the answer.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	watch := &watched{ctx: ctx, cancel: cancel, silence: t.silence}
	watch.timer = time.AfterFunc(t.silence, func() { cancel(errSilent) })
	res, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		watch.stop()
		return nil, watch.explain(err)
	}
	watch.ReadCloser = res.Body
	res.Body = watch
	if res.StatusCode < http.StatusBadRequest {
		if strings.HasPrefix(strings.ToLower(res.Header.Get("Content-Type")), "text/html") {
			_ = watch.Close() // it is not read
			return nil, errPage
		}
		return res, nil
	}
	defer watch.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil && len(body) == 0 && ctx.Err() != nil {
		return nil, err
	}
	return nil, &statusError{status: res.StatusCode, header: res.Header, body: body}
}

// watched is a body that ends when it is silent for too long while somebody reads. A
// reader that is slow itself does not count as silence.
type watched struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration
	begun   bool // a byte has come; until then the timer runs since the request
}

func (w *watched) Read(p []byte) (int, error) {
	if w.begun {
		w.timer.Reset(w.silence)
	}
	n, err := w.ReadCloser.Read(p)
	if n > 0 || err != nil {
		w.begun = true
		w.timer.Stop()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = w.explain(err)
	}
	return n, err
}

// Close ends the request.
func (w *watched) Close() error {
	w.stop()
	return w.ReadCloser.Close()
}

func (w *watched) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// explain tells a silent service from a lost connection.
func (w *watched) explain(err error) error {
	if errors.Is(context.Cause(w.ctx), errSilent) {
		return errSilent
	}
	var lost *lostError
	if errors.As(err, &lost) {
		return err
	}
	return &lostError{err}
}

// canceled gives the error of a call whose caller has ended it, nil where it has not.
func canceled(ctx context.Context) error {
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return domain.Wrap(domain.CodeTimeout, ctx.Err(), "the time for the model call was used up")
	}
	return domain.Wrap(domain.CodeCanceled, context.Cause(ctx), "the model call was canceled")
}
