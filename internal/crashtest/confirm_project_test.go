package crashtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// team is a project with two people and their API keys.
type team struct {
	project    domain.Project
	ada, grace domain.User
	adas, hers string // keys
}

func (s *site) team() (t team) {
	s.t.Helper()
	ctx := context.Background()
	person := func(name string) (domain.User, string) {
		name += "-" + domain.NewID()
		u, err := s.store.CreateUser(ctx, domain.NewUser{Email: name + "@example.com", Name: name, Provider: "local"})
		if err != nil {
			s.t.Fatal(err)
		}
		if err := s.store.SetGroups(ctx, u.ID, []string{"everyone"}); err != nil {
			s.t.Fatal(err)
		}
		_, key, err := s.store.CreateKey(ctx, domain.NewAPIKey{UserID: u.ID, Name: "test", Scopes: []domain.KeyScope{domain.ScopeRead, domain.ScopeWrite, domain.ScopeAsk, domain.ScopeApprove}})
		if err != nil {
			s.t.Fatal(err)
		}
		return u, key
	}
	t.ada, t.adas = person("ada")
	t.grace, t.hers = person("grace")
	var err error
	if t.project, err = s.store.CreateProject(ctx, domain.Project{Name: domain.NewID(), GroupID: "everyone", CreatedBy: t.ada.ID}); err != nil {
		s.t.Fatal(err)
	}
	return t
}

// In a project its settings say which tools ask, and who decides; and its feed goes on.
func TestAProjectsActions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newSite(t)
	s.worker()
	project, err := s.store.CreateProject(ctx, domain.Project{Name: domain.NewID(), GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	settings := domain.ConfirmSettings{Approvers: domain.ApproveOthers, Expiry: time.Hour, Asking: []string{"look"}}
	if err := s.store.SetConfirmSettings(ctx, project.ID, settings); err != nil {
		t.Fatal(err)
	}
	conversation := domain.NewID()
	w := s.watch(s.ask(domain.TurnRequest{Query: "Please remove it.", ConversationID: conversation, ProjectID: project.ID}).ID)
	w.until(domain.EventUnlock, 1)
	actions, err := s.Actions(ctx, domain.ActionQuery{ProjectID: project.ID, Status: domain.ActionPending})
	if err != nil || len(actions) != 3 {
		t.Fatalf("the turn waits for %+v, %v", actions, err)
	}
	statuses := []domain.ActionStatus{domain.ActionApproved, domain.ActionApproved, domain.ActionApproved}
	if _, err := s.DecideActions(ctx, decider, seen(actions, statuses...)); domain.CodeOf(err) != domain.CodeForbidden {
		t.Errorf("the person who asked may decide: %v", err)
	}
	other := domain.Actor{UserID: "grace", Name: "grace"}
	if _, err := s.DecideActions(ctx, other, seen(actions, statuses...)); err != nil {
		t.Fatal(err)
	}
	s.ended(w)
	for _, a := range actions {
		if got, err := s.Action(ctx, a.ID); err != nil || got.Status != domain.ActionApplied || got.ProjectID != project.ID || got.ConversationID != conversation {
			t.Errorf("action %+v, %v", got, err)
		}
	}
}
