package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// fakeCommands keeps commands in memory. What they do, their line says: "wait" goes on, and
// others end as the fixture's end, or as the status of that name.
type fakeCommands struct {
	mu       sync.Mutex
	commands map[string]domain.Command
	ids      []string // in the order in which they were made
	keys     map[string][]byte
	keyed    map[string]string
	orders   []domain.CommandOrder
	end      domain.Command
	may      bool // who orders may approve
	failing  error
	canceled []string
	waited   chan string // the ids of commands that go on, as they are waited for
}

func newFakeCommands() *fakeCommands {
	code := 0
	return &fakeCommands{
		commands: map[string]domain.Command{}, keys: map[string][]byte{}, keyed: map[string]string{}, may: true, waited: make(chan string, 10),
		end: domain.Command{Status: domain.CommandDone, ExitCode: &code, Stdout: domain.CommandOutput{Head: []byte("hello\n"), Bytes: 6}},
	}
}

func (f *fakeCommands) OrderCommand(_ context.Context, who domain.Actor, o domain.CommandOrder) (domain.Command, *domain.Action, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failing != nil {
		return domain.Command{}, nil, f.failing
	}
	if o.AgentID != "a1" || o.ProjectID != "p1" {
		return domain.Command{}, nil, domain.NotFound("there is no agent %q in this project", o.AgentID)
	}
	o.UserID, o.Pending = who.UserID, !f.may
	f.orders = append(f.orders, o)
	c, known := f.commands[o.ID]
	if !known {
		c = domain.Command{CommandOrder: o, Hostname: "box", Status: domain.CommandQueued, CreatedAt: day, DeliverBy: day.Add(o.Wait)}
		if o.Pending {
			c.Status = domain.CommandPending
		}
		f.commands[o.ID], f.ids = c, append(f.ids, o.ID)
	}
	if c.Status == domain.CommandPending {
		return c, &domain.Action{
			ID: o.ID, CallID: o.ID, ProjectID: o.ProjectID, Requester: who.UserID, Name: "run_command", Input: json.RawMessage(`{}`),
			Description: "Run run_command", Hash: "h", Nonce: "n", Status: domain.ActionPending, CreatedAt: day, ExpiresAt: day.Add(time.Hour),
		}, nil
	}
	return c, nil, nil
}

func (f *fakeCommands) CommandKey(_ context.Context, userID, key string, hash []byte, id string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key = userID + " " + key
	if f.keyed[key] == "" {
		f.keyed[key], f.keys[key] = id, hash
	}
	if !bytes.Equal(f.keys[key], hash) {
		return "", domain.Errorf(domain.CodeUnprocessable, "this Idempotency-Key was used with another request; choose a new key")
	}
	return f.keyed[key], nil
}

func (f *fakeCommands) AwaitCommand(ctx context.Context, id string) (domain.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.commands[id]
	if c.Command == "wait" {
		f.mu.Unlock()
		f.waited <- id
		<-ctx.Done()
		f.mu.Lock()
		return c, ctx.Err()
	}
	end := f.end
	end.CommandOrder, end.Hostname, end.CreatedAt, end.DeliverBy = c.CommandOrder, c.Hostname, c.CreatedAt, c.DeliverBy
	if status := domain.CommandStatus(c.Command); status.Known() {
		end.Status, end.ExitCode, end.Error = status, nil, "because"
	}
	f.commands[id] = end
	return end, nil
}

func (f *fakeCommands) CommandByID(_ context.Context, id string) (domain.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.commands[id]
	if !ok {
		return c, domain.NotFound("there is no command %q", id)
	}
	return c, nil
}

func (f *fakeCommands) Command(ctx context.Context, projectID, id string) (domain.Command, error) {
	c, err := f.CommandByID(ctx, id)
	if err == nil && c.ProjectID != projectID {
		err = domain.Hidden("there is no command %q in this project", id)
	}
	return c, err
}

func (f *fakeCommands) AgentCommands(_ context.Context, projectID, agentID string, page domain.Page) (list []domain.Command, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := slices.Clone(f.ids)
	slices.Reverse(ids)
	if page.Before != "" {
		ids = ids[slices.Index(ids, page.Before)+1:]
	}
	for _, id := range ids {
		if c := f.commands[id]; c.ProjectID == projectID && c.AgentID == agentID && len(list) < page.Limit {
			list = append(list, c)
		}
	}
	return list, nil
}

func (f *fakeCommands) CancelCommand(ctx context.Context, projectID, id string, who domain.Actor) (domain.Command, error) {
	c, err := f.Command(ctx, projectID, id)
	if err == nil && c.Status.Over() {
		err = domain.Errorf(domain.CodeConflict, "command %s has ended already: it is %s", id, c.Status)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.canceled = append(f.canceled, id+" by "+who.Name)
		c.CancelRequested = true
	}
	return c, err
}

func (f *fakeCommands) FollowCommand(_ context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	return func(yield func(domain.Event, error) bool) {
		events := []domain.Event{
			{Subject: id, Cursor: domain.Cursor{Seq: 1}, Type: domain.EventCommandStarted, Payload: json.RawMessage(`{"hostname":"box","command":"ls"}`)},
			{Subject: id, Cursor: domain.Cursor{Seq: 2}, Type: domain.EventCommandDone, Payload: json.RawMessage(`{"status":"done","exit_code":0,"error":"","stdout_bytes":0,"stderr_bytes":0}`)},
		}
		for _, e := range events {
			if e.Cursor.Seq > after.Seq && !yield(e, nil) {
				return
			}
		}
	}
}

// add stores a command as it is.
func (f *fakeCommands) add(c domain.Command) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commands[c.ID], f.ids = c, append(f.ids, c.ID)
}

func (f *fakeCommands) last() domain.CommandOrder {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.orders[len(f.orders)-1]
}
