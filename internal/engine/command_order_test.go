package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

var bob = domain.Actor{UserID: "bob", Name: "Bob", Role: domain.UserRegular}

// A person's command runs at once where the person may approve it, and by credentials that may;
// else it waits for somebody else.
func TestAPersonOrdersACommand(t *testing.T) {
	t.Parallel()
	boss := domain.Actor{UserID: "root", Name: "Root", Role: domain.UserAdmin}
	byKey := func(a domain.Actor, scopes ...domain.KeyScope) domain.Actor {
		a.KeyID, a.Scopes = "k", scopes
		return a
	}
	for _, c := range []struct {
		rule  domain.Approvers
		who   domain.Actor
		waits string // for what; "" where it runs at once
	}{
		{domain.ApproveMembers, ada, ""}, {domain.ApproveAdmins, ada, "and may not approve"}, {domain.ApproveAdmins, boss, ""}, {domain.ApproveOthers, boss, "and may not approve"},
		{domain.ApproveMembers, byKey(ada, domain.ScopeWrite), "by an API key"}, {domain.ApproveMembers, byKey(ada, domain.ScopeWrite, domain.ScopeApprove), ""},
	} {
		e, f := newEngine(t)
		f.actions.settings.Approvers, f.actions.settings.Expiry = c.rule, time.Hour
		order := commandOrder("c1")
		order.Description, order.Timeout = "tidy up", 30*time.Second
		command, action, err := e.OrderCommand(context.Background(), c.who, order)
		if err != nil || command.UserID != c.who.UserID || (command.Status == domain.CommandPending) != (c.waits != "") || (action != nil) != (c.waits != "") {
			t.Errorf("%s with %s: %+v, %+v, %v", c.who.UserID, c.rule, command, action, err)
		}
		if c.waits == "" {
			continue
		}
		if action.ID != "c1" || action.TurnID != "" || action.Name != "run_command" || action.Hash != domain.ActionHash("run_command", action.Input) ||
			!strings.Contains(action.Description, "machine: web") || !strings.Contains(action.Description, c.who.Name+" asked for it, "+c.waits) || action.Nonce == "" {
			t.Errorf("the action is %+v", action)
		}
		// Ordered again it is the same, with the same action.
		again, same, err := e.OrderCommand(context.Background(), c.who, order)
		if err != nil || again.ID != command.ID || same == nil || same.Nonce != action.Nonce {
			t.Errorf("again: %+v, %+v, %v", again, same, err)
		}
	}
}

// What is decided about a person's command is carried out at once, or by the sweeper.
func TestAPersonsCommandIsDecided(t *testing.T) {
	t.Parallel()
	for status, want := range map[domain.ActionStatus]domain.CommandStatus{domain.ActionApproved: domain.CommandQueued, domain.ActionRejected: domain.CommandRejected} {
		for _, late := range []bool{false, true} {
			e, f := newEngine(t)
			f.actions.settings.Approvers = domain.ApproveOthers
			order := commandOrder("c1")
			if _, _, err := e.OrderCommand(context.Background(), ada, order); err != nil {
				t.Fatal(err)
			}
			if late {
				f.commands.down = errors.New("away")
			}
			if _, err := e.DecideActions(context.Background(), ada, []domain.Decision{{ActionID: "c1", Status: status}}); domain.CodeOf(err) != domain.CodeForbidden {
				t.Errorf("who asked decides: %v", err)
			}
			if _, err := e.DecideActions(context.Background(), bob, []domain.Decision{{ActionID: "c1", Status: status, Reason: "because"}}); err != nil {
				t.Errorf("decide: %v", err)
			}
			if c, _ := f.commands.set("c1", func(*domain.Command) {}); late && c.Status != domain.CommandPending {
				t.Errorf("the command is %s while nothing can be reached", c.Status)
			}
			f.commands.down = nil
			for range 2 {
				if err := e.Sweep(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if c, _ := f.commands.set("c1", func(*domain.Command) {}); c.Status != want {
				t.Errorf("%s: the command is %s, want %s", status, c.Status, want)
			}
			if !f.actions.told["c1"] {
				t.Errorf("%s: the decision is not told", status)
			}
		}
	}
}

// What waits in vain ends.
func TestCommandsThatWaitInVain(t *testing.T) {
	t.Parallel()
	e, f := newEngine(t)
	f.actions.stranded = map[string]domain.ActionStatus{"late": domain.ActionExpired, "no": domain.ActionRejected, "lost": ""}
	for id := range f.actions.stranded {
		order := commandOrder(id)
		order.Pending = true
		if _, err := e.StartCommand(context.Background(), order); err != nil {
			t.Fatal(err)
		}
	}
	left := commandOrder("left")
	left.TurnID = "canceled"
	if _, err := e.StartCommand(context.Background(), left); err != nil {
		t.Fatal(err)
	}
	if err := e.SweepCommandActions(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c, _ := f.commands.set("left", func(*domain.Command) {}); c.Status != domain.CommandCanceled || c.Error != "the end of its turn" {
		t.Errorf("the command of a canceled turn is %s: %s", c.Status, c.Error)
	}
	for id, want := range map[string]string{"late": "nobody decided on it in time", "no": "it was rejected", "lost": "no approval was asked for"} {
		if c, _ := f.commands.set(id, func(*domain.Command) {}); c.Status != domain.CommandRejected || !strings.Contains(c.Error, want) {
			t.Errorf("%s is %s: %s", id, c.Status, c.Error)
		}
	}
	if f.actions.settled != 1 {
		t.Errorf("actions were ended %d times", f.actions.settled)
	}
}
