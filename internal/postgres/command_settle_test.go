package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// pending makes a command that waits for approval.
func (m machine) pending() domain.Command {
	m.Helper()
	c, err := m.store.CreateCommand(context.Background(), domain.CommandOrder{
		ID: domain.NewID(), ProjectID: m.ProjectID, AgentID: m.ID, Command: "rm -r build", Timeout: time.Minute, Wait: time.Minute, Pending: true,
	})
	if err != nil || c.Status != domain.CommandPending || !c.Pending {
		m.Fatalf("created %+v, %v", c, err)
	}
	return c
}

// What can't be run any more is not approved either.
func TestDecisionsAboutWhatCanNotRun(t *testing.T) {
	t.Parallel()
	h, project, m := newMachine(t)
	canceled, renamed := m.propose(domain.NewID(), time.Hour), m.propose(domain.NewID(), time.Hour)
	if _, err := h.store.CancelCommand(t.Context(), project.ID, canceled.ID, "Ada"); err != nil {
		t.Fatal(err)
	}
	m.hello.Hostname = "db"
	m.connect("")
	decide := func(a domain.Action, status domain.ActionStatus) error {
		_, err := h.store.Decide(t.Context(), domain.Actor{UserID: "bob", Name: "Bob"}, []domain.Decision{{ActionID: a.ID, Status: status, Nonce: a.Nonce, Hash: a.Hash}})
		return err
	}
	for text, a := range map[string]domain.Action{"its machine was removed": canceled, `was called "web" as it was asked for, and is "db" now`: renamed} {
		if err := decide(a, domain.ActionApproved); domain.CodeOf(err) != domain.CodeConflict || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q: %v", text, err)
		}
	}
	if err := decide(renamed, domain.ActionRejected); err != nil {
		t.Errorf("a rejection: %v", err)
	}
}

// An approval is of a machine by the name that it was shown with.
func TestAnApprovalOfARenamedMachine(t *testing.T) {
	t.Parallel()
	h, _, m := newMachine(t)
	c := m.pending()
	m.hello.Hostname = "db"
	m.connect("")
	got, err := h.store.ReleaseCommand(t.Context(), c.ID)
	if err != nil || got.Status != domain.CommandRejected || !strings.Contains(got.Error, `was called "web" then, and is "db" now`) {
		t.Errorf("released %+v, %v", got, err)
	}
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("delivered %+v", list)
	}
}

func TestAnApproval(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	c := m.pending()
	m.exec(`update commands set deliver_by = now() - interval '1 hour', created_at = now() - interval '1 hour'`)
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("delivered what waits for approval: %+v", list)
	}
	if got, err := h.store.LapseCommand(ctx, c.ID); err != nil || got.Status != domain.CommandPending {
		t.Errorf("lapsed while it waited for approval: %+v, %v", got, err)
	}
	if list, err := h.store.UnstartedCommands(ctx, 0, 10); err != nil || len(list) != 0 {
		t.Errorf("to be started: %+v, %v", list, err)
	}
	// Its time to be delivered counts from the approval.
	got, err := h.store.ReleaseCommand(ctx, c.ID)
	if err != nil || got.Status != domain.CommandQueued || time.Until(got.DeliverBy) < 30*time.Second {
		t.Fatalf("released %+v, %v", got, err)
	}
	if got, err := h.store.RejectCommand(ctx, c.ID, "no"); err != nil || got.Status != domain.CommandQueued {
		t.Errorf("rejected after its approval: %+v, %v", got, err)
	}
	if list := m.deliver(); len(list) != 1 || list[0].ID != c.ID {
		t.Fatalf("delivered %+v", list)
	}
	if got, err := h.store.ReleaseCommand(ctx, c.ID); err != nil || got.Status != domain.CommandDelivered {
		t.Errorf("released again: %+v, %v", got, err)
	}

	c = m.pending()
	if got, err = h.store.RejectCommand(ctx, c.ID, "Grace rejected it"); err != nil || got.Status != domain.CommandRejected || got.Error != "Grace rejected it" {
		t.Errorf("rejected %+v, %v", got, err)
	}
	if got, err := h.store.ReleaseCommand(ctx, c.ID); err != nil || got.Status != domain.CommandRejected {
		t.Errorf("released after its rejection: %+v, %v", got, err)
	}
	if events := types(log(t, h.store, c.ID)); !slices.Equal(events, []string{"command_done"}) {
		t.Errorf("events %v", events)
	}
	_, err = h.store.ReleaseCommand(ctx, "none")
	wantCode(t, "released what there isn't", err, domain.CodeNotFound)
	_, err = h.store.RejectCommand(ctx, "none", "")
	wantCode(t, "rejected what there isn't", err, domain.CodeNotFound)
}

