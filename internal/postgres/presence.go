package postgres

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

const (
	// visitLife is how long somebody counts as there whose process no longer says so.
	visitLife = 15 * time.Second
	// visitRenewal is how often a process says so, and looks who is there.
	visitRenewal = 4 * time.Second
	leaveLimit   = 2 * time.Second
)

var (
	sqlEnter = statement("enter a project", `
insert into presence (id, project_id, user_id, name, conv_id) values (@visit, @project, @user, @name, @conversation)`)

	sqlLeave = statement("leave a project", `delete from presence where id = @visit`)

	// Those who are here are renewed, and come back where the table was emptied by a crash.
	sqlThere = statement("see who is there", `
with renewed as (
    insert into presence (id, project_id, user_id, name, conv_id)
    select v.id, @project::text, v.user_id, v.name, v.conv_id
    from unnest(@visits::text[], @users::text[], @names::text[], @conversations::text[]) v(id, user_id, name, conv_id)
    on conflict (id) do update set seen_at = now()
    returning id, user_id, name, conv_id
), gone as (
    delete from presence p where p.project_id = @project and p.seen_at < now() - @life::interval
        and p.id <> all(@visits::text[])
)
select user_id, name, conv_id from renewed
union
select p.user_id, p.name, p.conv_id from presence p
where p.project_id = @project and p.seen_at >= now() - @life::interval and p.id <> all(@visits::text[])
order by 2, 1, 3`)
)

// rooms are the projects that somebody follows in this process.
type rooms struct {
	mu   sync.Mutex
	open map[string]*room
}

// room knows who follows a project, in all processes. One goroutine looks for all readers of
// the process.
type room struct {
	looking sync.Mutex // held while the visits are renewed, so that none is that has ended
	mu      sync.Mutex
	visits  map[string]domain.Visitor // of this process, by id
	there   []domain.Visitor          // in all: each person once for each conversation
	seen    bool
	changed chan struct{} // closed at the next change of there
	look    chan struct{}
	stop    context.CancelFunc
	done    chan struct{}
}

// presenceSubject is what processes tell each other of where somebody came or went.
func presenceSubject(projectID string) string { return "presence/" + projectID }

