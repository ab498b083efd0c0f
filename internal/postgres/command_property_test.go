package postgres_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/harvest-engine/harvest/internal/domain"
)

// modelCommand is what must hold of a command.
type modelCommand struct {
	id             string
	status         domain.CommandStatus
	late           bool   // its time is up
	executed       int    // times that an agent was told to run it, not again
	machine        string // that it was sent to
	durable        bool
	connection     string // that it was sent by last
	cancel         bool   // was asked for
	cancelSent     string // by this connection
	told           bool   // its agent said how it ended, before or after its end
	code           int    // of the result that counts
	logged         string
	started, ended bool
}

func (c modelCommand) sent() bool {
	return c.status == domain.CommandDelivered || c.status == domain.CommandRunning
}

func (c *modelCommand) end(to domain.CommandStatus) { c.status, c.ended = to, true }

// commandModel drives an agent and its commands, and knows what must come of it.
type commandModel struct {
	machine
	all   []*modelCommand
	older []string // connections that were taken over
}

// some draws a command; nil where there is none.
func (m *commandModel) some(t *rapid.T) *modelCommand {
	if len(m.all) == 0 {
		t.Skip("no command yet")
	}
	return rapid.SampledFrom(m.all).Draw(t, "command")
}

func (m *commandModel) add(t *rapid.T, pending bool) {
	c := &modelCommand{id: domain.NewID(), status: domain.CommandQueued}
	if pending {
		c.status = domain.CommandPending
	}
	got, err := m.store.CreateCommand(context.Background(), domain.CommandOrder{
		ID: c.id, ProjectID: m.ProjectID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute, Pending: pending,
	})
	if err != nil || got.Status != c.status {
		t.Fatalf("created %+v, %v", got, err)
	}
	m.all = append(m.all, c)
}

