package postgres_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
)

// propose orders a command that waits for an approval, with its action.
func (m machine) propose(id string, expires time.Duration) domain.Action {
	m.Helper()
	order := m.asking(id)
	c, err := m.store.CreateCommand(context.Background(), order)
	if err != nil || c.Status != domain.CommandPending {
		m.Fatalf("order %s: %+v, %v", id, c, err)
	}
	input := json.RawMessage(`{"command":"ls"}`)
	a, err := m.store.ProposeAction(context.Background(), domain.Action{
		ID: id, CallID: id, ProjectID: order.ProjectID, Requester: "ada", Name: domain.ToolRunCommand, Input: input, Description: "d",
		Hash: domain.ActionHash(domain.ToolRunCommand, input), Nonce: "n-" + id, ExpiresAt: time.Now().Add(expires),
	})
	if err != nil || a.Status != domain.ActionPending || a.TurnID != "" || a.Nonce != "n-"+id {
		m.Fatalf("propose %s: %+v, %v", id, a, err)
	}
	return a
}

func (m machine) asking(id string) domain.CommandOrder {
	return domain.CommandOrder{ID: id, ProjectID: m.ProjectID, AgentID: m.ID, Command: "ls", UserID: "ada", Timeout: time.Minute, Wait: time.Minute, Pending: true}
}