// visit keeps a visitor in a project until ctx ends, and hands over who is there: all of them
// at first, then each who comes and goes.
func (s *Store) visit(ctx context.Context, projectID string, v domain.Visitor, to chan<- []domain.Event) {
	id := domain.NewID()
	r := s.enter(projectID, id, v)
	defer s.leave(context.WithoutCancel(ctx), projectID, id, r)
	args := pgx.NamedArgs{"visit": id, "project": projectID, "user": v.UserID, "name": v.Name, "conversation": v.ConvID}
	if _, err := s.pool.Exec(ctx, sqlEnter, args); err == nil { // else the room does it at its next look
		s.tell(live.Message{Mark: &live.Mark{Subject: presenceSubject(projectID)}})
	}
	r.wake()
	var known []domain.Visitor
	first := true
	for {
		there, seen, changed := r.now()
		if seen && (!first || slices.Contains(there, v)) {
			var events []domain.Event
			if first {
				events = []domain.Event{presence(there)}
			} else {
				events = moves(known, there)
			}
			known, first = there, false
			if len(events) > 0 && !deliverVisit(ctx, to, events) {
				return
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func deliverVisit(ctx context.Context, to chan<- []domain.Event, events []domain.Event) bool {
	select {
	case to <- events:
		return true
	case <-ctx.Done():
		return false
	}
}

func presence(there []domain.Visitor) domain.Event {
	return visitEvent(domain.EventPresence, map[string]any{"users": there})
}

func visitEvent(kind domain.EventType, payload any) domain.Event {
	e := domain.NewPayload(kind, payload)
	return domain.Event{Type: e.Type, Payload: e.Payload, At: time.Now()}
}

// moves gives what leads from one state to another: a person who goes elsewhere joins there,
// and leaves only with the last stream.
func moves(before, after []domain.Visitor) (events []domain.Event) {
	left := map[string]bool{}
	for _, v := range before {
		stays := slices.ContainsFunc(after, func(o domain.Visitor) bool { return o.UserID == v.UserID })
		if !stays && !left[v.UserID] {
			left[v.UserID] = true
			events = append(events, visitEvent(domain.EventUserLeave, map[string]string{"user_id": v.UserID, "name": v.Name}))
		}
	}
	for _, v := range after {
		if !slices.Contains(before, v) {
			events = append(events, visitEvent(domain.EventUserJoin, v))
		}
	}
	return events
}

func (s *Store) enter(projectID, id string, v domain.Visitor) *room {
	s.rooms.mu.Lock()
	defer s.rooms.mu.Unlock()
	r := s.rooms.open[projectID]
	if r == nil {
		ctx, stop := context.WithCancel(context.Background())
		r = &room{visits: map[string]domain.Visitor{}, changed: make(chan struct{}), look: make(chan struct{}, 1), stop: stop, done: make(chan struct{})}
		s.rooms.open[projectID] = r
		go r.keep(ctx, s, projectID)
	}
	r.mu.Lock()
	r.visits[id] = v
	r.mu.Unlock()
	return r
}

func (s *Store) leave(ctx context.Context, projectID, id string, r *room) {
	s.rooms.mu.Lock()
	r.mu.Lock()
	delete(r.visits, id)
	last := len(r.visits) == 0
	r.mu.Unlock()
	if last {
		delete(s.rooms.open, projectID)
		r.stop()
	}
	s.rooms.mu.Unlock()
	if last {
		<-r.done // so that it does not renew what is removed here
	}
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	r.looking.Lock()
	defer r.looking.Unlock()
	_, _ = s.pool.Exec(ctx, sqlLeave, pgx.NamedArgs{"visit": id}) // else it is gone after visitLife
	s.tell(live.Message{Mark: &live.Mark{Subject: presenceSubject(projectID)}})
	r.wake()
}

func (r *room) wake() {
	select {
	case r.look <- struct{}{}:
	default:
	}
}

func (r *room) now() (there []domain.Visitor, seen bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.there, r.seen, r.changed
}

// keep renews the visits of this process and looks who else is there, at each hint and every
// few seconds.
func (r *room) keep(ctx context.Context, s *Store, projectID string) {
	defer close(r.done)
	feed := s.hub.Open(presenceSubject(projectID))
	defer feed.Close()
	ticker := time.NewTicker(visitRenewal)
	defer ticker.Stop()
	for {
		hint := feed.Changed()
		if there, err := r.whoIsThere(ctx, s, projectID); err == nil {
			r.set(there)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-hint:
		case <-r.look:
		}
	}
}

func (r *room) set(there []domain.Visitor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen && slices.Equal(r.there, there) {
		return
	}
	r.there, r.seen = there, true
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *room) whoIsThere(ctx context.Context, s *Store, projectID string) ([]domain.Visitor, error) {
	r.looking.Lock()
	defer r.looking.Unlock()
	var ids, users, names, conversations []string
	r.mu.Lock()
	for id, v := range r.visits {
		ids, users, names, conversations = append(ids, id), append(users, v.UserID), append(names, v.Name), append(conversations, v.ConvID)
	}
	r.mu.Unlock()
	rows, err := s.pool.Query(ctx, sqlThere, pgx.NamedArgs{
		"project": projectID, "visits": list(ids), "users": list(users), "names": list(names), "conversations": list(conversations), "life": visitLife,
	})
	if err != nil {
		return nil, err
	}
	there, err := pgx.CollectRows(rows, pgx.RowToStructByPos[domain.Visitor])
	slices.SortFunc(there, func(a, b domain.Visitor) int {
		return strings.Compare(a.Name+"\x00"+a.UserID+"\x00"+a.ConvID, b.Name+"\x00"+b.UserID+"\x00"+b.ConvID)
	})
	return there, err
}
