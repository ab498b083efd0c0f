package crashtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// An undisturbed turn, to compare with and to see that the others are disturbed at all.
func TestUndisturbed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker()
	turn := s.start()
	w := s.watch(turn.ID)
	s.undisturbed(s.end(w))
	for _, e := range w.Events {
		if e.Type == domain.EventRetry {
			t.Errorf("an undisturbed turn has a retry: %s", e.Payload)
		}
	}
	if n := len(s.history(turn.ID, "three rounds").Events); n > 60 {
		t.Errorf("the history of a turn of three rounds has %d events", n)
	}
}

// A worker that is killed in the middle of anything is replaced, and the turn goes on.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	moments := map[string]struct {
		wait func(s *site, w *watch)
		lost bool // the model's words, so that a retry drops them
	}{
		"in mid-stream of thinking":       {func(_ *site, w *watch) { w.until(domain.EventThinkingDelta, 3) }, true},
		"in mid-stream of text":           {func(_ *site, w *watch) { w.until(domain.EventTextDelta, 20) }, true},
		"between the model and its tools": {func(_ *site, w *watch) { w.until(domain.EventToolCall, 1) }, false},
		"while a tool runs":               {func(s *site, w *watch) { s.runs(w.id, 1) }, false},
		"between the tools and the model": {func(_ *site, w *watch) { w.until(domain.EventToolResult, 2) }, false},
		"in the middle of the last words": {func(s *site, w *watch) { s.runs(w.id, 2); w.until(domain.EventTextDelta, 10) }, true},
	}
	for name, moment := range moments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			doomed := s.worker()
			w := s.watch(s.start().ID)
			moment.wait(s, w)
			doomed.kill()
			s.worker()
			s.goesOn(w, time.Now())
			s.undisturbed(s.end(w))
			s.history(w.id, "killed "+name)
			retries := 0
			for _, e := range w.Events {
				if e.Type == domain.EventRetry {
					retries++
				}
			}
			if moment.lost != (retries == 1) && (moment.lost || retries > 1) {
				t.Errorf("%d retries", retries)
			}
		})
	}
}

// Workers die one after the other while many turns run; none is lost.
func TestWorkersDieUnderLoad(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	doomed := s.worker()
	var watches []*watch
	for range 8 {
		watches = append(watches, s.watch(s.start().ID))
	}
	for i := range 3 {
		watches[i].until(domain.EventTextDelta, 8)
		doomed.kill()
		doomed = s.worker()
	}
	for _, w := range watches {
		s.undisturbed(s.end(w))
	}
}

// A cancel stops the model's stream and running tools within two seconds, and what was said
// is kept.
func TestCancel(t *testing.T) {
	t.Parallel()
	moments := map[string]func(s *site, w *watch){
		"while the model speaks": func(_ *site, w *watch) { w.until(domain.EventTextDelta, 20) },
		"while a tool runs":      func(s *site, w *watch) { s.runs(w.id, 1) },
	}
	for name, moment := range moments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.worker()
			w := s.watch(s.start().ID)
			moment(s, w)
			asked := time.Now()
			if _, err := s.CancelTurn(context.Background(), w.id); err != nil {
				t.Fatal(err)
			}
			turn := s.end(w)
			if took := time.Since(asked); took > 2*time.Second {
				t.Errorf("the turn ended after %s", took.Round(time.Millisecond))
			}
			s.history(w.id, "canceled "+name)
			if turn.Status != domain.TurnCanceled || len(turn.Answer) < 20 || w.Events[len(w.Events)-1].Type != domain.EventCanceled {
				t.Errorf("turn %s with the answer %q", turn.Status, turn.Answer)
			}
		})
	}
}

// The other ways that a turn can take, on real servers; they are recorded for the replay.
func TestWaysOfATurn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker()
	long := domain.TurnRequest{Query: "How long is it?", ConversationID: domain.NewID()}
	for _, way := range []struct {
		name   string
		req    domain.TurnRequest
		reason domain.EndReason
	}{
		{"a question to the person", domain.TurnRequest{Query: "Where is it unclear?"}, domain.EndAsked},
		{"a provider that fails", domain.TurnRequest{Query: "Where does it fail?"}, domain.EndFailed},
		{"a greeting", domain.TurnRequest{Query: "hello"}, domain.EndAnswered},
		{"a long answer", long, domain.EndAnswered},
		{"a long answer again", long, domain.EndAnswered},
		{"a long answer once more", long, domain.EndAnswered},
		{"a long answer a last time", long, domain.EndAnswered},
		{"a history that is summed up", long, domain.EndAnswered},
	} {
		w := s.watch(s.ask(way.req).ID)
		if turn := s.end(w); turn.Reason != way.reason {
			t.Errorf("%s: the turn ended as %s (%s)", way.name, turn.Reason, turn.Error)
		}
		if way.req.ConversationID == "" || way.name == "a history that is summed up" {
			s.history(w.id, way.name)
		}
		if summed := strings.Contains(fmt.Sprint(w.types()), "compacted"); summed != (way.name == "a history that is summed up") {
			t.Errorf("%s: events %v", way.name, w.types())
		}
	}
}
