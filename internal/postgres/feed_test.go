package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// shared makes a project with a person in it, and a conversation.
func shared(t interface {
	Helper()
	Fatal(args ...any)
}, s *postgres.Store) (domain.User, domain.Project, domain.Conversation) {
	t.Helper()
	ctx := context.Background()
	name := "ada-" + domain.NewID()
	ada, err := s.CreateUser(ctx, domain.NewUser{Email: name + "@example.com", Name: name, Provider: "local"})
	if err != nil {
		t.Fatal(err)
	}
	project, err := s.CreateProject(ctx, domain.Project{Name: "engine", GroupID: "everyone", CreatedBy: ada.ID})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.CreateConversation(ctx, domain.Conversation{ProjectID: project.ID, Title: "First", CreatedBy: ada.ID, CreatedByName: ada.Name})
	if err != nil {
		t.Fatal(err)
	}
	return ada, project, c
}

func ask(u domain.User, p domain.Project, conversation string) domain.TurnRequest {
	return domain.TurnRequest{UserID: u.ID, UserName: u.Name, ProjectID: p.ID, ConversationID: conversation, Query: "Where is it?"}
}

// told is an event of a feed as tests look at it.
type told struct {
	ID     bool
	Type   domain.EventType
	ConvID string
}

// gather reads a feed until last comes.
func gather(t *testing.T, s *postgres.Store, q domain.FeedQuery, last domain.EventType, each func(domain.FeedEvent)) (list []told) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for e, err := range s.FollowProject(ctx, q) {
		if err != nil {
			t.Fatalf("after %v: %v", list, err)
		}
		var p struct {
			ConvID string `json:"conv_id"`
		}
		if err := json.Unmarshal(e.Event.JSON(), &p); err != nil {
			t.Fatalf("%s: %v", e.Event.JSON(), err)
		}
		list = append(list, told{e.ID != "", e.Event.Type, p.ConvID})
		if each != nil {
			each(e)
		}
		if e.Event.Type == last {
			return list
		}
	}
	t.Fatalf("the feed ended after %v", list)
	return nil
}

func TestAProjectsFeed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ada, project, c := shared(t, s)
	var ids []string
	var turn domain.Turn
	q := domain.FeedQuery{ProjectID: project.ID, Visitor: domain.Visitor{UserID: ada.ID, Name: ada.Name, ConvID: c.ID}}
	got := gather(t, s, q, domain.EventConversationUpdated, func(e domain.FeedEvent) {
		ids = append(ids, e.ID)
		switch e.Event.Type {
		case domain.EventPresence:
			turn = create(t, s, ask(ada, project, c.ID))
		case domain.EventUserMessage:
			begin(t, s, turn.ID)
		case domain.EventIntent:
			finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "Here."})
		}
	})
	want := []told{
		{false, domain.EventPresence, ""}, {true, domain.EventLock, c.ID}, {true, domain.EventUserMessage, c.ID}, {true, domain.EventIntent, c.ID},
		{true, domain.EventDone, c.ID}, {true, domain.EventUnlock, c.ID}, {true, domain.EventConversationUpdated, c.ID},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("the feed (-want +got):\n%s", diff)
	}
	for i := 1; i < len(ids)-1; i++ {
		q.After = ids[i]
		rest := gather(t, s, q, domain.EventConversationUpdated, nil)
		if diff := cmp.Diff(want[i+1:], rest[1:]); diff != "" { // the first is who is there
			t.Errorf("after %s (-want +got):\n%s", ids[i], diff)
		}
	}
	for _, wrong := range []string{"99", "1_2:0", "x", "1_1", "1_1:"} {
		q.After = wrong
		for _, err := range s.FollowProject(context.Background(), q) {
			wantCode(t, "from "+wrong, err, domain.CodeInvalid)
		}
	}
}

