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
