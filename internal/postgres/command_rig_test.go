package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	patient = 10 * time.Minute // for the result of an agent that keeps a journal
	hasty   = 30 * time.Second // and of one that does not
)

// whole is what our own agent can.
var whole = []string{"ack", "bytes", "batch", "cancel", "env"}

// command makes a command of an agent.
func (h house) command(agentID, projectID, id string) domain.Command {
	h.Helper()
	c, err := h.store.CreateCommand(context.Background(), domain.CommandOrder{
		ID: id, ProjectID: projectID, AgentID: agentID, Command: "uname -a", UserID: "ada", Timeout: time.Minute, Wait: time.Minute,
	})
	if err != nil {
		h.Fatalf("create command %s: %v", id, err)
	}
	return c
}

// machine is an agent of a project with what it has open.
type machine struct {
	house
	domain.Agent
	connection string
	hello      domain.AgentHello
}

// newYard gives a project for machines.
func newYard(t *testing.T) (house, domain.Project) {
	t.Helper()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	return h, project
}

// newMachine gives a machine of a project, with our own agent.
func newMachine(t *testing.T) (house, domain.Project, machine) {
	t.Helper()
	h, project := newYard(t)
	return h, project, h.join(project, "m1", whole...)
}

// join makes an agent of the project, of the machine that is named; "" is a plain agent.
func (h house) join(project domain.Project, name string, capabilities ...string) machine {
	h.Helper()
	ctx := context.Background()
	token := []byte("install-" + domain.NewID())
	err := h.store.AddInstallToken(ctx, domain.InstallToken{
		ID: domain.NewID(), ProjectID: project.ID, Hash: token, CreatedBy: "ada", ExpiresAt: time.Now().Add(time.Hour),
	})
	if err != nil {
		h.Fatal(err)
	}
	hello := domain.AgentHello{Hostname: "web", Machine: name, Version: "1", Capabilities: capabilities}
	agent, err := h.store.JoinAgent(ctx, token, []byte(domain.NewID()), hello)
	if err != nil {
		h.Fatalf("join: %v", err)
	}
	m := machine{house: h, Agent: agent, hello: hello}
	m.connect("")
	return m
}

// connect opens a connection of the agent from a machine, "" for its own, and gives its id.
func (m *machine) connect(from string) string {
	m.Helper()
	hello := m.hello
	if from != "" {
		hello.Machine = from
	}
	m.connection = domain.NewID()
	err := m.store.ConnectAgent(context.Background(), domain.AgentConnection{ID: m.connection, AgentID: m.ID, ProcessID: "p", AgentHello: hello})
	if err != nil {
		m.Fatalf("connect: %v", err)
	}
	return m.connection
}

// order makes a command for the machine.
func (m machine) order() domain.Command {
	m.Helper()
	return m.command(m.ID, m.ProjectID, domain.NewID())
}

// deliver gives what is to be sent by the newest connection.
func (m machine) deliver() []domain.CommandDelivery {
	m.Helper()
	patience := hasty
	if m.Can("ack") {
		patience = patient
	}
	list, err := m.store.DeliverCommands(context.Background(), m.ID, m.connection, patience, 100)
	if err != nil {
		m.Fatalf("deliver: %v", err)
	}
	return list
}

// sent makes a command that was sent to the machine.
func (m machine) sent() domain.Command {
	m.Helper()
	c := m.order()
	if list := m.deliver(); len(list) != 1 || list[0].ID != c.ID || list[0].Again || list[0].Status != domain.CommandDelivered {
		m.Fatalf("delivered %+v", list)
	}
	return c
}

func (m machine) look(id string) domain.Command {
	m.Helper()
	c, err := m.store.Command(context.Background(), m.ProjectID, id)
	if err != nil {
		m.Fatal(err)
	}
	return c
}

// result is a command's end with an output.
func result(id string, code int, stdout string) domain.CommandEnd {
	return domain.CommandEnd{
		CommandID: id, Status: domain.CommandDone, ExitCode: &code,
		Stdout: domain.CommandOutput{Head: []byte(stdout), Bytes: int64(len(stdout))},
		Rest:   []domain.CommandChunk{{Stream: domain.StreamStdout, Data: []byte(stdout)}},
	}
}

func (m machine) end(e domain.CommandEnd) domain.Command {
	m.Helper()
	c, err := m.store.EndCommand(context.Background(), m.ID, e)
	if err != nil {
		m.Fatalf("end: %v", err)
	}
	return c
}

// late makes the time of a command come that settles it.
func (m machine) late(id string) {
	m.Helper()
	m.exec(`update commands set deliver_by = now() - interval '1 second', result_by = case when result_by is not null then now() - interval '1 second' end where id = $1`, id)
}

// printed puts the output of a stream together again from the log, which must have no gap.
func printed(t testing.TB, events []domain.Event, stream string) string {
	t.Helper()
	var all bytes.Buffer
	for _, e := range events {
		var body struct {
			Stream string
			Offset int64
			Text   string
			Data   []byte
		}
		if e.Type != domain.EventCommandOutput {
			continue
		}
		if err := json.Unmarshal(e.Payload, &body); err != nil {
			t.Fatal(err)
		}
		if body.Stream != stream {
			continue
		}
		if body.Offset != int64(all.Len()) {
			t.Errorf("an event of %s begins at %d, want %d", stream, body.Offset, all.Len())
		}
		all.WriteString(body.Text)
		all.Write(body.Data)
	}
	return all.String()
}