// Who joins while a turn runs is told of the lock and gets the turn from its beginning.
func TestJoiningInMidTurn(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ada, project, c := shared(t, s)
	turn := create(t, s, ask(ada, project, c.ID))
	_, _, err := s.CreateTurn(context.Background(), ask(ada, project, c.ID))
	wantCode(t, "a second query", err, domain.CodeConflict)
	begin(t, s, turn.ID)
	got := gather(t, s, domain.FeedQuery{ProjectID: project.ID}, domain.EventIntent, nil)
	want := []told{{false, domain.EventPresence, ""}, {false, domain.EventLock, c.ID}, {true, domain.EventUserMessage, c.ID}, {true, domain.EventIntent, c.ID}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the feed (-want +got):\n%s", diff)
	}
}

// feedFollower reads a project's feed, coming and going.
type feedFollower struct {
	after string
	turns map[string]*testkit.Transcript
	own   []string // of the project's log: its types
	end   bool
}

// take holds an event against what came before.
func (f *feedFollower) take(e domain.FeedEvent) error {
	var p struct {
		TurnID string `json:"turn_id"`
		Title  string `json:"title"`
	}
	if err := json.Unmarshal(e.Event.Payload, &p); err != nil {
		return err
	}
	switch e.Event.Type {
	case domain.EventPresence, domain.EventUserJoin, domain.EventUserLeave:
		if e.ID != "" {
			return fmt.Errorf("%s has the id %s", e.Event.Type, e.ID)
		}
		return nil
	}
	if e.ID == "" {
		return fmt.Errorf("%s has no id", e.Event.Type)
	}
	f.after = e.ID
	t := f.turns[p.TurnID]
	switch {
	case e.Event.Type == domain.EventLock:
		if t != nil {
			return fmt.Errorf("turn %s is locked twice", p.TurnID)
		}
		f.turns[p.TurnID] = &testkit.Transcript{}
	case e.Event.Type == domain.EventUnlock:
		if t == nil || !t.Ended {
			return fmt.Errorf("turn %s is unlocked before its end", p.TurnID)
		}
	case e.Event.Subject == p.TurnID && t != nil:
		return t.Take(e.Event)
	case e.Event.Subject == p.TurnID:
		return fmt.Errorf("turn %s tells of %s before its lock", p.TurnID, e.Event.Type)
	}
	f.own = append(f.own, string(e.Event.Type)+" "+p.TurnID)
	f.end = p.Title == "the end"
	return nil
}

