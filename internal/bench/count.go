package main

import (
	"context"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/activity"
)

// cost is what a step of a turn writes: commits, and bytes of their arguments.
type cost struct {
	calls, commits, bytes int
}

// each gives the mean of the calls, rounded up.
func (c cost) each() cost {
	if c.calls == 0 {
		return cost{}
	}
	return cost{1, (c.commits + c.calls - 1) / c.calls, (c.bytes + c.calls - 1) / c.calls}
}

// counter watches a pool and counts what each step commits: the steps are the types of
// activities, and "" is what happens outside of them.
type counter struct {
	on    atomic.Bool // counting takes time itself: it is off while turns are measured
	mu    sync.Mutex
	costs map[string]cost
	open  map[*pgx.Conn]*transaction
}

type transaction struct {
	explicit bool // between begin and commit
	bytes    int
	writes   bool
}

func newCounter() *counter {
	return &counter{costs: map[string]cost{}, open: map[*pgx.Conn]*transaction{}}
}

// reset forgets what was counted.
func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.costs = map[string]cost{}
}

// called counts a call of a step.
func (c *counter) called(step string) { c.add(step, cost{calls: 1}) }

func (c *counter) add(step string, more cost) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.costs[step]
	c.costs[step] = cost{sum.calls + more.calls, sum.commits + more.commits, sum.bytes + more.bytes}
}

func (c *counter) of(step string) cost {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.costs[step]
}

var writing = regexp.MustCompile(`(?i)\b(insert|update|delete)\s+(into|from|\w+)`)

// note takes a statement in; commit says that it ends a transaction of its own.
func (c *counter) note(ctx context.Context, conn *pgx.Conn, sql string, args []any, alone bool) {
	if !c.on.Load() || strings.Contains(sql, "pg_notify") {
		return // a hint after the commit, not a commit of the turn
	}
	c.mu.Lock()
	tx := c.open[conn]
	if tx == nil {
		tx = &transaction{}
		c.open[conn] = tx
	}
	verb := strings.ToLower(strings.TrimSpace(sql))
	ends := alone && !tx.explicit
	switch {
	case strings.HasPrefix(verb, "begin"):
		*tx, ends = transaction{explicit: true}, false
	case verb == "rollback":
		*tx = transaction{}
	case verb == "commit":
		ends = true
	case writing.MatchString(sql):
		tx.writes, tx.bytes = true, tx.bytes+argumentBytes(args)
	}
	done := *tx
	if ends {
		*tx = transaction{}
	}
	c.mu.Unlock()
	if ends && done.writes {
		c.add(stepOf(ctx), cost{commits: 1, bytes: done.bytes})
	}
}

func stepOf(ctx context.Context) string {
	if activity.IsActivity(ctx) {
		return activity.GetInfo(ctx).ActivityType.Name
	}
	return ""
}

// TraceQueryStart implements pgx.QueryTracer.
func (c *counter) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	c.note(ctx, conn, data.SQL, data.Args, true)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (c *counter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (c *counter) TraceBatchQuery(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	c.note(ctx, conn, data.SQL, data.Args, false)
}

// TraceBatchEnd implements pgx.BatchTracer: outside of a transaction a batch is one.
func (c *counter) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, _ pgx.TraceBatchEndData) {
	c.note(ctx, conn, "", nil, true)
}

// argumentBytes sums the sizes of arguments up.
func argumentBytes(args []any) int {
	sum := 0
	for _, arg := range args {
		switch v := arg.(type) {
		case nil:
		case string:
			sum += len(v)
		case []byte:
			sum += len(v)
		case []string:
			for _, s := range v {
				sum += len(s)
			}
		case pgx.NamedArgs:
			for _, named := range v {
				sum += argumentBytes([]any{named})
			}
		default:
			sum += int(reflect.TypeOf(arg).Size())
		}
	}
	return sum
}
