package postgres_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Which of two comes first is drawn by the test itself: each is a compare-and-set on the row, so
// that whichever is second finds it changed.

func TestADeliveryAgainstACancel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project, m := newMachine(t)

	c := m.order()
	got, err := h.store.CancelCommand(ctx, project.ID, c.ID, "Ada")
	if err != nil || got.Status != domain.CommandCanceled || got.EndedAt == nil {
		t.Fatalf("canceled %+v, %v", got, err)
	}
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("delivered what was canceled: %+v", list)
	}
	if events := types(log(t, h.store, c.ID)); !slices.Equal(events, []string{"command_done"}) {
		t.Errorf("events %v", events)
	}
	_, err = h.store.CancelCommand(ctx, project.ID, c.ID, "Ada")
	wantCode(t, "canceled again", err, domain.CodeConflict)

	c = m.sent()
	for range 2 { // asked for twice, told once
		if got, err = h.store.CancelCommand(ctx, project.ID, c.ID, "Ada"); err != nil || got.Status != domain.CommandDelivered || !got.CancelRequested {
			t.Fatalf("cancel of what was sent: %+v, %v", got, err)
		}
	}
	if list := m.deliver(); len(list) != 1 || !list[0].Cancel || list[0].ID != c.ID {
		t.Fatalf("the agent is told %+v", list)
	}
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("the agent is told twice: %+v", list)
	}
	m.connect("")
	if list := m.deliver(); len(list) != 1 || !list[0].Cancel || !list[0].Again {
		t.Errorf("the next connection is told %+v", list)
	}
	m.hello.Capabilities = []string{"ack"}
	m.connect("")
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("a connection that can't cancel is told %+v", list)
	}
	m.end(domain.CommandEnd{CommandID: c.ID, Status: domain.CommandFailed})
	if got := m.look(c.ID); got.Status != domain.CommandCanceled {
		t.Errorf("a canceled command that never began ended as %+v", got)
	}
}

func TestAPlainAgentCantCancel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project := newYard(t)
	m := h.join(project, "")
	c := m.sent()
	_, err := h.store.CancelCommand(ctx, project.ID, c.ID, "Ada")
	wantCode(t, "cancel of what a plain agent runs", err, domain.CodeConflict)
	_, err = h.store.CreateCommand(ctx, domain.CommandOrder{ID: "e", ProjectID: project.ID, AgentID: m.ID, Command: "env", Env: map[string]string{"A": "1"}})
	wantCode(t, "variables for a plain agent", err, domain.CodeUnprocessable)
	_, err = h.store.CancelCommand(ctx, "elsewhere", c.ID, "Ada")
	wantCode(t, "cancel from another project", err, domain.CodeNotFound)
}

func TestALapseAgainstAResult(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)

	c := m.sent()
	if got, err := h.store.LapseCommand(ctx, c.ID); err != nil || got.Status != domain.CommandDelivered {
		t.Fatalf("before its time: %+v, %v", got, err)
	}
	m.late(c.ID)
	if got, err := h.store.LapseCommand(ctx, c.ID); err != nil || got.Status != domain.CommandUnknown {
		t.Fatalf("at its time: %+v, %v", got, err)
	}
	got := m.end(result(c.ID, 4, "late"))
	if got.Status != domain.CommandUnknown || got.ExitCode != nil || got.Late == nil || *got.Late.ExitCode != 4 || got.Late.Status != domain.CommandDone || string(got.Stdout.Head) != "late" {
		t.Errorf("after a late result %+v, %+v", got, got.Late)
	}
	m.end(result(c.ID, 5, "later"))
	if got := m.look(c.ID); *got.Late.ExitCode != 4 || string(got.Stdout.Head) != "late" || got.Status != domain.CommandUnknown {
		t.Errorf("after another late result %+v, %+v", got, got.Late)
	}
	if events := types(log(t, h.store, c.ID)); !slices.Equal(events, []string{"command_done"}) {
		t.Errorf("events %v", events)
	}

	c = m.sent()
	m.late(c.ID)
	m.end(result(c.ID, 0, "in time"))
	if got, err := h.store.LapseCommand(ctx, c.ID); err != nil || got.Status != domain.CommandDone {
		t.Errorf("lapsed after its end: %+v, %v", got, err)
	}
}

