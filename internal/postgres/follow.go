package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

const (
	// rereadEvery bounds how long a lost notification goes unnoticed.
	rereadEvery = 5 * time.Second
	// readPatience is how long a reader waits for a database that is away.
	readPatience = time.Minute
	readRetry    = 250 * time.Millisecond
)

// Follow gives the events of a subject after a place, as they come, and ends after the
// terminal event. Text leaves ahead of its commit; a reader that goes away resumes with the
// cursor of the last event it has. A slow reader costs nothing but its own time.
// The error is not_found for an unknown subject, or ctx's.
func (s *Store) Follow(ctx context.Context, subject string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	return func(yield func(domain.Event, error) bool) {
		feed := s.hub.Open(subject)
		defer feed.Close()
		r := reader{store: s, subject: subject, feed: feed, pos: live.At(after), reread: true, ticker: time.NewTicker(rereadEvery)}
		defer r.ticker.Stop()
		for {
			events, over, err := r.next(ctx)
			if err != nil {
				yield(domain.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) || e.Type.Terminal() {
					return
				}
			}
			if over {
				return
			}
		}
	}
}

// reader is one follower of a subject.
type reader struct {
	store   *Store
	subject string
	feed    *live.Feed
	pos     live.Position
	reread  bool          // the database must be asked
	tried   domain.Cursor // the commit that the database was last asked for
	ticker  *time.Ticker
}

// next blocks until there are events, or none will come.
func (r *reader) next(ctx context.Context) (events []domain.Event, over bool, err error) {
	for {
		changed := r.feed.Changed()
		if r.reread {
			events, over, err = r.stored(ctx)
			if err != nil || over || len(events) > 0 {
				return events, over, err
			}
			if r.reread {
				continue
			}
		}
		events, pos, covered := r.feed.Next(r.pos)
		r.pos = pos
		if len(events) > 0 {
			return events, false, nil
		}
		if committed := r.feed.Committed(); !covered && committed != r.tried {
			r.reread, r.tried = true, committed
			continue
		}
		select {
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		case <-r.ticker.C:
			r.reread = true
		case <-changed:
		}
	}
}

// stored reads on in the database.
func (r *reader) stored(ctx context.Context) (events []domain.Event, over bool, err error) {
	if events, err = r.page(ctx); err != nil || len(events) > 0 {
		return events, false, err
	}
	var last *domain.Event
	err = r.patiently(ctx, func() (err error) {
		last, over, err = r.store.ending(ctx, r.subject, r.pos)
		return err
	})
	if err != nil || last == nil {
		return nil, over, err
	}
	// It may have ended since the page was read: the events before the end come first. Where
	// they are no longer kept, the end is all there is.
	if events, err = r.page(ctx); err != nil || len(events) > 0 {
		return events, false, err
	}
	return append(trimmed(r.subject, r.pos, last.Cursor.Seq), *last), true, nil
}

// page reads one page. A full one leaves reread set: there may be more.
func (r *reader) page(ctx context.Context) ([]domain.Event, error) {
	var p page
	err := r.patiently(ctx, func() (err error) {
		p, err = r.store.readEvents(ctx, r.subject, r.pos)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.pos, r.reread = p.pos, p.full
	return p.events, nil
}

// patiently tries again while the database is away.
func (r *reader) patiently(ctx context.Context, read func() error) error {
	deadline := time.Now().Add(readPatience)
	for {
		err := read()
		if err == nil || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if domain.CodeOf(err) != domain.CodeUnavailable || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(readRetry):
		}
	}
}