// reconnect opens a newer connection: of our agent, of a plain one with its token, or of another
// machine, which is refused.
func (m *commandModel) reconnect(t *rapid.T) {
	hello := rapid.SampledFrom([]domain.AgentHello{
		{Hostname: "web", Machine: "m1", Capabilities: whole}, {Hostname: "web", Machine: "m1", Capabilities: whole},
		{Hostname: "web", Machine: "m1", Capabilities: []string{"cancel"}}, {Hostname: "web", Machine: "m1", Capabilities: []string{"ack"}},
		{Hostname: "web"}, {Hostname: "web", Capabilities: whole}, {Hostname: "web", Machine: "m2", Capabilities: whole},
	}).Draw(t, "hello")
	id := domain.NewID()
	err := m.store.ConnectAgent(context.Background(), domain.AgentConnection{ID: id, AgentID: m.ID, ProcessID: "p", AgentHello: hello})
	if hello.Machine == "m2" {
		if domain.CodeOf(err) != domain.CodeUnauthorized {
			t.Fatalf("another machine: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.older = append(m.older, m.connection)
	m.connection, m.hello = id, hello
}

// due says what a delivery must give of a command: nothing, "run", "again" or "cancel".
func (m *commandModel) due(c *modelCommand) string {
	can := func(capability string) bool { return slices.Contains(m.hello.Capabilities, capability) }
	switch {
	case c.late:
		return ""
	case c.status == domain.CommandQueued:
		return "run"
	case !c.sent() || c.machine != m.hello.Machine:
		return ""
	case c.cancel && can("cancel") && c.cancelSent != m.connection:
		return "cancel"
	case !c.cancel && c.durable && c.machine != "" && can("ack") && c.connection != m.connection:
		return "again"
	}
	return ""
}

func (m *commandModel) deliverAll(t *rapid.T) {
	if len(m.older) > 0 && rapid.Bool().Draw(t, "by an older connection") {
		list, err := m.store.DeliverCommands(context.Background(), m.ID, rapid.SampledFrom(m.older).Draw(t, "older"), patient, 1000)
		if domain.CodeOf(err) != domain.CodeSuperseded {
			t.Fatalf("an older connection was given %+v, %v", list, err)
		}
		return
	}
	want := map[string]string{}
	for _, c := range m.all {
		if due := m.due(c); due != "" {
			want[c.id] = due
		}
	}
	list, err := m.store.DeliverCommands(context.Background(), m.ID, m.connection, patient, 1000)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range list {
		got[d.ID] = map[[2]bool]string{{false, false}: "run", {true, false}: "again", {true, true}: "cancel"}[[2]bool{d.Again, d.Cancel}]
	}
	if !maps.Equal(got, want) {
		t.Fatalf("delivered %v, want %v", got, want)
	}
	for _, c := range m.all {
		switch want[c.id] {
		case "run":
			c.executed++
			c.status, c.machine, c.durable = domain.CommandDelivered, m.hello.Machine, slices.Contains(m.hello.Capabilities, "ack")
			c.connection = m.connection
		case "again":
			c.connection = m.connection
		case "cancel":
			c.connection, c.cancelSent = m.connection, m.connection
		}
	}
}

// say checks the code of an agent's post about a command that was never sent, or was.
func say(t *rapid.T, c *modelCommand, err error) {
	want := domain.Code("")
	if c.status == domain.CommandPending || c.status == domain.CommandQueued {
		want = domain.CodeConflict
	}
	if domain.CodeOf(err) != want {
		t.Fatalf("of a command that is %s: %v, want %q", c.status, err, want)
	}
	if c.sent() {
		c.status, c.started = domain.CommandRunning, true
	}
}

func (m *commandModel) starts(t *rapid.T) {
	c := m.some(t)
	say(t, c, m.store.CommandStarted(context.Background(), m.ID, c.id))
}

func (m *commandModel) prints(t *rapid.T) {
	c := m.some(t)
	text := rapid.StringN(1, 20, 40).Draw(t, "text")
	text = domain.CleanText(text)
	from := int64(len(c.logged)) + rapid.SampledFrom([]int64{0, 0, 0, 1, -1}).Draw(t, "off")
	upTo := map[string]int64{"stdout": from + int64(len(text))}
	err := m.store.TakeOutput(context.Background(), m.ID, c.id, []domain.CommandChunk{{Stream: "stdout", Offset: from, Data: []byte(text)}}, upTo, upTo)
	if c.sent() && from != int64(len(c.logged)) {
		if domain.CodeOf(err) != domain.CodeSuperseded {
			t.Fatalf("output out of place: %v", err)
		}
		return
	}
	if c.sent() {
		c.logged += text
	}
	say(t, c, err)
}

func (m *commandModel) posts(t *rapid.T) {
	c := m.some(t)
	code := rapid.IntRange(0, 9).Draw(t, "code")
	status := rapid.SampledFrom([]domain.CommandStatus{domain.CommandDone, domain.CommandDone, domain.CommandTimedOut, domain.CommandFailed, domain.CommandUnknown}).Draw(t, "outcome")
	all := c.logged + "."
	end := result(c.id, code, all)
	end.Status, end.Rest[0].Offset, end.Rest[0].Data = status, int64(len(c.logged)), []byte(".")
	_, err := m.store.EndCommand(context.Background(), m.ID, end)
	was := *c
	if say(t, c, err); was.sent() {
		if c.end(status); status == domain.CommandFailed && c.cancel {
			c.status = domain.CommandCanceled
		}
		c.logged = all
	}
	if c.executed > 0 && !was.told {
		c.told, c.code = true, code
	}
}

func (m *commandModel) ages(t *rapid.T) {
	if c := m.some(t); !c.ended {
		m.machine.late(c.id)
		c.late = true
	}
}

func (m *commandModel) lapses(t *rapid.T) {
	c := m.some(t)
	got, err := m.store.LapseCommand(context.Background(), c.id)
	if c.late && c.status == domain.CommandQueued {
		c.end(domain.CommandExpired)
	} else if c.late && c.sent() {
		c.end(domain.CommandUnknown)
	}
	if err != nil || got.Status != c.status {
		t.Fatalf("lapsed: %s, %v; want %s", got.Status, err, c.status)
	}
}

func (m *commandModel) cancels(t *rapid.T) {
	c := m.some(t)
	got, err := m.store.CancelCommand(context.Background(), m.ProjectID, c.id, "Ada")
	want := domain.Code("")
	switch {
	case c.ended, c.sent() && !slices.Contains(m.hello.Capabilities, "cancel"):
		want = domain.CodeConflict
	case c.sent():
		c.cancel = true
	default:
		c.end(domain.CommandCanceled)
	}
	if domain.CodeOf(err) != want || err == nil && got.Status != c.status {
		t.Fatalf("canceled: %s, %v; want %s, %q", got.Status, err, c.status, want)
	}
}

func (m *commandModel) decides(t *rapid.T) {
	c := m.some(t)
	var got domain.Command
	var err error
	if rapid.Bool().Draw(t, "approved") {
		got, err = m.store.ReleaseCommand(context.Background(), c.id)
		if c.status == domain.CommandPending {
			c.status, c.late = domain.CommandQueued, false
		}
	} else {
		got, err = m.store.RejectCommand(context.Background(), c.id, "no")
		if c.status == domain.CommandPending {
			c.end(domain.CommandRejected)
		}
	}
	if err != nil || got.Status != c.status {
		t.Fatalf("decided: %s, %v; want %s", got.Status, err, c.status)
	}
}

// check holds what is stored against what must be.
func (m *commandModel) check(t *rapid.T) {
	for _, c := range m.all {
		got, err := m.store.Command(context.Background(), m.ProjectID, c.id)
		switch {
		case err != nil || got.Status != c.status || (got.EndedAt != nil) != c.ended || got.Status.Over() != c.ended:
			t.Fatalf("it is %+v, %v; want %+v", got, err, *c)
		case c.executed > 1, c.executed == 0 && (c.sent() || c.told):
			t.Fatalf("run %d times: %+v", c.executed, *c)
		case c.told && got.Late == nil && *got.ExitCode != c.code, c.told && got.Late != nil && *got.Late.ExitCode != c.code:
			t.Fatalf("another result counts: %+v, want %+v", got, *c)
		}
	}
}

// checkLogs reads the log of each command that has ended: one terminal event, and the output once.
func (m *commandModel) checkLogs(t *rapid.T) {
	for _, c := range m.all {
		if !c.ended {
			continue
		}
		var names []string
		var events []domain.Event
		for e, err := range m.store.Follow(context.Background(), c.id, domain.Cursor{}) {
			if err != nil {
				t.Fatal(err)
			}
			names, events = append(names, string(e.Type)), append(events, e)
		}
		ends := strings.Count(strings.Join(names, " "), "command_done")
		begins := strings.Count(strings.Join(names, " "), "command_started")
		if ends != 1 || names[len(names)-1] != "command_done" || begins > 1 || c.started && begins == 0 {
			t.Fatalf("the log of %+v is %v", *c, names)
		}
		if text := printed(m.T, events, "stdout"); text != c.logged {
			t.Fatalf("the log has %q, want %q", text, c.logged)
		}
	}
}

// Whatever happens to commands in whatever order: each ends once, none is run twice, what was sent
// goes again only to the machine that it was sent to, and of results the first counts.
func TestCommandsByTheirModel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	rapid.Check(t, func(t *rapid.T) {
		_, project, _ := shared(t, h.store)
		m := &commandModel{machine: h.join(project, "m1", whole...)}
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "order": func(t *rapid.T) { m.add(t, false) }, "ask": func(t *rapid.T) { m.add(t, true) }, "decide": m.decides,
			"connect": m.reconnect, "deliver": m.deliverAll, "deliver again": m.deliverAll, "start": m.starts, "print": m.prints, "post": m.posts,
			"age": m.ages, "lapse": m.lapses, "cancel": m.cancels,
		})
		m.checkLogs(t)
	})
}
