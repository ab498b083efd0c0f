package agenthub_test

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/secrets"
)

// Nothing may go on working once all tests are over.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a store that all hubs of a test share.
type memory struct {
	mu       sync.Mutex
	installs map[string]domain.InstallToken // by hash
	agents   map[string]domain.Agent
	tokens   map[string]string // hash to agent
	current  map[string]domain.AgentConnection
	seen     map[string]time.Time
	commands map[string]domain.Command
	barred   map[string]string // person to what keeps them out
	sentTo   map[string]string // command to connection
	logs     map[string][]domain.CommandChunk
	ends     []domain.CommandEnd
	hints    []func(string)
	busy     int
	busiest  int
	pause    time.Duration // that each call takes
	failing  error         // what delivering gives
	races    int           // how often appends find that the log has grown
}

func newMemory() *memory {
	return &memory{
		installs: map[string]domain.InstallToken{}, agents: map[string]domain.Agent{}, tokens: map[string]string{},
		current: map[string]domain.AgentConnection{}, seen: map[string]time.Time{}, commands: map[string]domain.Command{},
		sentTo: map[string]string{}, logs: map[string][]domain.CommandChunk{},
	}
}

// do runs a call as the database would: several at a time, each taking a while.
func (m *memory) do(call func()) {
	m.mu.Lock()
	m.busy++
	m.busiest = max(m.busiest, m.busy)
	pause := m.pause
	m.mu.Unlock()
	if pause > 0 {
		time.Sleep(pause)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
	call()
}

func (m *memory) JoinAgent(_ context.Context, install, token []byte, hello domain.AgentHello) (a domain.Agent, err error) {
	m.do(func() {
		t, ok := m.installs[string(install)]
		if !ok || time.Now().After(t.ExpiresAt) {
			err = domain.Errorf(domain.CodeUnauthorized, "the install token is gone")
			return
		}
		for _, known := range m.agents {
			if hello.Machine != "" && known.Machine == hello.Machine {
				a = known
			}
		}
		if a.ID == "" {
			a = domain.Agent{ID: domain.NewID(), ProjectID: t.ProjectID, Machine: hello.Machine, Hostname: hello.Hostname}
		}
		a.Capabilities = hello.Capabilities
		m.agents[a.ID], m.tokens[string(token)] = a, a.ID
	})
	return a, err
}

func (m *memory) AgentByToken(_ context.Context, hash []byte) (a domain.Agent, err error) {
	m.do(func() {
		var ok bool
		if a, ok = m.agents[m.tokens[string(hash)]]; !ok {
			err = domain.Errorf(domain.CodeUnauthorized, "no such token")
		}
	})
	return a, err
}

func (m *memory) Agent(_ context.Context, project, id string) (a domain.Agent, err error) {
	m.do(func() {
		var ok bool
		if a, ok = m.agents[id]; !ok || a.ProjectID != project {
			err = domain.NotFound("there is no agent %q", id)
		}
	})
	return a, err
}

func (m *memory) SeeAgent(_ context.Context, id string) error {
	m.do(func() { m.seen[id] = time.Now() })
	return nil
}

func (m *memory) ConnectAgent(_ context.Context, c domain.AgentConnection) error {
	for _, a := range m.agents {
		if a.ID == c.AgentID && a.Machine != "" && c.Machine != "" && a.Machine != c.Machine {
			return domain.Errorf(domain.CodeUnauthorized, "the token belongs to another machine")
		}
	}
	m.do(func() { m.current[c.AgentID], m.seen[c.AgentID] = c, time.Now() })
	m.tell(c.AgentID)
	return nil
}

func (m *memory) DisconnectAgent(ctx context.Context, agent, connection string) error {
	m.do(func() {
		if ctx.Err() == nil && m.current[agent].ID == connection {
			delete(m.current, agent)
		}
	})
	return ctx.Err()
}

func (m *memory) AgentPulses(_ context.Context, process string) (list []domain.AgentPulse, _ error) {
	m.do(func() {
		for id, c := range m.current {
			if c.ProcessID == process {
				list = append(list, domain.AgentPulse{AgentID: id, ConnectionID: c.ID, Quiet: time.Since(m.seen[id]), Due: m.due(id)})
			}
		}
	})
	return list, nil
}

func (m *memory) due(agent string) bool {
	for _, c := range m.commands {
		if c.AgentID == agent && !c.Status.Over() && (c.Status == domain.CommandQueued || c.CancelRequested) {
			return true
		}
	}
	return false
}

func (m *memory) DeliverCommands(_ context.Context, agent, connection string, patience time.Duration, limit int) (list []domain.CommandDelivery, err error) {
	m.do(func() {
		if err = m.failing; err != nil {
			return
		}
		if m.current[agent].ID != connection {
			err = domain.Errorf(domain.CodeSuperseded, "another connection")
			return
		}
		for _, id := range slices.Sorted(m.ids(agent)) {
			c := m.commands[id]
			again := c.Status == domain.CommandDelivered || c.Status == domain.CommandRunning
			if len(list) == limit || c.Status.Over() || again && m.sentTo[id] == connection && !c.CancelRequested {
				continue
			}
			d := domain.CommandDelivery{Command: c, Again: again, Cancel: c.CancelRequested, Barred: m.barred[c.UserID]}
			c.CancelRequested = false
			if !again {
				by := time.Now().Add(c.Timeout + patience)
				c.Status, c.ResultBy = domain.CommandDelivered, &by
			}
			m.commands[id], m.sentTo[id] = c, connection
			list = append(list, d)
		}
	})
	return list, err
}

func (m *memory) ids(agent string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for id, c := range m.commands {
			if c.AgentID == agent && !yield(id) {
				return
			}
		}
	}
}