func TestALapseAgainstADelivery(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	c := m.order()
	m.late(c.ID)
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("delivered what was due: %+v", list)
	}
	if got, err := h.store.LapseCommand(ctx, c.ID); err != nil || got.Status != domain.CommandExpired {
		t.Errorf("lapsed: %+v, %v", got, err)
	}
	_, err := h.store.EndCommand(ctx, m.ID, result(c.ID, 0, ""))
	if got := m.look(c.ID); err != nil || got.Status != domain.CommandExpired {
		t.Errorf("after a result of what never was sent: %+v, %v", got, err)
	}
	wantCode(t, "the result of what was not sent yet", func() error { _, err := h.store.EndCommand(ctx, m.ID, result(m.order().ID, 0, "")); return err }(), domain.CodeConflict)
}

// Two processes that believe to have the agent: only the newest connection is given something,
// each command once.
func TestTwoConnectionsDeliver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	older := m.connection
	m.connect("")
	c := m.order()
	_, err := h.store.DeliverCommands(ctx, m.ID, older, patient, 10)
	wantCode(t, "delivery by the older connection", err, domain.CodeSuperseded)
	if list := m.deliver(); len(list) != 1 || list[0].ID != c.ID {
		t.Errorf("the newer one is given %+v", list)
	}

	orders := map[string]bool{}
	for range 40 {
		orders[m.order().ID] = true
	}
	var mu sync.Mutex
	given := map[string]int{}
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			for {
				list, err := h.store.DeliverCommands(ctx, m.ID, m.connection, patient, 3)
				if err != nil || len(list) == 0 {
					return err
				}
				mu.Lock()
				for _, d := range list {
					given[d.ID]++
				}
				mu.Unlock()
			}
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for id := range orders {
		if given[id] != 1 {
			t.Errorf("command %s was given %d times", id, given[id])
		}
	}
}

// A connection that takes over waits for who delivers by the older, and knows what that has
// delivered.
func TestADeliveryAgainstATakeover(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	for range 30 {
		c := m.order()
		older := m.connection
		var first []domain.CommandDelivery
		var group errgroup.Group
		group.Go(func() (err error) {
			first, err = h.store.DeliverCommands(ctx, m.ID, older, patient, 10)
			if domain.CodeOf(err) == domain.CodeSuperseded {
				err = nil
			}
			return err
		})
		newer := domain.AgentConnection{ID: domain.NewID(), AgentID: m.ID, ProcessID: "p", AgentHello: m.hello}
		if err := h.store.ConnectAgent(ctx, newer); err != nil {
			t.Fatal(err)
		}
		m.connection = newer.ID
		second := m.deliver()
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		// Whoever was first has it for the first time; the newer connection has it in any case.
		if len(second) != 1 || second[0].ID != c.ID || second[0].Again != (len(first) == 1) {
			t.Fatalf("the older was given %+v, the newer %+v", first, second)
		}
		m.end(result(c.ID, 0, ""))
	}
}

