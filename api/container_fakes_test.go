package api_test

import (
	"context"
	"iter"

	"github.com/harvest-engine/harvest/internal/domain"
)

// fakeMachines makes containers by writing down that it does.
type fakeMachines struct {
	agents *fakeAgents
	away   error // why no containers are made; nil for nothing
	orders []domain.ProvisionOrder
	// ends says how what is made ends: done, or failed with this.
	fault    string
	canceled bool
	changes  []string
	refusal  error // of changes
}

func (f *fakeMachines) MakesContainers() bool { return f.away == nil }

func (f *fakeMachines) JoinLXD(_ context.Context, token string) error {
	if token != "good" {
		return domain.Invalid("trust_token", "is not a trust token")
	}
	f.away = nil
	return nil
}

func (f *fakeMachines) Flavors() ([]domain.Flavor, error) { return domain.Flavors(), f.away }

func (f *fakeMachines) StartProvision(_ context.Context, order domain.ProvisionOrder) (domain.Provision, error) {
	if f.away != nil {
		return domain.Provision{}, f.away
	}
	if _, err := domain.FindFlavor(order.Flavor); err != nil {
		return domain.Provision{}, err
	}
	f.orders = append(f.orders, order)
	return f.Provision(context.Background(), order.ProjectID, "v1")
}

func (f *fakeMachines) Provision(_ context.Context, projectID, id string) (domain.Provision, error) {
	if id != "v1" || projectID != "p1" {
		return domain.Provision{}, domain.NotFound("there is no provision %q", id)
	}
	p := domain.Provision{
		ProvisionOrder: domain.ProvisionOrder{ID: "v1", ProjectID: "p1", Name: "Web", Flavor: "tiny", Instance: "web-0001"},
		Status:         domain.ProvisionRunning, Phase: domain.PhaseCreate, CreatedAt: day,
	}
	return p, nil
}

func (f *fakeMachines) AwaitProvision(ctx context.Context, projectID, id string) (domain.Provision, error) {
	p, err := f.Provision(ctx, projectID, id)
	end := day
	p.EndedAt = &end
	switch {
	case f.canceled:
		p.Status, p.Error = domain.ProvisionCanceled, "it was canceled"
	case f.fault != "":
		p.Status, p.Error = domain.ProvisionFailed, f.fault
	default:
		p.Status, p.Phase = domain.ProvisionDone, domain.PhaseInstall
	}
	return p, err
}

func (f *fakeMachines) FollowProvision(_ context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	events := []domain.Event{
		{Type: domain.EventPhaseStart, Payload: []byte(`{"phase":"ensure_network"}`)},
		{Type: domain.EventPhaseStart, Payload: []byte(`{"phase":"install_agent"}`)},
		{Type: domain.EventInstallRetry, Payload: []byte(`{"attempt":2,"attempts":4,"message":"no network"}`)},
		{Type: domain.EventDone, Payload: []byte(`{"instance":"web-0001","provision_id":"v1"}`)},
	}
	if f.fault != "" {
		events[3] = domain.Event{Type: domain.EventError, Payload: []byte(`{"provision_id":"v1","instance":"web-0001","message":"LXD says no","phase":"install_agent","code":"upstream"}`)}
	}
	return func(yield func(domain.Event, error) bool) {
		for i, e := range events {
			e.Subject, e.Cursor, e.At = id, domain.Cursor{Seq: int64(i + 1)}, day
			if e.Cursor.Seq > after.Seq && !yield(e, nil) {
				return
			}
		}
	}
}

func (f *fakeMachines) CancelProvision(ctx context.Context, projectID, id string) (domain.Provision, error) {
	p, err := f.Provision(ctx, projectID, id)
	if err == nil && f.canceled {
		return p, domain.Errorf(domain.CodeConflict, "it has ended already (canceled)")
	}
	f.canceled = err == nil
	return p, err
}

func (f *fakeMachines) ChangeAgent(ctx context.Context, projectID, agentID string, action domain.ContainerAction) error {
	a, err := f.agents.Agent(ctx, projectID, agentID)
	if err != nil {
		return err
	}
	if a.Provider != domain.ProviderLXD {
		return domain.Invalid("", "%s was installed by hand", a.Hostname)
	}
	f.changes = append(f.changes, string(action)+" "+agentID)
	return f.refusal
}

func (f *fakeMachines) RemoveAgent(ctx context.Context, projectID, agentID string) error {
	if f.refusal != nil {
		return f.refusal
	}
	return f.agents.RemoveAgent(ctx, projectID, agentID)
}
