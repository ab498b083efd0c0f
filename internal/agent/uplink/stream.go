package uplink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/sse"
)

// Hello is what the agent says of itself as it connects.
type Hello struct {
	Hostname string
	Machine  string
	Version  string
}

// maxEvent bounds an event: a command of 128 KiB and its environment, escaped.
const maxEvent = 4 << 20

// ErrDead reports a stream on which nothing came for too long.
var ErrDead = errors.New("nothing came from the server for too long")

// Events opens the event stream and hands each event's data to handle, until the stream
// ends, which is always an error, or ctx does.
func (c *Client) Events(ctx context.Context, hello Hello, handle func(data []byte)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The watch stands over the connecting too: it is moved on by each byte that comes.
	watch := time.AfterFunc(c.opts.DeadAfter, func() { cancel(ErrDead) })
	defer watch.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+"/agent/events?"+hello.query(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	c.authorize(request.Header)
	response, err := c.events.Do(request)
	if err != nil {
		return reason(ctx, c.unreached(err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		return statusError(response, body)
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "text/event-stream" {
		return fmt.Errorf("%w: it is %q", ErrStrange, kind)
	}
	reader := sse.NewReader(&watched{in: response.Body, watch: watch, limit: c.opts.DeadAfter}, maxEvent)
	for {
		event, err := reader.Next()
		if err != nil {
			return reason(ctx, err)
		}
		handle(event.Data)
	}
}

// reason tells why a stream ended, where err is only that its context did.
func reason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the server closed the event stream")
	}
	var request *url.Error
	if errors.As(err, &request) { // what was asked for is the same each time
		return request.Err
	}
	return err
}

// unreached says which server can't be reached, without all that it was to be told.
func (c *Client) unreached(err error) error {
	var failed *url.Error
	if !errors.As(err, &failed) {
		return err
	}
	return fmt.Errorf("%s can't be reached: %w", c.base.Redacted(), failed.Err)
}

func (h Hello) query() string {
	capabilities := make([]string, 0, len(agentwire.All()))
	for _, c := range agentwire.All() {
		capabilities = append(capabilities, string(c))
	}
	return url.Values{
		agentwire.ParamHostname: {h.Hostname}, agentwire.ParamMachine: {h.Machine},
		agentwire.ParamVersion: {h.Version}, agentwire.ParamCapabilities: {strings.Join(capabilities, ",")},
	}.Encode()
}

// watched puts the watch off with each byte.
type watched struct {
	in    io.Reader
	watch *time.Timer
	limit time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	if n > 0 {
		w.watch.Reset(w.limit)
	}
	return n, err
}
