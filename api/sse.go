package api

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

const (
	keepAliveEvery = 15 * time.Second
	eventLimit     = 10 * time.Second // for a client to accept what is sent
	eventBuffer    = 64               // events read ahead of a client
	flushBytes     = 64 << 10         // the most that one write gathers
)

// following is a subject whose events a client asks for.
type following struct {
	waits  bool // the answer waits for the first event: an error, or that nothing comes, is told by its status
	events func(ctx context.Context) iter.Seq2[domain.FeedEvent, error]
}

// numbered gives the events of one log after a place as those of a feed.
func numbered(events func(ctx context.Context, after domain.Cursor) iter.Seq2[domain.Event, error], after domain.Cursor) func(context.Context) iter.Seq2[domain.FeedEvent, error] {
	return func(ctx context.Context) iter.Seq2[domain.FeedEvent, error] {
		return func(yield func(domain.FeedEvent, error) bool) {
			for e, err := range events(ctx, after) {
				if !yield(domain.FeedEvent{ID: e.Cursor.String(), Event: e}, err) {
					return
				}
			}
		}
	}
}

// followed is a log whose events a client asks for.
type followed struct {
	over   bool // nothing new will come
	events func(ctx context.Context, after domain.Cursor) iter.Seq2[domain.Event, error]
}

// stream makes a handler that streams the events of what open finds.
func stream[Body any](s *Server, open func(context.Context, request[Body]) (followed, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		req, err := decode[Body](c)
		if err != nil {
			s.fail(c, err)
			return
		}
		after, err := cursorOf(req.header, req.query.Get("after"))
		if err != nil {
			s.fail(c, err)
			return
		}
		f, err := open(c.Request.Context(), req)
		if err != nil {
			s.fail(c, err)
			return
		}
		s.follow(c, following{waits: f.over, events: numbered(f.events, after)})
	}
}

// cursorOf reads where the client stands. Last-Event-ID wins over ?after=: a browser that
// connects again repeats the address it began with.
func cursorOf(header http.Header, after string) (domain.Cursor, error) {
	if last := header.Get("Last-Event-ID"); last != "" {
		after = last
	}
	return domain.ParseCursor(after)
}

type item struct {
	event domain.FeedEvent
	err   error
}

// follow sends events until the subject, the client or the server ends. Reading and sending
// are apart: a client that is slow makes the reader wait, never the one who writes events.
func (s *Server) follow(c *gin.Context, f following) {
	ctx, cancel := context.WithCancel(c.Request.Context())
	items := make(chan item, eventBuffer)
	go func() {
		defer close(items)
		if err := s.pump(ctx, f, items); err != nil {
			deliver(ctx, items, item{err: err})
		}
	}()
	defer func() {
		cancel()
		for range items { // until the reader is gone
		}
	}()
	var first *item
	if f.waits {
		i, more := <-items
		if !more { // a 204 tells a browser not to connect again
			writeRaw(c, raw{}, http.StatusNoContent)
			return
		}
		if i.err != nil {
			s.fail(c, i.err)
			return
		}
		first = &i
	}
	w, err := sse.NewWriter(c.Writer, s.sendLimit)
	if err != nil {
		return
	}
	out := &sender{server: s, ctx: ctx, w: w}
	if first != nil && !out.send(*first, items) {
		return
	}
	out.run(items)
}

// pump hands the subject's events on until they, or the client, end.
func (s *Server) pump(ctx context.Context, f following, items chan<- item) (err error) {
	defer s.contain(ctx, &err)
	for event, err := range f.events(ctx) {
		if err != nil {
			return err
		}
		if !deliver(ctx, items, item{event: event}) {
			return nil
		}
	}
	return nil
}

func deliver(ctx context.Context, items chan<- item, i item) bool {
	select {
	case items <- i:
		return true
	case <-ctx.Done():
		return false
	}
}

// sender writes the events of one stream.
type sender struct {
	server *Server
	ctx    context.Context
	w      *sse.Writer
}

func (o *sender) run(items <-chan item) {
	alive := time.NewTicker(o.server.keepAlive)
	defer alive.Stop()
	for {
		select {
		case i, more := <-items:
			if !more || !o.send(i, items) {
				return
			}
			alive.Reset(o.server.keepAlive)
		case <-alive.C:
			o.w.Comment("keep-alive")
			if o.w.Flush() != nil {
				return
			}
		case <-o.server.stopping.Done():
			o.w.Comment("the server is stopping")
			_ = o.w.Flush()
			return
		}
	}
}

// send writes an event with those that have come behind it; false ends the stream.
func (o *sender) send(i item, items <-chan item) bool {
	for {
		if i.err != nil {
			// Not an event: the subject goes on, and the client resumes where it was.
			if o.ctx.Err() == nil {
				o.server.Log.Error().Ctx(o.ctx).Err(i.err).Msg("stream_broken")
			}
			_ = o.w.Flush()
			return false
		}
		o.w.Event(i.event.ID, i.event.Event.JSON())
		if o.w.Buffered() >= flushBytes {
			return o.w.Flush() == nil
		}
		select {
		case next, more := <-items:
			if !more {
				_ = o.w.Flush()
				return false
			}
			i = next
		default:
			return o.w.Flush() == nil
		}
	}
}
