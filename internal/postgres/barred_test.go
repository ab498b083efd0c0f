package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// guest is a person of a group, and a machine of its project.
type guest struct {
	machine
	eve          domain.User
	group, other domain.Group
}

func newGuest(t *testing.T) guest {
	t.Helper()
	h := newHouse(t)
	ctx := context.Background()
	shared(t, h.store) // the first to sign up is the admin
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	eve, err := h.store.CreateUser(ctx, person("eve"))
	must(err)
	group, err := h.store.CreateGroup(ctx, "red", "")
	must(err)
	other, err := h.store.CreateGroup(ctx, "blue", "")
	must(err)
	must(h.store.SetGroups(ctx, eve.ID, []string{group.ID}))
	project, err := h.store.CreateProject(ctx, domain.Project{Name: "tools", GroupID: group.ID, CreatedBy: eve.ID})
	must(err)
	return guest{h.join(project, "m1", whole...), eve, group, other}
}

// barring are the ways by which eve loses the project, and gets it again.
func (g guest) barring() map[string]struct {
	says      string
	out, back func() error
} {
	ctx, s := context.Background(), g.store
	type way = struct {
		says      string
		out, back func() error
	}
	return map[string]way{
		"disabled": {"the account of eve, who asked for it, is disabled",
			func() error { return s.SetDisabled(ctx, g.eve.ID, true) }, func() error { return s.SetDisabled(ctx, g.eve.ID, false) }},
		"out of the group": {"eve, who asked for it, may not see the project",
			func() error { return s.SetGroups(ctx, g.eve.ID, nil) }, func() error { return s.SetGroups(ctx, g.eve.ID, []string{g.group.ID}) }},
		"project moved": {"eve, who asked for it, may not see the project",
			func() error { return s.MoveProject(ctx, g.ProjectID, g.other.ID) }, func() error { return s.SetRole(ctx, g.eve.ID, domain.UserAdmin) }},
	}
}

func (g guest) asks(pending bool) domain.CommandOrder {
	return domain.CommandOrder{ID: domain.NewID(), ProjectID: g.ProjectID, AgentID: g.ID, Command: "ls", UserID: g.eve.ID, Timeout: time.Minute, Wait: time.Minute, Pending: pending}
}

func (g guest) action(id string) domain.Action {
	g.Helper()
	a, err := g.store.ProposeAction(context.Background(), domain.Action{
		ID: id, CallID: id, ProjectID: g.ProjectID, Requester: g.eve.ID, Name: domain.ToolRunCommand, Input: []byte(`{}`),
		Hash: "h", Nonce: "n", ExpiresAt: time.Now().Add(time.Hour),
	})
	if err != nil {
		g.Fatal(err)
	}
	return a
}

// What was asked for runs with the rights that its person has then: as it is approved, let go,
// ordered and delivered.
func TestNothingRunsForWhoIsOut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	boss := domain.Actor{UserID: "boss", Name: "Boss"}
	g := newGuest(t)
	for name, way := range g.barring() {
		g := newGuest(t)
		way = g.barring()[name]
		waiting, decided, queued := g.asks(true), g.asks(true), g.asks(false)
		for _, o := range []domain.CommandOrder{waiting, decided, queued} {
			if _, err := g.store.CreateCommand(ctx, o); err != nil {
				t.Fatal(err)
			}
		}
		approve := domain.Decision{ActionID: waiting.ID, Status: domain.ActionApproved, Nonce: g.action(waiting.ID).Nonce, Hash: "h"}
		if err := way.out(); err != nil {
			t.Fatal(err)
		}

		_, err := g.store.Decide(ctx, boss, []domain.Decision{approve})
		if domain.CodeOf(err) != domain.CodeConflict || !strings.Contains(err.Error(), way.says) {
			t.Errorf("%s, approved: %v", name, err)
		}
		if c, err := g.store.ReleaseCommand(ctx, decided.ID); err != nil || c.Status != domain.CommandRejected || !strings.Contains(c.Error, way.says) {
			t.Errorf("%s, let go: %s %q, %v", name, c.Status, c.Error, err)
		}
		if _, err := g.store.CreateCommand(ctx, g.asks(false)); domain.CodeOf(err) != domain.CodeForbidden || !strings.Contains(err.Error(), way.says) {
			t.Errorf("%s, ordered: %v", name, err)
		}
		if c, err := g.store.CreateCommand(ctx, queued); err != nil || c.ID != queued.ID {
			t.Errorf("%s, ordered again: %+v, %v", name, c, err)
		}
		if list := g.deliver(); len(list) != 1 || list[0].ID != queued.ID || !strings.Contains(list[0].Barred, way.says) {
			t.Errorf("%s, delivered: %+v", name, list)
		}

		if err := way.back(); err != nil {
			t.Fatal(err)
		}
		if _, err := g.store.Decide(ctx, boss, []domain.Decision{approve}); err != nil {
			t.Errorf("%s, and back again: %v", name, err)
		}
		if c, err := g.store.ReleaseCommand(ctx, waiting.ID); err != nil || c.Status != domain.CommandQueued {
			t.Errorf("%s, and back again, is let go: %s, %v", name, c.Status, err)
		}
		if list := g.deliver(); len(list) != 1 || list[0].Barred != "" {
			t.Errorf("%s, and back again, is delivered: %+v", name, list)
		}
	}
	rejected := g.asks(true)
	if _, err := g.store.CreateCommand(ctx, rejected); err != nil {
		t.Fatal(err)
	}
	no := domain.Decision{ActionID: rejected.ID, Status: domain.ActionRejected, Nonce: g.action(rejected.ID).Nonce, Hash: "h"}
	if err := g.store.SetDisabled(ctx, g.eve.ID, true); err != nil {
		t.Fatal(err)
	}
	if _, err := g.store.Decide(ctx, boss, []domain.Decision{no}); err != nil {
		t.Errorf("it can't be rejected: %v", err)
	}
}

// Of a turn's action who begins it is told what keeps its person out.
func TestAClaimTellsWhoIsOut(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	p.exec(`insert into users (id, name, role, provider) values ('ada', 'ada', 'regular', 'local')`)
	if err := p.decide(ada, p.decision("a1", domain.ActionApproved), p.decision("a2", domain.ActionApproved)); err != nil {
		t.Fatal(err)
	}
	if c := p.claim("c1"); c.Barred != "" || !c.Claimed {
		t.Errorf("claimed %+v", c)
	}
	p.exec(`update users set disabled_at = now() where id = 'ada'`)
	if c := p.claim("c2"); c.Barred != domain.BarDisabled || !c.Claimed {
		t.Errorf("claimed %+v", c)
	}
}
