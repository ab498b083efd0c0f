package crashtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// beingWritten waits until a worker is at a turn's afterword.
func (s *site) beingWritten(turnID string) {
	s.t.Helper()
	s.eventually("the afterword of "+turnID+" is being written", func(ctx context.Context) bool {
		at, err := s.client.DescribeWorkflowExecution(ctx, workflows.AfterwordWorkflowID(turnID), "")
		return err == nil && len(at.GetPendingActivities()) == 1 && at.GetPendingActivities()[0].GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED
	})
}

// told counts what the people of a project were told of a conversation.
func (s *site) told(project, conversation string) (titles, suggestions int) {
	s.t.Helper()
	err := s.pool.QueryRow(context.Background(), `
select count(*) filter (where type = 'title_updated'), count(*) filter (where type = 'suggestions')
from events where subject_id = 'project/' || $1 and payload ->> 'conv_id' = $2`, project, conversation).Scan(&titles, &suggestions)
	if err != nil {
		s.t.Fatal(err)
	}
	return titles, suggestions
}

// After its first turn a conversation gets a title and suggestions, once, whatever is killed
// meanwhile, and never over a title that a person gave. The turn does not wait for it.
func TestAfterwords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(s *site, w *watch, conversation string, worker *process)
		title     string
		attempts  int32
	}{
		"a title and suggestions": {func(*site, *watch, string, *process) {}, newTitle, 1},
		"killed while it is written": {func(s *site, _ *watch, _ string, worker *process) {
			worker.kill()
			s.worker()
		}, newTitle, 2},
		"titled by a person meanwhile": {func(s *site, _ *watch, conversation string, _ *process) {
			if err := s.store.RetitleConversation(context.Background(), conversation, "Mine"); err != nil {
				s.t.Fatal(err)
			}
		}, "Mine", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			s := newSite(t)
			worker, project, conversation := s.worker(), s.team().project.ID, domain.NewID()
			s.api(freeAddress(t), false)
			w := s.watch(s.ask(domain.TurnRequest{Query: "hello", ProjectID: project, ConversationID: conversation}).ID)
			if turn := s.end(w); turn.Status != domain.TurnDone {
				t.Fatalf("the turn is %s", turn.Status)
			}
			if titles, suggestions := s.told(project, conversation); titles+suggestions != 0 {
				t.Errorf("with the end of the turn %d titles and %d suggestions are told", titles, suggestions)
			}
			s.beingWritten(w.id)
			c.meanwhile(s, w, conversation, worker)
			history := s.recorded(workflows.Afterword.Name, workflows.AfterwordWorkflowID(w.id), name)
			kept, err := s.store.Conversation(ctx, conversation)
			if err != nil || kept.Title != c.title || len(kept.Suggestions) != 2 {
				t.Errorf("the conversation is %+v, %v", kept, err)
			}
			if titles, suggestions := s.told(project, conversation); titles != 1 || suggestions != 1 {
				t.Errorf("%d titles and %d suggestions are told", titles, suggestions)
			}
			attempts := int32(0)
			for _, e := range history.Events {
				attempts = max(attempts, e.GetActivityTaskStartedEventAttributes().GetAttempt())
			}
			if n := len(history.Events); n > 20 || attempts != c.attempts {
				t.Errorf("the history of an afterword has %d events and %d attempts", n, attempts)
			}
		})
	}
}

// Turns that failed or were canceled, and those of nobody's conversation, have no afterword.
func TestNoAfterword(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newSite(t)
	s.worker()
	s.api(freeAddress(t), false)
	project := s.team().project.ID
	ask := func(query string) *watch {
		return s.watch(s.ask(domain.TurnRequest{Query: query, ProjectID: project, ConversationID: domain.NewID()}).ID)
	}
	failed, canceled, last := ask("Where does it fail?"), ask("Where does the server start?"), ask("hello")
	canceled.until(domain.EventTextDelta, 5)
	if _, err := s.CancelTurn(ctx, canceled.id); err != nil {
		t.Fatal(err)
	}
	for w, want := range map[*watch]domain.TurnStatus{failed: domain.TurnFailed, canceled: domain.TurnCanceled, last: domain.TurnDone} {
		if turn := s.end(w); turn.Status != want {
			t.Errorf("the turn is %s, want %s", turn.Status, want)
		}
	}
	s.eventually("a later sweep is over", func(ctx context.Context) bool {
		_, due, err := s.store.AfterwordDue(ctx, last.id)
		return err == nil && !due
	})
	for _, w := range []*watch{failed, canceled} {
		_, err := s.client.DescribeWorkflowExecution(ctx, workflows.AfterwordWorkflowID(w.id), "")
		var none *serviceerror.NotFound
		if !errors.As(err, &none) {
			t.Errorf("turn %s has an afterword: %v", w.id, fmt.Sprint(err))
		}
	}
}
