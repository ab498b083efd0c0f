package crashtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
)

// conversationReaders is how many read a conversation: so many by its project's feed, and so
// many by the events of its turns.
const conversationReaders = 200

// earlyShare says that one in so many readers of the feed joins before the first turn.
const earlyShare = 4

var seed = flag.Uint64("seed", 0, "repeat the schedule of this seed; 0: a new one")

// Whatever readers and API processes do, each reader gets one gapless sequence of events
// without duplicates, the text whole, and one terminal event a turn. It is not parallel: it
// loads the machine so much that others would miss their limits.
func TestReadersComeAndGo(t *testing.T) {
	drawn := *seed
	if drawn == 0 {
		drawn = rand.Uint64()
	}
	t.Logf("the schedule's seed is %d", drawn)
	s := newSite(t)
	s.worker()
	talk := s.newTalk(s.newFront(2))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	crowd := talk.crowd(ctx, group, drawn)
	group.Go(func() error { return talk.run(ctx) })
	done, failure := make(chan struct{}), error(nil)
	go func() {
		defer close(done)
		failure = group.Wait()
	}()
	select {
	case <-talk.turns[0].asked:
	case <-done:
	}
	kills, stops := talk.front.disturb(rand.New(rand.NewPCG(drawn, 0)), done)
	if failure != nil {
		t.Fatal(failure)
	}
	crowd.agrees(s, talk)
	visits := 0
	for _, r := range crowd.readers {
		visits += r.visits
	}
	t.Logf("%d kills and %d stops of APIs, %d visits of readers, %d requests without an answer", kills, stops, visits, talk.front.refused.Load())
	if kills+stops < 3 || visits < 3*conversationReaders {
		t.Errorf("%d ends of APIs and %d visits disturb too little to prove anything", kills+stops, visits)
	}
}

// talk is the conversation that is read: a turn that says a lot, and one that pauses.
type talk struct {
	s                     *site
	front                 *front
	project, conversation string
	turns                 []*promise
	began                 int64          // the end of the project's log before the first turn
	early, all            sync.WaitGroup // readers of the feed that have not joined: of those who do so before the first turn, and of all
}

// promise is a turn that will be asked for.
type promise struct {
	query string
	asked chan struct{} // closed once id is set
	id    string
}

func (s *site) newTalk(f *front) *talk {
	s.t.Helper()
	ctx := context.Background()
	project, err := s.store.CreateProject(ctx, domain.Project{Name: domain.NewID(), GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		s.t.Fatal(err)
	}
	conversation, err := s.store.CreateConversation(ctx, domain.Conversation{ProjectID: project.ID, Title: "The poem", CreatedBy: domain.OwnerID})
	if err != nil {
		s.t.Fatal(err)
	}
	log := s.projectLog(project.ID)
	t := &talk{s: s, front: f, project: project.ID, conversation: conversation.ID, began: log[len(log)-1].seq}
	for _, query := range []string{"Please recite it.", "Please remove it."} {
		t.turns = append(t.turns, &promise{query: query, asked: make(chan struct{})})
	}
	return t
}

// run holds the conversation through the front, and ends with another one, by which readers
// of the feed know that it is over.
func (t *talk) run(ctx context.Context) error {
	t.early.Wait()
	for _, turn := range t.turns {
		body, err := json.Marshal(map[string]string{"query": turn.query, "conversation_id": t.conversation})
		if err != nil {
			return err
		}
		status, answer, err := t.front.post(ctx, "/projects/"+t.project+"/query/stream", domain.NewID(), body)
		if err != nil {
			return err
		}
		var started struct {
			ID string `json:"turn_id"`
		}
		if err := json.Unmarshal(answer, &started); err != nil || status != http.StatusOK {
			return fmt.Errorf("%q gives %d %s", turn.query, status, answer)
		}
		turn.id = started.ID
		close(turn.asked)
		if err := t.end(ctx, turn.id); err != nil {
			return err
		}
	}
	t.all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := t.s.store.CreateConversation(ctx, domain.Conversation{ProjectID: t.project, Title: "The end", CreatedBy: domain.OwnerID})
	return err
}

// end waits for a turn's end, and approves what it asks for on the way.
func (t *talk) end(ctx context.Context, id string) error {
	for e, err := range t.s.store.Follow(ctx, id, domain.Cursor{}) {
		if err != nil {
			return err
		}
		if e.Type != domain.EventConfirmAction {
			continue
		}
		var a struct{ ID, Nonce, Hash string }
		if err := json.Unmarshal(e.Payload, &a); err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{"decisions": []any{map[string]any{"id": a.ID, "approved": true, "nonce": a.Nonce, "hash": a.Hash}}})
		if err != nil {
			return err
		}
		if err := pause(ctx, time.Second); err != nil { // it waits while APIs come and go
			return err
		}
		path := "/projects/" + t.project + "/conversations/" + t.conversation + "/confirm-action/resume"
		status, answer, err := t.front.post(ctx, path, "", body)
		if err != nil {
			return err
		}
		if status != http.StatusOK && !strings.Contains(string(answer), "has decided") { // by a request whose answer was cut off
			return fmt.Errorf("the decision gives %d %s", status, answer)
		}
	}
	turn, err := t.s.Turn(ctx, id)
	if err == nil && turn.Status != domain.TurnDone {
		err = fmt.Errorf("turn %s is %s: %s", id, turn.Status, turn.Error)
	}
	return err
}

