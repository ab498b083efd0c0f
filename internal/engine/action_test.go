package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
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

// changed knows what has happened to what calls are about.
type changed struct{ says error }

func (c changed) Holds(context.Context, domain.Scope, string, json.RawMessage) error { return c.says }

func (changed) Handles(_ string, input json.RawMessage) (map[string]domain.SecretRef, error) {
	var in struct{ Env map[string]string }
	_ = json.Unmarshal(input, &in)
	refs := map[string]domain.SecretRef{}
	for name, text := range in.Env {
		refs[name], _ = domain.ParseHandle(text)
	}
	return refs, nil
}

// What is about something that has changed meanwhile can't be approved; it can be rejected.
func TestWhatHasChangedIsNotApproved(t *testing.T) {
	t.Parallel()
	moved := domain.Errorf(domain.CodeUnprocessable, "the machine was called web")
	for name, c := range map[string]struct {
		says   error
		input  string
		status domain.ActionStatus
		code   domain.Code
		want   string
	}{
		"as it was":          {nil, `{"env":{"T":"secret://S@2"}}`, domain.ActionApproved, "", ""},
		"another machine":    {moved, `{}`, domain.ActionApproved, domain.CodeConflict, "action a1 can't be approved: the machine was called web. Nothing is run; reject it"},
		"another version":    {nil, `{"env":{"T":"secret://S@1"}}`, domain.ActionApproved, domain.CodeConflict, "the secret S has changed"},
		"no secret":          {nil, `{"env":{"T":"secret://GONE@1"}}`, domain.ActionApproved, domain.CodeConflict, "there is no secret GONE"},
		"rejected":           {moved, `{}`, domain.ActionRejected, "", ""},
		"it can't be looked": {domain.Errorf(domain.CodeUnavailable, "away"), `{}`, domain.ActionApproved, domain.CodeUnavailable, "away"},
	} {
		e, f := newEngine(t)
		e.Secrets, e.Calls = stamp{}, changed{c.says}
		f.actions.rows["a1"] = domain.Action{ID: "a1", TurnID: "t1", CallID: "c1", Requester: "ada", ProjectID: "p", Name: "run_command", Input: json.RawMessage(c.input), Status: domain.ActionPending}
		_, err := e.DecideActions(context.Background(), ada, []domain.Decision{{ActionID: "a1", Status: c.status}})
		if (err == nil) != (c.code == "") || err != nil && (domain.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if (len(f.actions.decided) > 0) != (c.code == "") {
			t.Errorf("%s: recorded are %+v", name, f.actions.decided)
		}
	}
	e, f := newEngine(t)
	e.Calls = changed{moved}
	f.actions.rows["a1"] = domain.Action{ID: "a1", TurnID: "t1", Requester: "ada", Status: domain.ActionRejected}
	if _, err := e.DecideActions(context.Background(), ada, []domain.Decision{{ActionID: "a1", Status: domain.ActionApproved}}); err != nil {
		t.Errorf("what is decided is the store's to refuse: %v", err)
	}
}
