package api_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// agentToken is the permanent token of the agent "a1" of project p1.
const agentToken = "hva_of-a1"

// fakeAgents keeps machines, and is the hub that has them.
type fakeAgents struct {
	mu      sync.Mutex
	agents  map[string]domain.Agent
	forgot  []string
	hellos  []domain.AgentHello
	started []string
	outputs []agentwire.Output
	lines   [][]byte
	results []agentwire.Result
	orders  []domain.InstallOrder
	binary  domain.AgentBinary
	public  bool
	streams chan agentwire.Message // what a stream sends
}

func newFakeAgents() *fakeAgents {
	seen := day
	return &fakeAgents{
		public: true, streams: make(chan agentwire.Message, 10),
		agents: map[string]domain.Agent{
			"a1": {ID: "a1", ProjectID: "p1", Hostname: "box", Machine: "m1", CreatedAt: day},
			"a2": {ID: "a2", ProjectID: "p1", Hostname: "shed", Description: "builds", Provider: domain.ProviderLXD, Online: true, LastSeen: &seen, CreatedAt: day, Version: "0.3.0", Capabilities: []string{"ack"}},
		},
	}
}

func (f *fakeAgents) Agents(_ context.Context, projectID string) (list []domain.Agent, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range []string{"a1", "a2"} {
		if a, ok := f.agents[id]; ok && a.ProjectID == projectID {
			list = append(list, a)
		}
	}
	return list, nil
}

func (f *fakeAgents) AgentsSeen(ctx context.Context, who domain.Actor, filter domain.AgentFilter) (list []domain.PlacedAgent, err error) {
	all, err := f.Agents(ctx, "p1")
	for _, a := range all {
		fits := (filter.Hostname == "" || filter.Hostname == a.Hostname) && (filter.Online == nil || *filter.Online == a.Online) &&
			(filter.Provider == "" || filter.Provider == a.Info().Provider)
		if fits && who.MemberOf("red") {
			list = append(list, domain.PlacedAgent{Agent: a, ProjectName: "engine"})
		}
	}
	return list, err
}

func (f *fakeAgents) Agent(_ context.Context, projectID, id string) (domain.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.agents[id]
	if !ok || a.ProjectID != projectID {
		return domain.Agent{}, domain.NotFound("there is no agent %q", id)
	}
	return a, nil
}

func (f *fakeAgents) RemoveAgent(ctx context.Context, projectID, id string) error {
	if _, err := f.Agent(ctx, projectID, id); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.agents, id)
	return nil
}

func (f *fakeAgents) Identify(_ context.Context, token string) (domain.Agent, error) {
	if token != agentToken {
		return domain.Agent{}, domain.Errorf(domain.CodeUnauthorized, "no agent has that token")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, ok := f.agents["a1"]; ok {
		return a, nil
	}
	return domain.Agent{ID: "a1", ProjectID: "p1"}, nil
}

func (f *fakeAgents) Stream(ctx context.Context, token string, hello domain.AgentHello, open func() (func(agentwire.Message) error, error)) error {
	if token != agentToken && token != "hvi_good" {
		return domain.Errorf(domain.CodeUnauthorized, "no agent has that token")
	}
	f.mu.Lock()
	f.hellos = append(f.hellos, hello)
	f.mu.Unlock()
	if hello.Hostname == "slow" { // its connection is being kept
		f.streams <- agentwire.Message{}
		<-ctx.Done()
		return fmt.Errorf("connect: %w", ctx.Err())
	}
	send, err := open()
	for err == nil {
		select {
		case m, more := <-f.streams:
			if !more {
				return nil
			}
			err = send(m)
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

func (f *fakeAgents) Ping(context.Context, domain.Agent) error { return nil }

func (f *fakeAgents) own(id string) error {
	if id != "c1" {
		return domain.NotFound("there is no command %q", id)
	}
	return nil
}

func (f *fakeAgents) Started(_ context.Context, _ domain.Agent, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = append(f.started, id)
	return f.own(id)
}

func (f *fakeAgents) Output(_ context.Context, _ domain.Agent, out agentwire.Output, line []byte) (agentwire.OutputTaken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outputs, f.lines = append(f.outputs, out), append(f.lines, line)
	return agentwire.OutputTaken{OK: true, Stdout: 5}, f.own(out.RequestID)
}

func (f *fakeAgents) Result(_ context.Context, _ domain.Agent, r agentwire.Result) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.results = append(f.results, r)
	return f.own(r.RequestID)
}

func (f *fakeAgents) Forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgot = append(f.forgot, id)
}

func (f *fakeAgents) Install(_ context.Context, order domain.InstallOrder) (domain.InstallCommand, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.public {
		return domain.InstallCommand{}, domain.Errorf(domain.CodeNotConfigured, "set public_url under [agents]")
	}
	f.orders = append(f.orders, order)
	c := domain.InstallCommand{Command: "curl … | bash", Wget: "wget … | bash", Uninstall: "… --uninstall", ExpiresAt: day.Add(24 * time.Hour)}
	if order.Uses > 0 {
		c.Uses = &order.Uses
	}
	return c, nil
}

func (f *fakeAgents) Script(projectID string) ([]byte, error) {
	if !f.public {
		return nil, domain.NotFound("set public_url under [agents]")
	}
	return []byte("#!/usr/bin/env bash\n# for " + projectID + "\n"), nil
}

func (f *fakeAgents) Binary(arch string) (domain.AgentBinary, error) {
	if f.binary.Arch == "" || arch != "" && arch != f.binary.Arch {
		return domain.AgentBinary{}, domain.NotFound("there is no harvest-agent for %q", arch)
	}
	return f.binary, nil
}