func (m *memory) of(agent, id string) (domain.Command, error) {
	c, ok := m.commands[id]
	if !ok || c.AgentID != agent {
		return c, domain.NotFound("there is no command %q", id)
	}
	return c, nil
}

func (m *memory) CommandStarted(_ context.Context, agent, id string) (err error) {
	m.do(func() {
		var c domain.Command
		if c, err = m.of(agent, id); err == nil && c.Status == domain.CommandDelivered {
			c.Status = domain.CommandRunning
			m.commands[id] = c
		}
	})
	return err
}

func (m *memory) CommandTaken(_ context.Context, agent, id string) (c domain.Command, err error) {
	m.do(func() { c, err = m.of(agent, id) })
	return c, err
}

var errGrown = domain.Errorf(domain.CodeSuperseded, "the log has grown")

// fits reports whether chunks go on where the log ends.
func (m *memory) fits(c domain.Command, chunks []domain.CommandChunk) bool {
	if m.races > 0 {
		m.races--
		return false
	}
	first := map[string]bool{}
	for _, chunk := range chunks {
		if !first[chunk.Stream] && chunk.Offset != c.Taken[chunk.Stream] {
			return false
		}
		first[chunk.Stream] = true
	}
	return true
}

func (m *memory) TakeOutput(_ context.Context, agent, id string, chunks []domain.CommandChunk, taken, written map[string]int64) (err error) {
	m.do(func() {
		var c domain.Command
		if c, err = m.of(agent, id); err != nil {
			return
		}
		if !m.fits(c, chunks) {
			err = errGrown
			return
		}
		c.Taken, c.Stdout.Bytes, c.Stderr.Bytes = taken, written["stdout"], written["stderr"]
		m.commands[id], m.logs[id] = c, append(m.logs[id], chunks...)
	})
	return err
}

func (m *memory) EndCommand(_ context.Context, agent string, end domain.CommandEnd) (c domain.Command, err error) {
	m.do(func() {
		if c, err = m.of(agent, end.CommandID); err != nil || c.Status.Over() {
			return
		}
		if !m.fits(c, end.Rest) {
			err = errGrown
			return
		}
		c.Status, c.ExitCode, c.Error, c.Stdout, c.Stderr = end.Status, end.ExitCode, end.Error, end.Stdout, end.Stderr
		m.commands[c.ID], m.logs[c.ID] = c, append(m.logs[c.ID], end.Rest...)
		m.ends = append(m.ends, end)
	})
	return c, err
}

func (m *memory) OnAgent(f func(string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hints = append(m.hints, f)
}

func (m *memory) tell(agent string) {
	m.mu.Lock()
	hints := slices.Clone(m.hints)
	m.mu.Unlock()
	for _, f := range hints {
		f(agent)
	}
}

func (m *memory) AddInstallToken(_ context.Context, t domain.InstallToken) error {
	m.do(func() { m.installs[string(t.Hash)] = t })
	return nil
}

func (m *memory) RevokeInstallTokens(_ context.Context, project string) error {
	m.do(func() {
		for hash, t := range m.installs {
			if t.ProjectID == project {
				delete(m.installs, hash)
			}
		}
	})
	return nil
}

// order queues a command, and gives the hint or not.
func (m *memory) order(c domain.Command, hint bool) {
	m.do(func() {
		c.Status = domain.CommandQueued
		if c.Timeout == 0 {
			c.Timeout = domain.DefaultCommandTimeout
		}
		m.commands[c.ID] = c
	})
	if hint {
		m.tell(c.AgentID)
	}
}

func (m *memory) command(id string) domain.Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.commands[id]
}

// text gives the log of a stream.
func (m *memory) text(id, stream string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out bytes.Buffer
	for _, chunk := range m.logs[id] {
		if chunk.Stream == stream {
			out.Write(chunk.Data)
		}
	}
	return out.String()
}

// agent adds one with a permanent token.
func (m *memory) agent(a domain.Agent) (domain.Agent, string) {
	text, hash := domain.NewMachineToken(domain.AgentTokenPrefix)
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.ID == "" {
		a.ID = domain.NewID()
	}
	a.ProjectID = "p1"
	m.agents[a.ID], m.tokens[string(hash)] = a, a.ID
	return a, text
}

func (m *memory) remove(agent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.agents, agent)
	delete(m.current, agent)
}

// safe has secrets: values to hide, and one to open.
type safe struct {
	values []string
	opened map[string]string // by handle
	err    error
}

func (s safe) Scrubber(context.Context, string) (domain.Scrubber, error) {
	return (&secrets.Vault{}).Hide(s.values), nil
}

func (s safe) Pin(_ context.Context, _ string, ref domain.SecretRef) (domain.SecretRef, error) {
	ref.Version = 1
	return ref, s.err
}

func (s safe) Open(_ context.Context, _ string, ref domain.SecretRef) (domain.SecretValue, error) {
	value, ok := s.opened[ref.Handle()]
	if !ok && s.err == nil {
		return domain.SecretValue{}, domain.NotFound("there is no secret %s", ref.Name)
	}
	return domain.NewSecretValue(value), s.err
}

// told are the commands whose waiters were told.
type told struct {
	mu  sync.Mutex
	ids []string
	err error
}

func (t *told) CommandFinished(_ context.Context, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.ids = append(t.ids, id)
	}
	return t.err
}

func (t *told) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.ids)
}
