package postgres

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	// One statement, and so one moment: what is open now began at or before the log's end.
	sqlFeedNow = statement("join a project's feed", `
select s.last_seq, t.id, t.feed_seq, coalesce(t.conversation_id, ''), t.user_id, coalesce(u.name, t.user_id)
from subjects s
left join turns t on t.project_id = @project and t.ended_at is null
left join users u on u.id = t.user_id
where s.id = @log order by t.feed_seq`)

	sqlFeedTurns = statement("find the turns of a feed", `
select t.id, t.feed_seq, coalesce(t.conversation_id, '') from turns t
where t.project_id = @project and t.feed_seq = any(@locks::bigint[]) order by t.feed_seq`)
)

// FollowProject gives the events of a project after a place, as they come, until ctx ends or
// the project is gone: what its own log tells, and the events of each turn between its lock
// and its unlock. It begins with who is there. The error is invalid for an id that is none of
// the feed's.
func (s *Store) FollowProject(ctx context.Context, q domain.FeedQuery) iter.Seq2[domain.FeedEvent, error] {
	return func(yield func(domain.FeedEvent, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		r := &feedReader{
			store: s, project: q.ProjectID, turns: map[string]*feedTurn{},
			ctx: ctx, own: make(chan feedItem), others: make(chan feedItem), visits: make(chan []domain.Event),
			yield: func(e domain.FeedEvent) bool { return yield(e, nil) },
		}
		defer r.group.Wait()
		defer cancel()
		if err := r.run(q); err != nil && domain.CodeOf(err) != domain.CodeNotFound {
			yield(domain.FeedEvent{}, err)
		}
	}
}

// feedReader is one reader of a project's feed. Each log that it reads has a goroutine, which
// hands its events over one by one: a reader that is slow holds nothing but these.
type feedReader struct {
	store   *Store
	project string
	cursor  domain.FeedCursor
	turns   map[string]*feedTurn // that have begun and were not read to their end

	ctx    context.Context
	group  sync.WaitGroup
	own    chan feedItem       // of the project's log
	others chan feedItem       // of the turns' logs
	visits chan []domain.Event // who comes and goes
	held   *domain.Event       // an event of the project's log that waits for its turn's
	joined []openTurn          // the turns that ran as it joined
	yield  func(domain.FeedEvent) bool
}

// feedTurn is a turn that is being followed.
type feedTurn struct {
	id, conversation string
	lock             int64 // the place of its lock in the project's log
}

type feedItem struct {
	turn  *feedTurn
	event domain.Event
	err   error
}

func (r *feedReader) run(q domain.FeedQuery) error {
	if err := r.join(q.After); err != nil {
		return err
	}
	r.group.Go(func() { r.store.visit(r.ctx, q.ProjectID, q.Visitor, r.visits) })
	select {
	case there := <-r.visits:
		if !r.tell(there) {
			return nil
		}
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
	if q.After == "" && !r.tellLocks() {
		return nil
	}
	r.follow(r.own, projectLog(r.project), domain.Cursor{Seq: r.cursor.Log}, nil)
	for _, t := range r.turns {
		r.follow(r.others, t.id, r.cursor.Open[t.lock], t)
	}
	return r.merge()
}

// follow hands the events of a log to the merging loop.
func (r *feedReader) follow(to chan<- feedItem, subject string, after domain.Cursor, t *feedTurn) {
	r.group.Go(func() {
		for e, err := range r.store.Follow(r.ctx, subject, after) {
			select {
			case to <- feedItem{turn: t, event: e, err: err}:
			case <-r.ctx.Done():
				return
			}
		}
	})
}

// merge hands on what comes. The project's log stands still while an unlock waits for the
// end of its turn, so that nothing of a turn comes after its unlock.
func (r *feedReader) merge() error {
	for {
		own := r.own
		if r.held != nil {
			own = nil
		}
		var more bool
		select {
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		case there := <-r.visits:
			more = r.tell(there)
		case item := <-own:
			if item.err != nil {
				return item.err
			}
			more = r.ofProject(item.event)
		case item := <-r.others:
			if item.err != nil {
				return item.err
			}
			more = r.ofTurn(item.turn, item.event)
		}
		if !more {
			return nil
		}
	}
}

// tell hands on what is not stored.
func (r *feedReader) tell(events []domain.Event) bool {
	for _, e := range events {
		if !r.yield(domain.FeedEvent{Event: e}) {
			return false
		}
	}
	return true
}

// ofProject takes an event of the project's log.
func (r *feedReader) ofProject(e domain.Event) bool {
	var p struct {
		TurnID  string `json:"turn_id"`
		ConvID  string `json:"conv_id"`
		TurnSeq int64  `json:"turn_seq"`
	}
	switch e.Type {
	case domain.EventUnlock:
		_ = json.Unmarshal(e.Payload, &p) // our own payload
		if t := r.turns[p.TurnID]; t != nil && !passed(r.cursor.Open[t.lock], p.TurnSeq) {
			r.held = &e
			return true
		}
	case domain.EventLock:
		_ = json.Unmarshal(e.Payload, &p) // our own payload
		t := &feedTurn{id: p.TurnID, conversation: p.ConvID, lock: e.Cursor.Seq}
		r.turns[t.id] = t
		r.cursor.Open[t.lock] = domain.Cursor{}
		r.follow(r.others, t.id, domain.Cursor{}, t)
	}
	r.cursor.Log = e.Cursor.Seq
	return r.yield(domain.FeedEvent{ID: r.cursor.String(), Event: e})
}

// passed reports whether who stands at c has had the event at seq, which is no block. Text that
// was read there never was committed: the event took its place.
func passed(c domain.Cursor, seq int64) bool {
	return c.Seq > seq || c.Seq == seq && c.Offset == 0
}

// ofTurn takes an event of a turn, and then what has waited for it.
func (r *feedReader) ofTurn(t *feedTurn, e domain.Event) bool {
	r.cursor.Open[t.lock] = e.Cursor
	if e.Type.Terminal() {
		delete(r.turns, t.id)
		delete(r.cursor.Open, t.lock)
	}
	if !r.yield(domain.FeedEvent{ID: r.cursor.String(), Event: e.InConversation(t.conversation, t.id)}) {
		return false
	}
	if r.held == nil {
		return true
	}
	waiting := *r.held
	r.held = nil
	return r.ofProject(waiting)
}

// join finds where the reader begins.
func (r *feedReader) join(after string) (err error) {
	steps := &pgx.Batch{}
	queueProjectLog(steps, r.project)
	if err := r.store.pool.SendBatch(r.ctx, steps).Close(); err != nil {
		return failed("open the log of project "+r.project, err)
	}
	now, open, err := r.store.feedNow(r.ctx, r.project)
	if err != nil {
		return err
	}
	if after == "" {
		r.cursor = domain.FeedCursor{Log: now, Open: map[int64]domain.Cursor{}}
		for _, t := range open {
			r.turns[t.id], r.cursor.Open[t.lock] = &t.feedTurn, domain.Cursor{}
		}
		r.joined = open
		return nil
	}
	if r.cursor, err = domain.ParseFeedCursor(after); err != nil {
		return err
	}
	if r.cursor.Log > now {
		return domain.Invalid("after", "%q is not an event id of this project", after)
	}
	return r.resume()
}

// resume finds the turns that the cursor names. Those that are gone have nothing to tell.
func (r *feedReader) resume() error {
	locks := make([]int64, 0, len(r.cursor.Open))
	for lock := range r.cursor.Open {
		locks = append(locks, lock)
	}
	rows, err := r.store.pool.Query(r.ctx, sqlFeedTurns, pgx.NamedArgs{"project": r.project, "locks": locks})
	if err != nil {
		return failed("resume a feed", err)
	}
	known := map[int64]domain.Cursor{}
	var t feedTurn
	_, err = pgx.ForEachRow(rows, []any{&t.id, &t.lock, &t.conversation}, func() error {
		turn := t
		r.turns[t.id], known[t.lock] = &turn, r.cursor.Open[t.lock]
		return nil
	})
	r.cursor.Open = known
	return failed("resume a feed", err)
}

// openTurn is a turn that runs as somebody joins.
type openTurn struct {
	feedTurn
	userID, by string
}

// feedNow gives the end of a project's log and the turns that run.
func (s *Store) feedNow(ctx context.Context, projectID string) (last int64, open []openTurn, err error) {
	rows, err := s.pool.Query(ctx, sqlFeedNow, pgx.NamedArgs{"project": projectID, "log": projectLog(projectID)})
	if err != nil {
		return 0, nil, failed("join the feed of project "+projectID, err)
	}
	var id, conversation, user, by *string
	var lock *int64
	_, err = pgx.ForEachRow(rows, []any{&last, &id, &lock, &conversation, &user, &by}, func() error {
		if id != nil {
			open = append(open, openTurn{feedTurn: feedTurn{id: *id, conversation: *conversation, lock: *lock}, userID: *user, by: *by})
		}
		return nil
	})
	return last, open, failed("join the feed of project "+projectID, err)
}

// tellLocks tells who joins what is locked already.
func (r *feedReader) tellLocks() bool {
	for _, t := range r.joined {
		e := domain.NewPayload(domain.EventLock, map[string]string{"by": t.by, "user_id": t.userID, "conv_id": t.conversation, "turn_id": t.id})
		if !r.yield(domain.FeedEvent{Event: domain.Event{Subject: projectLog(r.project), Type: e.Type, Payload: e.Payload, At: time.Now()}}) {
			return false
		}
	}
	return true
}