// Both at once: one of them wins, and the command is what it says.
func TestAnApprovalAgainstARejection(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	for range 20 {
		c := m.pending()
		var group errgroup.Group
		group.Go(func() error { _, err := h.store.ReleaseCommand(ctx, c.ID); return err })
		group.Go(func() error { _, err := h.store.RejectCommand(ctx, c.ID, "no"); return err })
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		got, list := m.look(c.ID), m.deliver()
		if (got.Status == domain.CommandQueued) != (len(list) == 1) || got.Status != domain.CommandQueued && got.Status != domain.CommandRejected {
			t.Fatalf("it is %s, and %d were delivered", got.Status, len(list))
		}
		for _, d := range list {
			m.end(result(d.ID, 0, ""))
		}
	}
}

// What its workflow sees, and what is left to the sweeper.
func TestWhatAWorkflowSees(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	c := m.order()
	if list, err := h.store.UnstartedCommands(ctx, 0, 10); err != nil || len(list) != 1 || list[0].ID != c.ID {
		t.Errorf("to be started %+v, %v", list, err)
	}
	got, left, err := h.store.LookAtCommand(ctx, c.ID)
	if err != nil || got.ID != c.ID || left <= 50*time.Second || left > time.Minute {
		t.Errorf("seen %+v, %s, %v", got, left, err)
	}
	if list, err := h.store.UnstartedCommands(ctx, 0, 10); err != nil || len(list) != 0 {
		t.Errorf("to be started %+v, %v", list, err)
	}
	if list, err := h.store.OpenCommands(ctx, 0, "", 10); err != nil || len(list) != 1 {
		t.Errorf("open %+v, %v", list, err)
	}
	m.deliver()
	if _, left, err := h.store.LookAtCommand(ctx, c.ID); err != nil || left < 10*time.Minute {
		t.Errorf("sent, it is %s to its end, %v", left, err)
	}
	m.late(c.ID)
	if ids, err := h.store.OverdueCommands(ctx, 0, 10); err != nil || len(ids) != 1 {
		t.Errorf("overdue %v, %v", ids, err)
	}
	m.end(result(c.ID, 0, ""))
	if ids, err := h.store.OverdueCommands(ctx, 0, 10); err != nil || len(ids) != 0 {
		t.Errorf("overdue %v, %v", ids, err)
	}
	if ids, err := h.store.UntoldCommands(ctx, 0, 10); err != nil || len(ids) != 1 {
		t.Errorf("untold %v, %v", ids, err)
	}
	if _, _, err := h.store.LookAtCommand(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if ids, err := h.store.UntoldCommands(ctx, 0, 10); err != nil || len(ids) != 0 {
		t.Errorf("untold %v, %v", ids, err)
	}
	_, _, err = h.store.LookAtCommand(ctx, "none")
	wantCode(t, "seen what there isn't", err, domain.CodeNotFound)
}

// Whoever waits for a command learns of its end at once, in the same process and in others.
func TestAwaiting(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	pool := testkit.Postgres(t)
	here, there := postgres.NewStore(pool), postgres.NewStore(pool)
	h := house{t, pool, here}
	_, project, _ := shared(t, here)
	m := h.join(project, "m1", whole...)
	for _, s := range []*postgres.Store{here, there} {
		go func() { _ = s.Serve(ctx) }()
	}
	for range 5 {
		c := m.sent()
		type end struct {
			domain.Command
			error
			at time.Time
		}
		ends := make(chan end, 2)
		for _, s := range []*postgres.Store{here, there} {
			go func() {
				c, err := s.AwaitCommand(ctx, c.ID)
				ends <- end{c, err, time.Now()}
			}()
		}
		m.end(result(c.ID, 0, "out"))
		for range 2 {
			if e := <-ends; e.error != nil || e.Status != domain.CommandDone || string(e.Stdout.Head) != "out" {
				t.Fatalf("awaited %+v, %v", e.Command, e.error)
			}
		}
		if got, err := there.AwaitCommand(ctx, c.ID); err != nil || got.Status != domain.CommandDone {
			t.Errorf("awaited after its end %+v, %v", got, err)
		}
	}
	short, end := context.WithCancel(ctx)
	c := m.order()
	end()
	if _, err := here.AwaitCommand(short, c.ID); err == nil {
		t.Error("a wait that was given up is no error")
	}
	_, err := here.AwaitCommand(ctx, "none")
	wantCode(t, "awaited what there isn't", err, domain.CodeNotFound)
}

func TestCommandsAreListed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project := newYard(t)
	m, other := h.join(project, "m1", whole...), h.join(project, "m2", whole...)
	var ids []string
	for range 5 {
		ids = append(ids, m.order().ID)
	}
	other.order()
	slices.Reverse(ids)
	var got []string
	page := domain.Page{Limit: 2}
	for range 3 {
		list, err := h.store.Commands(ctx, project.ID, m.ID, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			got = append(got, c.ID)
			page.Before = c.ID
		}
	}
	if !slices.Equal(got, ids) {
		t.Errorf("listed %v, want %v", got, ids)
	}
	if list, err := h.store.Commands(ctx, "elsewhere", m.ID, domain.Page{}); err != nil || len(list) != 0 {
		t.Errorf("of another project %v, %v", list, err)
	}
	_, err := h.store.Command(ctx, "elsewhere", ids[0])
	wantCode(t, "another project's command", err, domain.CodeNotFound)
}