// crowd is all readers of a talk.
type crowd struct {
	readers []*reader
	feeds   []*feedStream
	turns   []*turnStream
}

// crowd lets the readers begin: some before the first turn, others in the midst of one.
func (t *talk) crowd(ctx context.Context, group *errgroup.Group, seed uint64) *crowd {
	c := &crowd{}
	add := func(r *reader, late time.Duration, turn *promise, last *turnStream) {
		c.readers = append(c.readers, r)
		group.Go(func() error {
			if turn != nil {
				select {
				case <-turn.asked:
					last.id = turn.id
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			defer func() {
				if r.joined != nil {
					r.joined() // it never will
				}
			}()
			return errors.Join(pause(ctx, late), r.run(ctx))
		})
	}
	for i := range conversationReaders {
		rng := rand.New(rand.NewPCG(seed, uint64(2*i+1)))
		late, joined := time.Duration(i%earlyShare)*between(rng, 0, 2*time.Second), t.all.Done
		t.all.Add(1)
		if i%earlyShare == 0 {
			t.early.Add(1)
			joined = func() { t.early.Done(); t.all.Done() }
		}
		feed := &feedStream{project: t.project, conversation: t.conversation}
		c.feeds = append(c.feeds, feed)
		add(&reader{stream: feed, front: t.front, rng: rng, joined: joined}, late, nil, nil)
		rng = rand.New(rand.NewPCG(seed, uint64(2*i+2)))
		turn := &turnStream{}
		c.turns = append(c.turns, turn)
		add(&reader{stream: turn, front: t.front, rng: rng}, between(rng, 0, 3*time.Second), t.turns[i%len(t.turns)], turn)
	}
	return c
}

// agrees compares what every reader has with what is stored.
func (c *crowd) agrees(s *site, t *talk) {
	s.t.Helper()
	stored := map[string][]domain.Event{}
	for _, turn := range t.turns {
		events := s.stored(turn.id)
		for i := range events {
			events[i].Attempt = 0 // the wire has no attempts
		}
		stored[turn.id] = events
	}
	for i, turn := range c.turns {
		if err := turn.Agrees(stored[turn.id], false); err != nil {
			s.t.Errorf("reader %d of turn %s: %v", i, turn.id, err)
		}
	}
	log, fromTheStart := s.projectLog(t.project), 0
	for i, feed := range c.feeds {
		if err := feed.agrees(log, stored); err != nil {
			s.t.Errorf("reader %d of the feed, which joined at %d: %v", i, feed.joinedAt, err)
		}
		if i%earlyShare > 0 || c.readers[2*i].known > 1 { // who loses a connection before the first id has no place
			continue
		}
		fromTheStart++
		if feed.joinedAt != t.began {
			s.t.Errorf("reader %d of the feed joined at %d, and has nothing before %d", i, t.began, feed.joinedAt)
		}
	}
	if fromTheStart == 0 {
		s.t.Error("no reader of the feed was there from the start")
	}
}

// ownEvent is an event of a project's log.
type ownEvent struct {
	seq  int64
	kind domain.EventType
	turn string
}

func (s *site) projectLog(project string) []ownEvent {
	s.t.Helper()
	rows, err := s.pool.Query(context.Background(), `
select subject_seq, type, coalesce(payload->>'turn_id', '') from events where subject_id = 'project/' || $1 order by 1`, project)
	if err != nil {
		s.t.Fatal(err)
	}
	var log []ownEvent
	var e ownEvent
	if _, err := pgx.ForEachRow(rows, []any{&e.seq, &e.kind, &e.turn}, func() error { log = append(log, e); return nil }); err != nil {
		s.t.Fatal(err)
	}
	return log
}

// agrees checks that a reader of the feed has all of the project's log since it joined, and
// all of each turn that ended since then.
func (f *feedStream) agrees(log []ownEvent, stored map[string][]domain.Event) error {
	ended := 0
	for _, e := range log {
		if e.seq <= f.joinedAt || e.seq > f.cursor.Log {
			continue
		}
		if got := f.own[e.seq]; got != e.kind {
			return fmt.Errorf("place %d of the project holds %q, want %q", e.seq, got, e.kind)
		}
		if e.kind != domain.EventUnlock {
			continue
		}
		ended++
		if err := f.turns[e.turn].Agrees(stored[e.turn], false); err != nil {
			return fmt.Errorf("turn %s: %w", e.turn, err)
		}
	}
	if len(f.turns) != ended || len(f.cursor.Open) > 0 {
		return fmt.Errorf("it has events of %d turns, of which %d ended, and ends at %s", len(f.turns), ended, f.cursor)
	}
	return nil
}
