package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A handle that stands for nothing is refused as the command is ordered, with what to do.
func TestHandlesOfOrders(t *testing.T) {
	t.Parallel()
	for handle, want := range map[string]string{
		"secret://S":            "",
		"secret://s@2":          "",
		"no handle":             "",
		"secret://GONE":         "harvest secrets set GONE",
		"secret://S@1":          "version 1 of the secret S, which is not the newest any more; give secret://S",
		"secret://S@x":          "a secret and nothing else",
		"Bearer secret://S":     `as in "Bearer $TOKEN"`,
		"secret://S@2 and more": "a secret and nothing else",
	} {
		e, f := newEngine(t)
		e.Secrets = stamp{}
		order := commandOrder("c1")
		order.Env = map[string]string{"TOKEN": handle}
		c, err := e.StartCommand(context.Background(), order)
		if (err == nil) != (want == "") || err != nil && (domain.CodeOf(err) != domain.CodeUnprocessable || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "TOKEN")) {
			t.Errorf("%s: %v, want %q", handle, err, want)
		}
		if want == "" && c.Env["TOKEN"] != handle {
			t.Errorf("%s is stored as %s", handle, c.Env["TOKEN"])
		}
		if want != "" && len(f.commands.rows) > 0 {
			t.Errorf("%s is refused, and stored", handle)
		}
	}
	e, _ := newEngine(t)
	order := commandOrder("c1")
	order.Env = map[string]string{"TOKEN": "secret://S"}
	if _, err := e.StartCommand(context.Background(), order); domain.CodeOf(err) != domain.CodeUnprocessable {
		t.Errorf("without secrets: %v", err)
	}
}

// rotated is a vault in which the secret S has a version more, and holds a word of the command.
type rotated struct{ stamp }

func (rotated) Pin(_ context.Context, _ string, ref domain.SecretRef) (domain.SecretRef, error) {
	return ref, domain.Errorf(domain.CodeConflict, "the secret %s has changed", ref.Name)
}

func (rotated) Scrubber(context.Context, string) (domain.Scrubber, error) {
	return hiding{texts: []string{"uname"}}, nil
}

// Whoever orders a command again is answered from its row, also where it would be refused by now.
func TestAKnownCommandIsAnsweredFromItsRow(t *testing.T) {
	t.Parallel()
	e, f := newEngine(t)
	e.Secrets = stamp{}
	order := commandOrder("c1")
	order.Env = map[string]string{"TOKEN": "secret://S@2"}
	if _, err := e.StartCommand(context.Background(), order); err != nil {
		t.Fatal(err)
	}
	f.commands.set("c1", func(c *domain.Command) { c.Status = domain.CommandDone })
	e.Secrets = rotated{}
	if c, err := e.StartCommand(context.Background(), order); err != nil || c.Status != domain.CommandDone {
		t.Errorf("again: %+v, %v", c, err)
	}
	for name, change := range map[string]func(*domain.CommandOrder){
		"another id": func(o *domain.CommandOrder) { o.ID = "c2" }, "another machine": func(o *domain.CommandOrder) { o.AgentID = "b" },
		"another project": func(o *domain.CommandOrder) { o.ProjectID = "q" }, "another line": func(o *domain.CommandOrder) { o.Command = "uname -a" },
	} {
		other := order
		change(&other)
		if c, err := e.StartCommand(context.Background(), other); domain.CodeOf(err) != domain.CodeUnprocessable {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// What waits for an approval names the version that it means.
func TestAPendingCommandPinsItsHandles(t *testing.T) {
	t.Parallel()
	e, f := newEngine(t)
	e.Secrets = stamp{}
	f.actions.settings.Approvers, f.actions.settings.Expiry = domain.ApproveOthers, time.Hour
	order := commandOrder("c1")
	order.Env = map[string]string{"TOKEN": "secret://S", "MODE": "fast"}
	c, action, err := e.OrderCommand(context.Background(), ada, order)
	if err != nil || c.Env["TOKEN"] != "secret://S@2" || c.Env["MODE"] != "fast" || !strings.Contains(string(action.Input), "secret://S@2") {
		t.Errorf("%+v, %+v, %v", c, action, err)
	}
	if order.Env["TOKEN"] != "secret://S" {
		t.Error("the order of the caller has changed")
	}
}

// A project is told of what its persons run, as it is ordered and as it ends; what waits for an
// approval is told by its action.
func TestProjectsAreToldOfCommands(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	f.actions.settings.Approvers = domain.ApproveMembers
	told := func() []string {
		e.Launched()
		f.commands.mu.Lock()
		defer f.commands.mu.Unlock()
		list := f.commands.noted
		f.commands.noted = nil
		return list
	}
	if _, _, err := e.OrderCommand(ctx, ada, commandOrder("c1")); err != nil || len(told()) != 1 {
		t.Errorf("ordered: %v", err)
	}
	if _, err := e.CancelCommand(ctx, "p", "c1", ada); err != nil || len(told()) != 1 {
		t.Errorf("canceled: %v", err)
	}
	f.actions.settings.Approvers, f.actions.settings.Expiry = domain.ApproveOthers, time.Hour
	if _, _, err := e.OrderCommand(ctx, ada, commandOrder("c2")); err != nil || len(told()) != 0 {
		t.Errorf("asked for: %v", err)
	}
	f.commands.unnoted = []string{"c1", "lost"}
	if err := e.SweepCommands(ctx); err != nil {
		t.Fatal(err)
	}
	if list := told(); !slices.Contains(list, "lost") {
		t.Errorf("swept: %v", list)
	}
}
