package postgres_test

import (
	"context"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// After a turn its conversation gets a title and suggestions, once, and the project is told.
func TestAnAfterword(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada, project, _ := shared(t, s)
	turn := answer(t, s, ask(ada, project, "asked"), "One.")
	due, err := s.AfterwordsDue(ctx, 10)
	if err != nil || len(due) != 1 || due[0].ID != turn.ID {
		t.Fatalf("due: %+v, %v", due, err)
	}
	feed, err := s.Conversation(ctx, "asked")
	if err != nil || feed.Title != "Where is it?" {
		t.Fatalf("before: %+v, %v", feed, err)
	}
	word := domain.Afterword{TurnID: turn.ID, Title: "Where it is", Suggestions: []string{"Who calls it?"}, Usage: domain.Usage{Cost: 0.5}}
	q := domain.FeedQuery{ProjectID: project.ID}
	got := gather(t, s, q, domain.EventSuggestions, func(e domain.FeedEvent) {
		if e.Event.Type == domain.EventPresence {
			if err := s.CommitAfterword(ctx, word); err != nil {
				t.Error(err)
			}
		}
	})
	same(t, "the feed", []told{{false, domain.EventPresence, ""}, {true, domain.EventTitleUpdated, "asked"}, {true, domain.EventSuggestions, "asked"}}, got)
	again := word
	again.Title = "Another"
	if err := s.CommitAfterword(ctx, again); err != nil {
		t.Error(err)
	}
	c, err := s.Conversation(ctx, "asked")
	if err != nil || c.Title != "Where it is" || len(c.Suggestions) != 1 {
		t.Errorf("after: %+v, %v", c, err)
	}
	if turn, err = s.Turn(ctx, turn.ID); err != nil || turn.Usage.Cost != 0.75 {
		t.Errorf("the turn took %v, %v", turn.Usage, err)
	}
	failed := create(t, s, ask(ada, project, "asked"))
	finish(t, s, domain.TurnEnd{TurnID: failed.ID, Status: domain.TurnFailed, Reason: domain.EndFailed, Error: "no"})
	if due, err = s.AfterwordsDue(ctx, 10); err != nil || len(due) != 0 {
		t.Errorf("after a failure: %+v, %v", due, err)
	}
	if c, err = s.Conversation(ctx, "asked"); err != nil || len(c.Suggestions) != 0 {
		t.Errorf("the next question leaves %v, %v", c.Suggestions, err)
	}
}

// What an afterword may cost is held back of its person's day, once, and let go of however it ends.
func TestTheCostOfAnAfterword(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada, project, _ := shared(t, s)
	wants := func(doing string, spent, reserved float64) {
		t.Helper()
		gotSpent, gotReserved, err := s.Spent(ctx, ada.ID)
		if err != nil || gotSpent != spent || gotReserved != reserved {
			t.Errorf("%s: %v spent, %v reserved, %v; want %v and %v", doing, gotSpent, gotReserved, err, spent, reserved)
		}
	}
	due := func() string { return answer(t, s, ask(ada, project, domain.NewID()), "One.").ID }
	reserve := func(turn string, cost float64, want domain.Code) {
		t.Helper()
		if err := s.ReserveAfterword(ctx, turn, cost, 10); domain.CodeOf(err) != want {
			t.Errorf("reserve %v: %v", cost, err)
		}
	}
	first, second, third := due(), due(), due() // each takes 0.25
	reserve(first, 2, "")
	reserve(first, 3, "") // tried again
	wants("reserved twice", 0.75, 3)
	reserve(second, 7, domain.CodeBudgetExhausted)
	wants("with no room", 0.75, 3)
	reserve(second, 1, "")
	reserve(third, 1.5, "")
	wants("reserved", 0.75, 5.5)
	word := domain.Afterword{TurnID: first, Usage: domain.Usage{Cost: 0.5}}
	for range 2 {
		if err := s.CommitAfterword(ctx, word); err != nil {
			t.Error(err)
		}
	}
	wants("written", 1.25, 2.5)
	reserve(first, 1, domain.CodeSuperseded)
	for range 2 {
		if err := s.GiveAfterwordsUp(ctx, []string{first, second}); err != nil {
			t.Error(err)
		}
	}
	wants("given up", 1.25, 1.5)
	if ids, err := s.EndAfterwords(ctx, project.ID); err != nil || len(ids) != 1 || ids[0] != third {
		t.Errorf("ended %v, %v", ids, err)
	}
	wants("ended with the project", 1.25, 0)
}

// A title that a person gives while the afterword is written stays, and nobody is told of another.
func TestATitleOfAPersonStays(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada, project, _ := shared(t, s)
	turn := answer(t, s, ask(ada, project, "named"), "One.")
	if _, due, err := s.AfterwordDue(ctx, turn.ID); err != nil || !due {
		t.Fatalf("due: %v, %v", due, err)
	}
	if err := s.RetitleConversation(ctx, "named", "Mine"); err != nil {
		t.Fatal(err)
	}
	if err := s.CommitAfterword(ctx, domain.Afterword{TurnID: turn.ID, Title: "A model's", Suggestions: []string{"Who calls it?"}}); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Conversation(ctx, "named"); err != nil || c.Title != "Mine" || len(c.Suggestions) != 1 {
		t.Errorf("after: %+v, %v", c, err)
	}
}