// What a machine was sent is sent again to that machine alone, and only where it keeps a journal.
func TestDeliveredAgain(t *testing.T) {
	t.Parallel()
	h, project, m := newMachine(t)
	c := m.sent()
	m.connect("")
	list := m.deliver()
	if len(list) != 1 || !list[0].Again || list[0].Cancel || list[0].DeliveredAt.After(*list[0].ResultBy) {
		t.Fatalf("the next connection is given %+v", list)
	}
	if err := h.store.CommandStarted(context.Background(), m.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	m.connect("")
	if list := m.deliver(); len(list) != 1 || list[0].Status != domain.CommandRunning {
		t.Errorf("the next but one is given %+v", list)
	}
	m.late(c.ID)
	m.connect("")
	if list := m.deliver(); len(list) != 0 {
		t.Errorf("what is due is delivered: %+v", list)
	}

	// An agent that lost its journal with its machine, or was made plain, is not given it.
	for _, hello := range []domain.AgentHello{{Hostname: "web", Capabilities: whole}, {Hostname: "web", Machine: "m1"}} {
		c := m.sent()
		m.hello = hello
		m.connect("")
		if list := m.deliver(); len(list) != 0 {
			t.Errorf("%+v is given %+v", hello, list)
		}
		m.hello = domain.AgentHello{Hostname: "web", Machine: "m1", Capabilities: whole}
		m.connect("")
		if list := m.deliver(); len(list) != 1 || list[0].ID != c.ID {
			t.Errorf("the machine is not given its own: %+v", list)
		}
		m.end(result(c.ID, 0, ""))
	}

	plain := h.join(project, "")
	plain.sent()
	plain.connect("")
	if list := plain.deliver(); len(list) != 0 {
		t.Errorf("a plain agent is given again %+v", list)
	}
}

func TestOutputAndResultsInAnyOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project := newYard(t)
	m, other := h.join(project, "m1", whole...), h.join(project, "m2", whole...)
	take := func(id string, offset int64, text string) error {
		chunks := []domain.CommandChunk{{Stream: domain.StreamStdout, Offset: offset, Data: []byte(text)}}
		upTo := map[string]int64{"stdout": offset + int64(len(text))}
		return h.store.TakeOutput(ctx, m.ID, id, chunks, upTo, upTo)
	}
	// Output before "started", a chunk twice, one too early.
	c := m.sent()
	if err := take(c.ID, 0, "abc"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a chunk again", take(c.ID, 0, "abc"), domain.CodeSuperseded)
	wantCode(t, "a chunk too early", take(c.ID, 5, "fg"), domain.CodeSuperseded)
	if err := h.store.CommandStarted(ctx, m.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	// A result whose rest was cut out before more output came is refused, and then taken.
	end := result(c.ID, 0, "abcdef")
	end.Rest[0].Offset, end.Rest[0].Data = 3, []byte("def")
	if err := take(c.ID, 3, "de"); err != nil {
		t.Fatal(err)
	}
	_, err := h.store.EndCommand(ctx, m.ID, end)
	wantCode(t, "a result with a rest that is not", err, domain.CodeSuperseded)
	end.Rest[0].Offset, end.Rest[0].Data = 5, []byte("f")
	m.end(end)
	// After the end: nothing is taken, and nothing fails.
	if err := take(c.ID, 6, "more"); err != nil {
		t.Errorf("output after the end: %v", err)
	}
	if err := h.store.CommandStarted(ctx, m.ID, c.ID); err != nil {
		t.Errorf("started after the end: %v", err)
	}
	events := log(t, h.store, c.ID)
	if printed(t, events, "stdout") != "abcdef" || events[0].Type != domain.EventCommandStarted || len(events) != 5 {
		t.Errorf("the log has %v", types(events))
	}
	// Another agent's commands do not exist for an agent.
	c = m.sent()
	wantCode(t, "another's started", h.store.CommandStarted(ctx, other.ID, c.ID), domain.CodeNotFound)
	wantCode(t, "another's output", h.store.TakeOutput(ctx, other.ID, c.ID, nil, nil, nil), domain.CodeNotFound)
	_, err = h.store.CommandTaken(ctx, other.ID, c.ID)
	wantCode(t, "another's log", err, domain.CodeNotFound)
	_, err = h.store.EndCommand(ctx, other.ID, result(c.ID, 0, ""))
	wantCode(t, "another's result", err, domain.CodeNotFound)
}

// Output and result, again and again at once: the log has all of it, once.
func TestAResultAgainstOutput(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	const text = "0123456789abcdefghij"
	for range 20 {
		c := m.sent()
		var group errgroup.Group
		for range 3 { // posts that are repeated
			group.Go(func() error {
				for at := int64(0); at < int64(len(text)); {
					upTo := min(at+3, int64(len(text)))
					chunks := []domain.CommandChunk{{Stream: domain.StreamStdout, Offset: at, Data: []byte(text[at:upTo])}}
					err := h.store.TakeOutput(ctx, m.ID, c.ID, chunks, map[string]int64{"stdout": upTo}, map[string]int64{"stdout": upTo})
					if err != nil && domain.CodeOf(err) != domain.CodeSuperseded {
						return err
					}
					now, err := h.store.CommandTaken(ctx, m.ID, c.ID)
					if err != nil || now.Status.Over() {
						return err
					}
					at = now.Taken["stdout"]
				}
				return nil
			})
		}
		for range 2 {
			group.Go(func() error {
				for {
					now, err := h.store.CommandTaken(ctx, m.ID, c.ID)
					if err != nil {
						return err
					}
					end := result(c.ID, 0, text)
					from := now.Taken["stdout"]
					end.Rest = []domain.CommandChunk{{Stream: domain.StreamStdout, Offset: from, Data: []byte(text[from:])}}
					if _, err = h.store.EndCommand(ctx, m.ID, end); domain.CodeOf(err) != domain.CodeSuperseded {
						return err
					}
				}
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		events := log(t, h.store, c.ID)
		if got := printed(t, events, "stdout"); got != text || events[len(events)-1].Type != domain.EventCommandDone {
			t.Fatalf("the log has %q: %v", got, types(events))
		}
	}
}

// However many posts begin a command at once, its log says once that it began.
func TestStartedAgainstOutput(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	for range 20 {
		c := m.sent()
		var group errgroup.Group
		for range 3 {
			group.Go(func() error { return h.store.CommandStarted(ctx, m.ID, c.ID) })
		}
		group.Go(func() error {
			upTo := map[string]int64{"stdout": 1}
			return h.store.TakeOutput(ctx, m.ID, c.ID, []domain.CommandChunk{{Stream: domain.StreamStdout, Data: []byte("a")}}, upTo, upTo)
		})
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		end := result(c.ID, 0, "a")
		end.Rest = nil
		m.end(end)
		if got := types(log(t, h.store, c.ID)); !slices.Equal(got, []string{"command_started", "command_output", "command_done"}) {
			t.Fatalf("events %v", got)
		}
	}
}

func TestAnAgentIsRemovedAmidItsCommands(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project, m := newMachine(t)
	sent, queued := m.sent(), m.order()
	pending, err := h.store.CreateCommand(ctx, domain.CommandOrder{ID: "p", ProjectID: project.ID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute, Pending: true})
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "removed from another project", h.store.RemoveAgent(ctx, "elsewhere", m.ID), domain.CodeNotFound)
	if err := h.store.RemoveAgent(ctx, project.ID, m.ID); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]domain.CommandStatus{sent.ID: domain.CommandUnknown, queued.ID: domain.CommandCanceled, pending.ID: domain.CommandCanceled} {
		if got := m.look(id); got.Status != want || got.EndedAt == nil || got.Hostname != "web" {
			t.Errorf("ended as %+v, want %s", got, want)
		}
		if events := log(t, h.store, id); events[len(events)-1].Type != domain.EventCommandDone {
			t.Errorf("events %v", types(events))
		}
	}
	_, err = h.store.DeliverCommands(ctx, m.ID, m.connection, patient, 10)
	wantCode(t, "delivery to an agent that is gone", err, domain.CodeSuperseded)
	_, err = h.store.CreateCommand(ctx, domain.CommandOrder{ID: "n", ProjectID: project.ID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute})
	wantCode(t, "a command for an agent that is gone", err, domain.CodeNotFound)
	wantCode(t, "removed again", h.store.RemoveAgent(ctx, project.ID, m.ID), domain.CodeNotFound)
	// Its result is taken all the same.
	if got := m.end(result(sent.ID, 0, "late")); got.Late == nil || got.Status != domain.CommandUnknown {
		t.Errorf("after its result %+v", got)
	}
}

// Whoever makes commands while the agent is removed gets an error, or a command that has ended.
func TestOrdersAgainstARemoval(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project := newYard(t)
	for range 5 {
		m := h.join(project, domain.NewID(), whole...)
		var group errgroup.Group
		begun := make(chan struct{}, 4)
		for range 4 {
			group.Go(func() error {
				for n := 0; ; n++ {
					_, err := h.store.CreateCommand(ctx, domain.CommandOrder{ID: domain.NewID(), ProjectID: project.ID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute})
					if n == 0 {
						begun <- struct{}{}
					}
					if err != nil {
						if domain.CodeOf(err) == domain.CodeNotFound {
							return nil
						}
						return err
					}
				}
			})
		}
		for range 4 {
			<-begun
		}
		if err := h.store.RemoveAgent(ctx, project.ID, m.ID); err != nil {
			t.Fatal(err)
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if n := h.count("commands where ended_at is null"); n != 0 {
		t.Errorf("%d commands of agents that are gone are open", n)
	}
}
