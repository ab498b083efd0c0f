package agent

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/uplink"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// stubborn is how often a result is refused by a server that answers before others may
// overtake it.
const stubborn = 5

// hopeless is how often it is refused for what it is, and not for how the server is, before it
// is tried without its output.
const hopeless = 3

// item is a result that the server does not have.
type item struct {
	id      string
	result  func() agentwire.Result
	bare    func() agentwire.Result // without output
	done    func()                  // once the server has it
	refused int                     // times, by an answer
	unfit   int                     // times, because of what it is
	before  int                     // results that the server had taken when it refused this one first
	again   bool                    // it was asked for while it was sent
}

// outbox sends results, in the order in which commands ended, until the server has them.
type outbox struct {
	client *uplink.Client
	log    *slog.Logger
	wake   chan struct{}
	taken  int // results that the server has taken; run's alone

	mu      sync.Mutex
	items   []*item
	sending *item
}

func newOutbox(client *uplink.Client, log *slog.Logger) *outbox {
	return &outbox{client: client, log: log, wake: make(chan struct{}, 1)}
}

func (o *outbox) add(result *item) {
	o.mu.Lock()
	o.items = append(o.items, result)
	o.mu.Unlock()
	o.kick()
}

// remind answers for a command that has ended and was delivered again. Where the server had
// its result before, it is told how the command ended, and nothing of its output.
func (o *outbox) remind(id string, ending journal.Ending) {
	defer o.kick()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, waiting := range o.items {
		if waiting.id == id {
			waiting.again = waiting == o.sending // else it is sent in its turn
			return
		}
	}
	told := func() agentwire.Result {
		result := journal.Told(id, ending)
		if result.Error == "" && ending.Written != [2]int64{} {
			result.Error = "the server had its output before; it is kept here no longer"
		}
		return result
	}
	o.items = append(o.items, &item{id: id, result: told, bare: told, done: func() {}})
}

// kick makes the next attempt come at once.
func (o *outbox) kick() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) run(ctx context.Context) {
	backoff := uplink.Backoff{First: 500 * time.Millisecond, Most: 30 * time.Second}
	var pause <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-pause:
		}
		before := o.taken
		if o.round(ctx) {
			backoff.Reset()
			pause = nil
			continue
		}
		if o.taken > before { // the server is there, and some of it works
			backoff.Reset()
		}
		pause = time.After(backoff.Next())
	}
}

// round sends what there is, and reports whether nothing is left. It goes on behind a result
// that is refused only where that was refused many times.
func (o *outbox) round(ctx context.Context) bool {
	all := true
	for _, next := range o.waiting() {
		o.begin(next)
		err := o.send(ctx, next)
		if err == nil {
			o.taken++
			if o.sent(next) {
				next.done()
			} else {
				o.kick()
			}
			continue
		}
		if ctx.Err() != nil {
			return false
		}
		o.log.Warn("a result is not delivered", "command", next.id, "error", err)
		all = false
		if next.refused < stubborn {
			return false
		}
	}
	return all
}

func (o *outbox) waiting() []*item {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.items)
}

// sent removes a result that the server has, unless it was asked for meanwhile.
func (o *outbox) sent(has *item) (gone bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if has.again {
		has.again = false
		return false
	}
	o.items = slices.DeleteFunc(o.items, func(other *item) bool { return other == has })
	return true
}

func (o *outbox) begin(next *item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sending = next
}

func (o *outbox) send(ctx context.Context, next *item) error {
	result := next.result
	if next.refused >= stubborn && next.unfit >= hopeless {
		result = next.bare
	}
	taken := agentwire.ResultTaken{OK: true} // an empty answer is one too
	err := o.client.Post(ctx, "/agent/results", result(), &taken)
	if err == nil && !taken.OK {
		err = uplink.ErrStrange
	}
	switch uplink.Status(err) {
	case 0, http.StatusUnauthorized, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return err // nothing about this result
	}
	if next.refused == 0 {
		next.before = o.taken
	}
	next.refused++
	if uplink.Refused(err) || o.taken > next.before { // a server that fails is well where it takes others
		next.unfit++
	}
	if next.refused >= stubborn && uplink.NotFound(err) {
		o.log.Error("the server does not know a command; its result is dropped", "command", next.id)
		return nil
	}
	return err
}
