package crashtest_test

import (
	"context"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// busyProject is a project in which a turn waits for decisions, another runs, and a third has
// ended.
func (s *site) busyProject() (project string, open []*watch) {
	s.t.Helper()
	on := s.team()
	ask := func(query string) *watch {
		s.t.Helper()
		return s.watch(s.ask(domain.TurnRequest{Query: query, ConversationID: domain.NewID(), ProjectID: on.project.ID}).ID)
	}
	waiting, running, over := ask("Please remove it."), ask("Where does the server start?"), ask("hello")
	s.stands(waiting.id, domain.TurnWaiting)
	s.stands(running.id, domain.TurnRunning)
	s.stands(over.id, domain.TurnDone)
	return on.project.ID, []*watch{waiting, running}
}

// stands waits until a turn has a status.
func (s *site) stands(id string, want domain.TurnStatus) {
	s.t.Helper()
	s.eventually("turn "+id+" is "+string(want), func(ctx context.Context) bool {
		turn, err := s.Turn(ctx, id)
		return err == nil && turn.Status == want
	})
}

// gone checks that a project is away with all that it owned, and that nothing works for it.
func (s *site) gone(project string, open []*watch) {
	s.t.Helper()
	ctx := context.Background()
	for _, w := range open {
		if err := s.client.GetWorkflow(ctx, workflows.TurnWorkflowID(w.id), "").Get(ctx, nil); err != nil {
			s.t.Errorf("the workflow of turn %s: %v", w.id, err)
		}
	}
	for _, table := range []string{"turns", "conversations", "actions", "artifacts"} {
		var n int
		if err := s.pool.QueryRow(ctx, "select count(*) from "+table+" where project_id = $1", project).Scan(&n); err != nil || n != 0 {
			s.t.Errorf("%d rows are left in %s, %v", n, table, err)
		}
	}
}

// A project's deletion ends what works in it, also what waits for a person, and says what went.
func TestAProjectIsDeletedWhileItsTurnsWait(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker()
	project, open := s.busyProject()
	removed, err := s.DeleteProject(context.Background(), project)
	if err != nil || removed.Turns != 3 || removed.Canceled != 2 || removed.Actions != 2 || removed.Conversations != 3 {
		t.Errorf("removed %+v, %v", removed, err)
	}
	s.gone(project, open)
}

// A deletion that was cut off at any of its steps is taken up by whatever server is there.
func TestADeletionIsTakenUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newSite(t)
	worker := s.worker()
	project, open := s.busyProject()
	worker.kill()
	if _, err := s.store.CloseProject(ctx, project); err != nil { // as far as it came
		t.Fatal(err)
	}
	if _, err := s.StartTurn(ctx, domain.TurnRequest{UserID: domain.OwnerID, Query: "hello", ProjectID: project, ConversationID: domain.NewID()}); domain.CodeOf(err) != domain.CodeConflict {
		t.Errorf("a query of a project that is being deleted: %v", err)
	}
	if _, err := s.pool.Exec(ctx, "update projects set deleting_at = now() - interval '2 minutes' where id = $1", project); err != nil {
		t.Fatal(err)
	}
	s.worker()
	s.api(freeAddress(t), false)
	s.eventually("project "+project+" is gone", func(ctx context.Context) bool {
		_, err := s.store.Project(ctx, project)
		return domain.CodeOf(err) == domain.CodeNotFound
	})
	s.gone(project, open)
}
