package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// played is an agent of a project on a stack, which the test plays.
type played struct {
	*stack
	t          *testing.T
	project    domain.Project
	id         string
	connection string
}

func newPlayed(t *testing.T) played {
	t.Helper()
	p := played{stack: newStack(t), t: t}
	ctx := t.Context()
	ada, err := p.store.CreateUser(ctx, domain.NewUser{Email: "ada@example.com", Name: "Ada", Provider: "local"})
	if err != nil {
		t.Fatal(err)
	}
	if p.project, err = p.store.CreateProject(ctx, domain.Project{Name: "engine", GroupID: "everyone", CreatedBy: ada.ID}); err != nil {
		t.Fatal(err)
	}
	install := []byte("install")
	err = p.store.AddInstallToken(ctx, domain.InstallToken{ID: domain.NewID(), ProjectID: p.project.ID, Hash: install, ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	hello := domain.AgentHello{Hostname: "web", Machine: "m1", Capabilities: []string{"ack", "cancel"}}
	agent, err := p.store.JoinAgent(ctx, install, []byte("permanent"), hello)
	if err != nil {
		t.Fatal(err)
	}
	p.id, p.connection = agent.ID, domain.NewID()
	if err := p.store.ConnectAgent(ctx, domain.AgentConnection{ID: p.connection, AgentID: p.id, ProcessID: "p", AgentHello: hello}); err != nil {
		t.Fatal(err)
	}
	return p
}

// order starts a command.
func (p played) order(wait time.Duration) domain.Command {
	p.t.Helper()
	c, err := p.StartCommand(p.t.Context(), domain.CommandOrder{
		ID: domain.NewID(), ProjectID: p.project.ID, AgentID: p.id, Command: "uname -a", UserID: "ada", Timeout: time.Second, Wait: wait,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// deliver sends what waits, whose results have to come within patience of their time limit.
func (p played) deliver(patience time.Duration) {
	p.t.Helper()
	list, err := p.store.DeliverCommands(p.t.Context(), p.id, p.connection, patience, 10)
	if err != nil || len(list) != 1 {
		p.t.Fatalf("delivered %+v, %v", list, err)
	}
}

// post ends a command as its agent would, by the hub.
func (p played) post(id string, status domain.CommandStatus) {
	p.t.Helper()
	code := 0
	if _, err := p.store.EndCommand(p.t.Context(), p.id, domain.CommandEnd{CommandID: id, Status: status, ExitCode: &code}); err != nil {
		p.t.Fatal(err)
	}
	if err := p.CommandFinished(p.t.Context(), id); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for a command and for its workflow, whose history is kept.
func (p played) ends(id string, want domain.CommandStatus, history string) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), patience)
	defer stop()
	if c, err := p.AwaitCommand(ctx, id); err != nil || c.Status != want {
		p.t.Fatalf("ended %+v, %v; want %s", c, err, want)
	}
	p.keep(p.t, workflows.CommandWorkflowID(id), history)
	if ids, err := p.store.UntoldCommands(ctx, 0, 10); err != nil || len(ids) != 0 {
		p.t.Errorf("its workflow has closed, and does not know of %v, %v", ids, err)
	}
}

// runs waits until the workflow of a command has looked at it.
func (p played) runs(id string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := p.store.CommandByID(p.t.Context(), id)
		if err != nil || time.Now().After(deadline) {
			p.t.Fatalf("its workflow does not begin: %v", err)
		}
		if c.Launched {
			return
		}
	}
}

// obey ends what the agent is told to cancel.
func (p played) obey() {
	list, err := p.store.DeliverCommands(p.t.Context(), p.id, p.connection, time.Minute, 10)
	for _, d := range list {
		if err == nil && d.Cancel {
			_, err = p.store.EndCommand(p.t.Context(), p.id, domain.CommandEnd{CommandID: d.ID, Status: domain.CommandCanceled})
		}
	}
	if code := domain.CodeOf(err); p.t.Context().Err() == nil && code != "" && code != domain.CodeSuperseded && code != domain.CodeNotFound {
		p.t.Error(err)
	}
}

func TestCommandsOnServers(t *testing.T) {
	t.Parallel()
	p := newPlayed(t)
	c := p.order(time.Minute)
	p.runs(c.ID)
	p.deliver(time.Minute)
	p.post(c.ID, domain.CommandDone)
	p.ends(c.ID, domain.CommandDone, "a-result")

	c = p.order(time.Second)
	p.ends(c.ID, domain.CommandExpired, "an-agent-that-stays-away")

	c = p.order(time.Minute)
	p.deliver(time.Second)
	p.ends(c.ID, domain.CommandUnknown, "a-result-that-stays-away")

	// Delivered just before its agent would have been away for too long: the result has its own time.
	c = p.order(3 * time.Second)
	p.runs(c.ID)
	p.deliver(3 * time.Second)
	p.ends(c.ID, domain.CommandUnknown, "a-result-that-stays-away-from-a-late-delivery")

	c = p.order(time.Minute)
	p.runs(c.ID)
	if err := p.client.CancelWorkflow(t.Context(), workflows.CommandWorkflowID(c.ID), ""); err != nil {
		t.Fatal(err)
	}
	p.ends(c.ID, domain.CommandCanceled, "canceled-by-an-operator")

	c = p.order(time.Minute)
	p.deliver(time.Minute)
	p.runs(c.ID)
	if c, err := p.CancelCommand(t.Context(), p.project.ID, c.ID, domain.Actor{Name: "Ada"}); err != nil || c.Status.Over() {
		t.Fatalf("canceled %+v, %v", c, err)
	}
	p.post(c.ID, domain.CommandCanceled)
	p.ends(c.ID, domain.CommandCanceled, "canceled-as-it-ran")
}

// A command needs no worker to run: one that comes later finds how it ended.
func TestACommandWithoutAWorker(t *testing.T) {
	t.Parallel()
	p := newPlayed(t)
	c := p.order(time.Minute)
	p.runs(c.ID)
	p.worker.Stop()
	p.deliver(time.Minute)
	p.post(c.ID, domain.CommandDone)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if c, err := p.AwaitCommand(ctx, c.ID); err != nil || c.Status != domain.CommandDone {
		t.Fatalf("ended %+v, %v", c, err)
	}
	p.startWorker(t)
	p.ends(c.ID, domain.CommandDone, "another-worker-takes-over")
}

func TestADeletedProjectEndsItsCommands(t *testing.T) {
	t.Parallel()
	p := newPlayed(t)
	sent := p.order(time.Minute)
	p.deliver(time.Minute)
	queued := p.order(time.Minute)
	p.runs(sent.ID)
	p.runs(queued.ID)
	p.store.OnAgent(func(string) { go p.obey() })
	removed, err := p.DeleteProject(t.Context(), p.project.ID)
	if err != nil || removed.Commands != 2 || removed.Agents != 1 {
		t.Fatalf("removed %+v, %v", removed, err)
	}
	for _, id := range []string{sent.ID, queued.ID} {
		closed(t, p.client, workflows.CommandWorkflowID(id))
		if _, err := p.AwaitCommand(t.Context(), id); domain.CodeOf(err) != domain.CodeNotFound {
			t.Errorf("after its removal: %v", err)
		}
	}
	p.keep(t, workflows.CommandWorkflowID(sent.ID), "ended-by-the-deletion-of-its-project")
}