func (f *feedFollower) read(ctx context.Context, stores []*postgres.Store, projectID string, patience []int) error {
	for visit := 0; !f.end; visit++ {
		q := domain.FeedQuery{ProjectID: projectID, After: f.after, Visitor: domain.Visitor{UserID: "u", Name: "n"}}
		taken := 0
		for e, err := range stores[visit%len(stores)].FollowProject(ctx, q) {
			if err == nil {
				err = f.take(e)
			}
			if err != nil {
				return fmt.Errorf("visit %d after %q: %w", visit, q.After, err)
			}
			if taken++; f.end || visit < len(patience) && taken > patience[visit] {
				break
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// Whatever several turns of a project, crashes and readers that change the process do: each
// reader gets every turn whole, between its lock and its unlock, with one terminal event, and
// the project's log without a gap or a repetition.
func TestFeedReadersAgree(t *testing.T) {
	t.Parallel()
	dsn := testkit.DSN(t)
	stores := []*postgres.Store{open(t, dsn), open(t, dsn)}
	here := stores[0]
	rapid.Check(t, func(rt *rapid.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		defer cancel()
		ada, project, c := shared(rt, here)
		var reading sync.WaitGroup
		followers, failures := make([]*feedFollower, 4), make([]error, 4)
		for i := range followers {
			followers[i] = &feedFollower{after: "1", turns: map[string]*testkit.Transcript{}}
			patience := rapid.SliceOfN(rapid.IntRange(1, 8), 0, 10).Draw(rt, "patience")
			mine := slices.Clone(stores)
			if i%2 == 1 {
				slices.Reverse(mine)
			}
			reading.Go(func() { failures[i] = followers[i].read(ctx, mine, project.ID, patience) })
		}
		turns := act(rt, here, ada, project, c)
		if err := here.RetitleConversation(ctx, c.ID, "the end"); err != nil {
			rt.Fatal(err)
		}
		reading.Wait()
		for i, f := range followers {
			if failures[i] != nil {
				rt.Fatalf("reader %d: %v", i, failures[i])
			}
			if diff := cmp.Diff(followers[0].own, f.own); diff != "" {
				rt.Errorf("readers 0 and %d were told of (-0 +%d):\n%s", i, i, diff)
			}
			for id, kept := range turns {
				if f.turns[id] == nil {
					rt.Fatalf("reader %d missed turn %s", i, id)
				}
				if err := f.turns[id].Agrees(stored(rt, here, id), !kept); err != nil {
					rt.Errorf("reader %d, turn %s: %v", i, id, err)
				}
			}
		}
	})
}

// Two hundred readers of one conversation, of two processes, who go away and come back at
// different events, put the same together.
func TestManyFeedReaders(t *testing.T) {
	t.Parallel()
	dsn := testkit.DSN(t)
	stores := []*postgres.Store{open(t, dsn), open(t, dsn)}
	here := stores[0]
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	ada, project, c := shared(t, here)
	var reading sync.WaitGroup
	followers, failures := make([]*feedFollower, 200), make([]error, 200)
	for i := range followers {
		followers[i] = &feedFollower{after: "1", turns: map[string]*testkit.Transcript{}}
		mine := slices.Clone(stores)
		if i%2 == 1 {
			slices.Reverse(mine)
		}
		reading.Go(func() { failures[i] = followers[i].read(ctx, mine, project.ID, []int{1 + i%5, 2 + i%7, 1 + i%3}) })
	}
	turns := []domain.Turn{answer(t, here, ask(ada, project, c.ID), "One."), answer(t, here, ask(ada, project, c.ID), "Two.")}
	if err := here.RetitleConversation(ctx, c.ID, "the end"); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	for i, f := range followers {
		if failures[i] != nil {
			t.Fatalf("reader %d: %v", i, failures[i])
		}
		if diff := cmp.Diff(followers[0].own, f.own); diff != "" {
			t.Errorf("readers 0 and %d were told of (-0 +%d):\n%s", i, i, diff)
		}
		for _, turn := range turns {
			if f.turns[turn.ID] == nil {
				t.Fatalf("reader %d missed turn %s", i, turn.ID)
			}
			if err := f.turns[turn.ID].Agrees(log(t, here, turn.ID), false); err != nil {
				t.Errorf("reader %d, turn %s: %v", i, turn.ID, err)
			}
		}
	}
}

// act lets up to three conversations of a project run some turns each, step by step in any order.
// It gives the turns, and whether their last text was stored.
func act(rt *rapid.T, s *postgres.Store, u domain.User, p domain.Project, c domain.Conversation) map[string]bool {
	turns, open := map[string]bool{}, map[string]*writer{}
	conversations := []string{c.ID, c.ID + "-b", c.ID + "-c"}
	end := func(conversation string) {
		w := open[conversation]
		if kept := turns[w.turn]; kept && w.open != nil {
			w.write()
		}
		if _, err := s.FinishTurn(context.Background(), domain.TurnEnd{TurnID: w.turn, Status: domain.TurnCanceled, Reason: domain.EndCanceled}); err != nil {
			rt.Fatal(err)
		}
		delete(open, conversation)
	}
	for range rapid.IntRange(1, 30).Draw(rt, "steps") {
		conversation := rapid.SampledFrom(conversations).Draw(rt, "conversation")
		w := open[conversation]
		if w == nil {
			turn, _, err := s.CreateTurn(context.Background(), ask(u, p, conversation))
			if err != nil {
				rt.Fatal(err)
			}
			w = &writer{t: rt, store: s, turn: turn.ID}
			w.take()
			open[conversation], turns[turn.ID] = w, rapid.Bool().Draw(rt, "kept")
			continue
		}
		if rapid.IntRange(0, 5).Draw(rt, "end") == 0 {
			end(conversation)
			continue
		}
		w.step()
	}
	for _, conversation := range conversations {
		if open[conversation] != nil {
			end(conversation)
		}
	}
	return turns
}

func stored(rt *rapid.T, s *postgres.Store, id string) (events []domain.Event) {
	for e, err := range s.Follow(context.Background(), id, domain.Cursor{}) {
		if err != nil {
			rt.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}
