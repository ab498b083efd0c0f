package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
)

// fakeProvisions has the provision v1 of the project p, and notes what is begun and stopped.
type fakeProvisions struct {
	engine.ProvisionStore
	orders  []domain.ProvisionOrder
	stopped []string
}

func (f *fakeProvisions) CreateProvision(_ context.Context, o domain.ProvisionOrder) (domain.Provision, error) {
	f.orders = append(f.orders, o)
	return domain.Provision{ProvisionOrder: o}, nil
}

func (f *fakeProvisions) Provision(_ context.Context, id string) (domain.Provision, error) {
	return domain.Provision{ProvisionOrder: domain.ProvisionOrder{ID: id, ProjectID: "p"}}, nil
}

func (f *fakeProvisions) RequestProvisionCancel(_ context.Context, id string) (domain.Provision, error) {
	f.stopped = append(f.stopped, id)
	return domain.Provision{}, nil
}

// fakeServer is an LXD server that may be away, or refuse to remove.
type fakeServer struct {
	engine.Containers
	away, refusal error
	did           []string
}

func (f *fakeServer) Ready() error                { return f.away }
func (f *fakeServer) Reach(context.Context) error { return f.away }

func (f *fakeServer) Remove(_ context.Context, name string) error {
	f.did = append(f.did, "remove "+name)
	return f.refusal
}

func (f *fakeServer) Change(_ context.Context, name string, action domain.ContainerAction) error {
	f.did = append(f.did, string(action)+" "+name)
	return f.refusal
}

// fakeAgents are a machine in a container, and one that was installed by hand.
type fakeAgents struct{ removed []string }

func (f *fakeAgents) Agent(_ context.Context, _, id string) (domain.Agent, error) {
	a := domain.Agent{ID: id, Hostname: id}
	if id == "boxed" {
		a.Provider, a.Instance = domain.ProviderLXD, "boxed-1"
	}
	return a, nil
}

func (f *fakeAgents) RemoveAgent(_ context.Context, _, id string) error {
	f.removed = append(f.removed, id)
	return nil
}

// What can't be made is refused before anything is stored, and another project's provision is not
// there.
func TestProvisionsThatAreRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, _ := newEngine(t)
	rows, server := &fakeProvisions{}, &fakeServer{}
	e.Provisions, e.Containers = rows, server
	good := domain.ProvisionOrder{ProjectID: "p", Name: " " + strings.Repeat("é", 100), Flavor: "small"}
	for name, spoil := range map[string]func(*domain.ProvisionOrder){
		"no name": func(o *domain.ProvisionOrder) { o.Name = " " }, "a long name": func(o *domain.ProvisionOrder) { o.Name += "x" },
		"an unstorable name": func(o *domain.ProvisionOrder) { o.Name = "a\x00b" }, "a long description": func(o *domain.ProvisionOrder) { o.Description = strings.Repeat("é", 501) },
		"an unstorable description": func(o *domain.ProvisionOrder) { o.Description = "a\x00b" }, "no flavor": func(o *domain.ProvisionOrder) { o.Flavor = "vast" },
	} {
		order := good
		spoil(&order)
		if _, err := e.StartProvision(ctx, order); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	away := domain.Errorf(domain.CodeUnavailable, "away")
	server.away = away
	if _, err := e.StartProvision(ctx, good); !errors.Is(err, away) || e.MakesContainers() {
		t.Errorf("a server that is away: %v", err)
	}
	server.away, e.Installs = nil, func() error { return away }
	if _, err := e.StartProvision(ctx, good); !errors.Is(err, away) || e.MakesContainers() || len(rows.orders) != 0 {
		t.Errorf("nothing to install: %v, and %d are stored", err, len(rows.orders))
	}
	e.Installs = nil
	if p, err := e.StartProvision(ctx, good); err != nil || !e.MakesContainers() || p.ID == "" || p.Instance == "" {
		t.Errorf("%+v, %v", p, err)
	}
	for project, want := range map[string]domain.Code{"p": "", "other": domain.CodeNotFound} {
		if _, err := e.Provision(ctx, project, "v1"); domain.CodeOf(err) != want {
			t.Errorf("%s reads it: %v", project, err)
		}
		if _, err := e.CancelProvision(ctx, project, "v1"); domain.CodeOf(err) != want {
			t.Errorf("%s cancels it: %v", project, err)
		}
	}
	if !slices.Equal(rows.stopped, []string{"v1"}) {
		t.Errorf("stopped are %q", rows.stopped)
	}
}

// A machine goes after its container, and stays where that can't be removed; one that people
// installed has none.
func TestMachinesGoWithTheirContainers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, _ := newEngine(t)
	agents, server := &fakeAgents{}, &fakeServer{refusal: domain.NotFound("LXD has none")}
	e.Agents, e.Containers = agents, server
	for _, do := range []func() error{
		func() error { return e.RemoveAgent(ctx, "p", "boxed") }, func() error { return e.ChangeAgent(ctx, "p", "boxed", domain.ContainerStop) },
	} {
		if err := do(); domain.CodeOf(err) != domain.CodeUpstream || len(agents.removed) != 0 { // the agent is there
			t.Errorf("refused: %v, removed %q", err, agents.removed)
		}
	}
	if err := e.ChangeAgent(ctx, "p", "plain", domain.ContainerStop); domain.CodeOf(err) != domain.CodeInvalid {
		t.Errorf("a plain machine is stopped: %v", err)
	}
	server.refusal = nil
	for _, id := range []string{"boxed", "plain"} {
		if err := e.RemoveAgent(ctx, "p", id); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"remove boxed-1", "stop boxed-1", "remove boxed-1"}; !slices.Equal(server.did, want) || !slices.Equal(agents.removed, []string{"boxed", "plain"}) {
		t.Errorf("LXD did %q, removed are %q", server.did, agents.removed)
	}
}
