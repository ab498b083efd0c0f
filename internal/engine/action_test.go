package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

var ada = domain.Actor{UserID: "ada", Name: "Ada", Role: domain.UserRegular}

// A decision reaches the workflow at once, or by the sweeper once Temporal is there again;
// and only once.
func TestADecisionIsTold(t *testing.T) {
	t.Parallel()
	e, f := newEngine(t)
	f.actions.rows["a1"] = domain.Action{ID: "a1", TurnID: "t1", CallID: "c1", Requester: "ada"}
	f.temporal.down = errors.New("away")
	decided, err := e.DecideActions(context.Background(), ada, []domain.Decision{{ActionID: "a1", Status: domain.ActionApproved}})
	if err != nil || len(decided) != 1 || decided[0].Status != domain.ActionApproved {
		t.Fatalf("decided %+v, %v", decided, err)
	}
	f.temporal.down = nil
	for range 2 {
		if err := e.Sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"turn/t1 action.decided c1"}; !slices.Equal(f.temporal.signals, want) {
		t.Errorf("signals %v, want %v", f.temporal.signals, want)
	}
}

// Who may decide follows the project's rule, and nothing is recorded for who may not.
func TestWhoMayDecide(t *testing.T) {
	t.Parallel()
	bob := domain.Actor{UserID: "bob", Role: domain.UserRegular}
	root := domain.Actor{UserID: "root", Role: domain.UserAdmin}
	for _, c := range []struct {
		project string
		rule    domain.Approvers
		who     domain.Actor
		allowed bool
	}{
		{"", domain.ApproveMembers, ada, true}, {"", domain.ApproveMembers, bob, false}, {"", domain.ApproveMembers, root, false},
		{"p", domain.ApproveMembers, ada, true}, {"p", domain.ApproveMembers, bob, true},
		{"p", domain.ApproveAdmins, ada, false}, {"p", domain.ApproveAdmins, root, true},
		{"p", domain.ApproveOthers, ada, false}, {"p", domain.ApproveOthers, bob, true},
	} {
		e, f := newEngine(t)
		f.actions.settings.Approvers = c.rule
		f.actions.rows["a1"] = domain.Action{ID: "a1", TurnID: "t1", CallID: "c1", Requester: "ada", ProjectID: c.project}
		_, err := e.DecideActions(context.Background(), c.who, []domain.Decision{{ActionID: "a1", Status: domain.ActionApproved}})
		if allowed := err == nil; allowed != c.allowed || !allowed && domain.CodeOf(err) != domain.CodeForbidden {
			t.Errorf("%s in project %q with %s: %v", c.who.UserID, c.project, c.rule, err)
		}
		if decided := f.actions.rows["a1"].DecidedBy != ""; decided != c.allowed {
			t.Errorf("%s in project %q with %s: decided %v", c.who.UserID, c.project, c.rule, decided)
		}
	}
}