func TestOldCommandsGo(t *testing.T) {
	t.Parallel()
	h, project, m := newMachine(t)
	c := m.sent()
	m.end(result(c.ID, 0, "out"))
	open := m.order()
	h.token(domain.InstallToken{ProjectID: project.ID, ExpiresAt: time.Now().Add(-time.Hour)})
	if done := h.keep(domain.Retention{Events: day}); done.Commands != 0 {
		t.Errorf("removed %+v", done)
	}
	if n := h.count("install_tokens where expires_at < now()"); n != 0 {
		t.Errorf("%d expired tokens are left", n)
	}
	h.exec(`update commands set created_at = created_at - interval '2 days', ended_at = ended_at - interval '2 days'`)
	if done := h.keep(domain.Retention{}); done.Commands != 0 {
		t.Errorf("removed %+v although all is kept", done)
	}
	if done := h.keep(domain.Retention{Events: day}); done.Commands != 1 {
		t.Errorf("removed %+v", done)
	}
	for _, of := range []string{"commands where id", "command_outputs where command_id", "subjects where id", "endings where subject_id"} {
		if n := h.count(of + " = '" + c.ID + "'"); n != 0 {
			t.Errorf("%d rows are left of %s", n, of)
		}
	}
	if n := h.count("streams where id = 'command/" + c.ID + "'"); n != 0 {
		t.Error("its stream is left")
	}
	if got := m.look(open.ID); got.Status != domain.CommandQueued {
		t.Errorf("an open one is %+v", got)
	}
}

// A deleted project ends its commands, whatever they are about.
func TestAProjectIsDeletedAmidItsCommands(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project, m := newMachine(t)
	sent, queued, pending := m.sent(), m.order(), m.pending()
	if _, err := h.store.CloseProject(ctx, project.ID); err != nil {
		t.Fatal(err)
	}
	_, err := h.store.CreateCommand(ctx, domain.CommandOrder{ID: "n", ProjectID: project.ID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute})
	wantCode(t, "a command in a project that goes", err, domain.CodeNotFound)
	_, err = h.store.JoinAgent(ctx, h.lastToken(project.ID), []byte("n"), hello("m9"))
	wantCode(t, "an agent in a project that goes", err, domain.CodeUnauthorized)
	if open, err := h.store.ProjectCommands(ctx, project.ID); err != nil || len(open) != 3 {
		t.Errorf("open %+v, %v", open, err)
	}
	if err := h.store.EndProjectCommands(ctx, project.ID); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]domain.CommandStatus{sent.ID: domain.CommandUnknown, queued.ID: domain.CommandCanceled, pending.ID: domain.CommandCanceled} {
		if got := m.look(id); got.Status != want {
			t.Errorf("ended as %s, want %s", got.Status, want)
		}
	}
	if _, err := h.store.DeleteProject(ctx, project.ID); err != nil {
		t.Fatal(err)
	}
	_, err = h.store.EndCommand(ctx, m.ID, result(sent.ID, 0, ""))
	wantCode(t, "a result of a project that is gone", err, domain.CodeNotFound)
	_, err = h.store.AwaitCommand(ctx, sent.ID)
	wantCode(t, "a wait in a project that is gone", err, domain.CodeNotFound)
}

// lastToken gives the hash of an install token of a project.
func (h house) lastToken(projectID string) (hash []byte) {
	h.Helper()
	if err := h.pool.QueryRow(context.Background(), "select hash from install_tokens where project_id = $1 limit 1", projectID).Scan(&hash); err != nil {
		h.Fatal(err)
	}
	return hash
}
