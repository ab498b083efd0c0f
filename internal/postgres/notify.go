package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

const (
	channel = "harvest_events"
	// Between two notifications of a process messages gather, for some times as long as the
	// last one took to send: the busier the database, the fewer they are. The first after a
	// pause leaves at once.
	notifyShare    = 5
	notifyShortest = 2 * time.Millisecond
	notifyLongest  = 10 * time.Millisecond
	// maxQueue bounds the messages that wait while the database is away. What is beyond is
	// dropped: a notification is a hint, and readers reread every few seconds.
	maxQueue = 4096
)

var sqlNotify = statement("notify", `select pg_notify(channel, body) from unnest(@channels::text[], @bodies::text[]) n(channel, body)`)

// notifier tells other processes what this one has written. It sends outside the writing
// transactions: inside, notifications would serialise all commits.
type notifier struct {
	pool *pgxpool.Pool
	self string // names the process

	mu     sync.Mutex
	queue  []live.Message
	agents []string // hints at these, see agentChannel
	ready  chan struct{}
}

func newNotifier(pool *pgxpool.Pool) *notifier {
	return &notifier{pool: pool, self: domain.NewID(), ready: make(chan struct{}, 1)}
}

func (n *notifier) add(messages ...live.Message) {
	n.mu.Lock()
	if len(n.queue)+len(messages) <= maxQueue {
		n.queue = append(n.queue, messages...)
	}
	n.mu.Unlock()
	n.wake()
}

// hint adds a hint at an agent, once however often it is given before it leaves.
func (n *notifier) hint(agentID string) {
	n.mu.Lock()
	if len(n.agents) < maxQueue && !slices.Contains(n.agents, agentID) {
		n.agents = append(n.agents, agentID)
	}
	n.mu.Unlock()
	n.wake()
}

func (n *notifier) wake() {
	select {
	case n.ready <- struct{}{}:
	default:
	}
}

// take gives what waits, as channels and the bodies for them.
func (n *notifier) take() (channels, bodies []string) {
	n.mu.Lock()
	queue, agents := n.queue, n.agents
	n.queue, n.agents = nil, nil
	n.mu.Unlock()
	for _, agent := range agents { // first: a machine waits for it
		channels, bodies = append(channels, agentChannel), append(bodies, agent+" "+n.self)
	}
	for _, body := range live.Encode(n.self, queue) {
		channels, bodies = append(channels, channel), append(bodies, body)
	}
	return channels, bodies
}

// run sends until ctx ends. A batch that can't be sent is dropped.
func (n *notifier) run(ctx context.Context) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-n.ready:
		}
		began := time.Now()
		if channels, bodies := n.take(); len(bodies) > 0 {
			limited, cancel := context.WithTimeout(ctx, 2*time.Second)
			_, _ = n.pool.Exec(limited, sqlNotify, pgx.NamedArgs{"channels": channels, "bodies": bodies}) // a hint only
			cancel()
		}
		pause.Reset(min(max(notifyShare*time.Since(began), notifyShortest), notifyLongest))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
	}
}