// An action of a person is decided as others are, without a turn, and ends with its command.
func TestActionsOfPersons(t *testing.T) {
	t.Parallel()
	h, project := newYard(t)
	m, r := h.join(project, "m1", whole...), h.store
	ctx := context.Background()
	ids := map[string]string{}
	for _, what := range []string{"approved", "rejected", "late", "canceled", "unsure"} {
		id := domain.NewID()
		expires := time.Hour
		if what == "late" {
			expires = -time.Minute
		}
		m.propose(id, expires)
		ids[what] = id
	}
	decide := func(what string, status domain.ActionStatus) error {
		a, err := r.Action(ctx, ids[what])
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Decide(ctx, domain.Actor{UserID: "bob", Name: "Bob"}, []domain.Decision{{ActionID: a.ID, Status: status, Nonce: a.Nonce, Hash: a.Hash, Reason: "so"}})
		return err
	}
	if err := decide("approved", domain.ActionApproved); err != nil {
		t.Fatal(err)
	}
	if err := decide("unsure", domain.ActionApproved); err != nil {
		t.Fatal(err)
	}
	if err := decide("rejected", domain.ActionRejected); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a decision that comes late", decide("late", domain.ActionApproved), domain.CodeConflict)
	wantCode(t, "a second decision", decide("rejected", domain.ActionApproved), domain.CodeConflict)

	untold, err := r.UntoldDecisions(ctx, -time.Minute, 10)
	if err != nil || len(untold) != 3 {
		t.Errorf("untold: %+v, %v", untold, err)
	}
	for _, what := range []string{"approved", "unsure"} {
		if _, err := r.ReleaseCommand(ctx, ids[what]); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.MarkTold(ctx, ids["approved"], ids["unsure"], ids["rejected"]); err != nil {
		t.Fatal(err)
	}
	if expired, err := r.ExpireActions(ctx, 10); err != nil || len(expired) != 1 || expired[0] != ids["late"] {
		t.Errorf("expired %v, %v", expired, err)
	}
	lost := domain.NewID()
	order := m.asking(lost)
	if _, err := r.CreateCommand(ctx, order); err != nil {
		t.Fatal(err)
	}
	stranded, err := r.StrandedCommands(ctx, -time.Minute, 10)
	if err != nil || len(stranded) != 3 || stranded[ids["late"]] != domain.ActionExpired || stranded[ids["rejected"]] != domain.ActionRejected || stranded[lost] != "" {
		t.Errorf("stranded %v, %v", stranded, err)
	}
	if young, err := r.StrandedCommands(ctx, time.Hour, 10); err != nil || len(young) != 2 {
		t.Errorf("stranded %v, %v", young, err)
	}
	for id := range stranded {
		if _, err := r.RejectCommand(ctx, id, "never ran"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.CancelCommand(ctx, order.ProjectID, ids["canceled"], "Ada"); err != nil {
		t.Fatal(err)
	}
	settled := func(want map[string]domain.ActionStatus) {
		t.Helper()
		if err := r.SettleActions(ctx); err != nil {
			t.Fatal(err)
		}
		for what, status := range want {
			a, err := r.Action(ctx, ids[what])
			if over := status != domain.ActionApplying; err != nil || a.Status != status || (a.EndedAt != nil) != over || (a.Outcome != "") != over {
				t.Errorf("%s: %s, ended %v, %q, %v; want %s", what, a.Status, a.EndedAt, a.Outcome, err, status)
			}
		}
	}
	settled(map[string]domain.ActionStatus{
		"approved": domain.ActionApplying, "unsure": domain.ActionApplying, "rejected": domain.ActionRejected, "late": domain.ActionExpired, "canceled": domain.ActionExpired,
	})
	wantCode(t, "a decision about what was canceled", decide("canceled", domain.ActionApproved), domain.CodeConflict)
	h.exec(`update commands set status = 'done', exit_code = 3, ended_at = now() where id = '` + ids["approved"] + `'`)
	h.exec(`update commands set status = 'unknown', ended_at = now() where id = '` + ids["unsure"] + `'`)
	settled(map[string]domain.ActionStatus{"approved": domain.ActionApplied, "unsure": domain.ActionUnknown})
	if a, _ := r.Action(ctx, ids["approved"]); a.Outcome != "ended with exit code 3" {
		t.Errorf("outcome %q", a.Outcome)
	}
	list, err := r.Actions(ctx, domain.ActionQuery{ProjectID: order.ProjectID, Tool: domain.ToolRunCommand})
	if err != nil || len(list) != 5 {
		t.Errorf("%d actions are listed, %v", len(list), err)
	}
}

// A project is told of what its persons ask to have approved, and of what becomes of that, once.
func TestProjectsAreToldOfActionsOfPersons(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	m, r := h.join(project, "m1", whole...), h.store
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	approved, late, canceled := m.propose(domain.NewID(), time.Hour), m.propose(domain.NewID(), -time.Minute), m.propose(domain.NewID(), time.Hour)
	if again, err := r.ProposeAction(ctx, approved); err != nil || again.ID != approved.ID {
		t.Fatalf("proposed again: %+v, %v", again, err)
	}
	_, err := r.Decide(ctx, domain.Actor{UserID: "bob", Name: "Bob"}, []domain.Decision{{ActionID: approved.ID, Status: domain.ActionApproved, Nonce: approved.Nonce, Hash: approved.Hash}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.CancelCommand(ctx, project.ID, canceled.ID, "Ada"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // whoever sweeps second finds nothing
		if _, err := r.ExpireActions(ctx, 10); err != nil {
			t.Fatal(err)
		}
		if err := r.SettleActions(ctx); err != nil {
			t.Fatal(err)
		}
	}
	last := m.propose(domain.NewID(), time.Hour) // ends what is read
	want := []string{"confirm_action " + approved.ID, "confirm_action " + late.ID, "confirm_action " + canceled.ID,
		"action_decided " + approved.ID + " approved Bob", "action_decided " + late.ID + " expired", "action_decided " + canceled.ID + " expired", "confirm_action " + last.ID}
	var got []string
	for e, err := range r.Follow(ctx, "project/"+project.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatalf("%v after %v", err, got)
		}
		if e.Type != domain.EventConfirmAction && e.Type != domain.EventActionDecided {
			continue
		}
		var told struct{ ID, Status, Name, Requester string }
		if err := json.Unmarshal(e.Payload, &told); err != nil {
			t.Fatal(err)
		}
		line := string(e.Type) + " " + told.ID
		if e.Type == domain.EventActionDecided {
			line = strings.TrimSpace(line + " " + told.Status + " " + told.Name)
		} else if told.Requester != "ada" || told.Name != domain.ToolRunCommand {
			t.Errorf("told %s", e.Payload)
		}
		if got = append(got, line); told.ID == last.ID {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The commands of a canceled turn are to be canceled, where that can be.
func TestCommandsOfCanceledTurns(t *testing.T) {
	t.Parallel()
	h, project := newYard(t)
	ours, plain := h.join(project, "m1", whole...), h.join(project, "")
	turn := create(t, h.store, request())
	var want []string
	for _, m := range []machine{ours, plain} {
		for range 2 {
			c := m.order()
			h.exec(`update commands set turn_id = $1 where id = $2`, turn.ID, c.ID)
			if want = append(want, c.ID); len(want)%2 == 1 {
				m.deliver()
			}
		}
	}
	ids := func() (ids []string) {
		list, err := h.store.AbandonedCommands(context.Background(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			ids = append(ids, c.ID)
		}
		return ids
	}
	if got := ids(); len(got) != 0 {
		t.Errorf("of a turn that goes on: %v", got)
	}
	h.exec(`update turns set cancel_requested_at = now() where id = $1`, turn.ID)
	// All but the one that a plain agent was sent.
	if diff := cmp.Diff([]string{want[0], want[1], want[3]}, ids()); diff != "" {
		t.Errorf("of a canceled turn (-want +got):\n%s", diff)
	}
}

func TestAKeyStandsForACommand(t *testing.T) {
	t.Parallel()
	r := newHouse(t).store
	keep := func(user, key, hash, id, want string) {
		t.Helper()
		if got, err := r.KeepCommandKey(context.Background(), user, key, []byte(hash), id); err != nil || got != want {
			t.Errorf("%s's key %s for %s: %s, %v", user, key, id, got, err)
		}
	}
	keep("ada", "k", "h", "c1", "c1")
	keep("ada", "k", "h", "c2", "c1")
	keep("bob", "k", "h", "c3", "c3")
	keep("ada", "l", "h", "c4", "c4")
	_, err := r.KeepCommandKey(context.Background(), "ada", "k", []byte("other"), "c5")
	wantCode(t, "the key of another request", err, domain.CodeUnprocessable)
}
