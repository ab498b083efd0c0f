package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// end is one side of a session.
type end struct {
	conn    *websocket.Conn
	reading atomic.Bool
	writing atomic.Bool
	reads   atomic.Int64
}

func newEnd(conn *websocket.Conn) *end {
	conn.SetReadLimit(-1) // what is larger than a frame is passed on in pieces
	return &end{conn: conn}
}

// parted is what ends a session: which end went, and how.
type parted struct {
	from *end
	err  error
}

func (p *parted) Error() string { return "the connection ended: " + p.err.Error() }
func (p *parted) Unwrap() error { return p.err }

var errSilent = errors.New("it gives no sign of life")

// judge says what becomes of a text frame: what is passed on, nil for nothing, and the error
// with which the session ends behind it.
type judge func(text []byte) (pass []byte, over error)

func passAll(text []byte) ([]byte, error) { return text, nil }

var errLongText = fmt.Errorf("a text frame is longer than %d bytes", agentwire.MaxFrame)

// carry passes on what comes from one end to the other, each piece before the next is read: an
// end that does not read holds up the one that writes, and nothing gathers here. moved is
// called for each piece. It returns when either end has gone, or the judge ends it.
func carry(ctx context.Context, from, to *end, texts judge, moved func()) error {
	buffer := make([]byte, agentwire.MaxFrame)
	for {
		kind, message, err := from.next(ctx)
		if err != nil {
			return &parted{from, err}
		}
		for more := true; more; {
			n, err := from.fill(message, buffer)
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				more = false
			case err != nil:
				return &parted{from, err}
			}
			piece, over := buffer[:n], error(nil)
			if kind == websocket.MessageText {
				if more {
					return &parted{from, errLongText}
				}
				piece, over = texts(piece)
			}
			if len(piece) > 0 {
				if err := to.write(ctx, kind, piece); err != nil {
					return &parted{to, err}
				}
				if moved != nil {
					moved()
				}
			}
			if over != nil {
				return over
			}
		}
	}
}

func (e *end) next(ctx context.Context) (websocket.MessageType, io.Reader, error) {
	e.reading.Store(true)
	defer e.read()
	return e.conn.Reader(ctx)
}

// fill reads a message, or as much of it as a frame may hold; io.EOF or ErrUnexpectedEOF is its
// end.
func (e *end) fill(message io.Reader, buffer []byte) (int, error) {
	e.reading.Store(true)
	defer e.read()
	n, err := io.ReadFull(message, buffer)
	if n == len(buffer) && err == nil {
		return n, nil
	}
	return n, err
}

func (e *end) read() {
	e.reads.Add(1)
	e.reading.Store(false)
}

func (e *end) write(ctx context.Context, kind websocket.MessageType, piece []byte) error {
	e.writing.Store(true)
	defer e.writing.Store(false)
	return e.conn.Write(ctx, kind, piece)
}

// stayAlive asks an end for a sign of life again and again, which also keeps proxies on the way
// from cutting it off. That it gives none does not mean that it has died: an end that takes its
// time with what it was sent before hears no question. Only where dead says so as well, nil for
// never, it returns; other ends that die are noticed by TCP, and by the limits of a console.
func (e *end) stayAlive(ctx context.Context, silence time.Duration, dead func(context.Context) bool) error {
	tick := time.NewTicker(silence)
	defer tick.Stop()
	var asked chan error // for the answer to a ping that has none yet
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		before := e.reads.Load()
		if !e.reading.Load() || e.writing.Load() {
			continue
		}
		if asked == nil {
			asked = e.ask(ctx, silence)
		}
		var err error
		if asked, err = answer(asked, silence); err == nil || ctx.Err() != nil || !e.reading.Load() || e.writing.Load() || e.reads.Load() != before {
			continue
		}
		if dead != nil && dead(ctx) {
			return &parted{e, errSilent}
		}
	}
}

// pingLimit is how long a ping may take at least. Where its time is up while it is written, the
// connection is closed: a busy machine must not come into that.
const pingLimit = 5 * time.Second

// ask sends a ping, and gives what gets the answer.
func (e *end) ask(ctx context.Context, silence time.Duration) chan error {
	asked := make(chan error, 1)
	go func() {
		limited, cancel := context.WithTimeout(ctx, max(silence, pingLimit))
		defer cancel()
		asked <- e.conn.Ping(limited)
	}()
	return asked
}

// answer waits for an answer for a while, and gives what is to be waited for further, nil for
// nothing.
func answer(asked chan error, within time.Duration) (further chan error, err error) {
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case err = <-asked:
		return nil, err
	case <-limit.C:
		return asked, errSilent
	}
}

// closed reports whether an end closed the connection, rather than to lose it.
func closed(err error) bool {
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusNoStatusRcvd, websocket.StatusGoingAway:
		return true
	}
	return false
}

// codeOf says how the other end is to be closed.
func codeOf(err error) websocket.StatusCode {
	if closed(err) {
		return websocket.StatusNormalClosure
	}
	return websocket.StatusBadGateway // it was cut off
}

// closeBoth closes both ends at once, with little patience for what they have to say.
func closeBoth(one, other *end, code websocket.StatusCode) {
	var both sync.WaitGroup
	for _, e := range []*end{one, other} {
		both.Go(func() { _ = e.conn.Close(code, "") })
	}
	both.Wait()
}
