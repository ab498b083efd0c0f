package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// fleet makes and removes machines by writing down that it does.
type fleet struct {
	orders  []domain.ProvisionOrder
	fault   string
	removed []string
	refusal error
	unmade  error // where nothing can be begun
}

func (f *fleet) Agent(_ context.Context, projectID, id string) (domain.Agent, error) {
	agents := map[string]domain.Agent{
		"a1": {ID: "a1", Hostname: "box"},
		"a2": {ID: "a2", Hostname: "web-1", Description: "serves", Provider: domain.ProviderLXD, Instance: "web-1"},
	}
	a, ok := agents[id]
	if !ok || projectID != "p1" {
		return a, domain.NotFound("there is no agent %q in this project", id)
	}
	return a, nil
}

func (f *fleet) StartProvision(_ context.Context, order domain.ProvisionOrder) (domain.Provision, error) {
	f.orders = append(f.orders, order)
	return domain.Provision{ProvisionOrder: order}, f.unmade
}

func (f *fleet) AwaitProvision(_ context.Context, projectID, id string) (domain.Provision, error) {
	p := domain.Provision{ProvisionOrder: domain.ProvisionOrder{ID: id, ProjectID: projectID, Instance: "web-1"}, Status: domain.ProvisionDone}
	if f.fault != "" {
		p.Status, p.Phase, p.Error = domain.ProvisionFailed, domain.PhaseCreate, f.fault
	}
	return p, nil
}

func (f *fleet) RemoveAgent(_ context.Context, projectID, agentID string) error {
	f.removed = append(f.removed, projectID+" "+agentID)
	return f.refusal
}

func TestMachinesAreMadeByActionsAlone(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	box := tools.NewRegistry(tools.ContainerTools(f)...)
	ctx := t.Context()
	scope := domain.Scope{ProjectID: "p1", UserID: "ada", TurnID: "t1", CallID: "c1"}
	input := json.RawMessage(`{"name":"web","description":"serves","flavor":"small"}`)
	for _, name := range box.Names() {
		if !box.Asks(ctx, scope, name, input) {
			t.Errorf("%s does not ask", name)
		}
		if res, _ := box.Run(ctx, scope, name, input); !res.Error || len(f.orders)+len(f.removed) > 0 {
			t.Errorf("%s was run without an approval: %+v", name, res)
		}
	}
	scope.ActionID = "act1"
	if about := box.Explain(ctx, scope, "create_lxd_agent", input); len(about) != 1 || about[0].Value != "1 core, 1024 MiB of memory" {
		t.Errorf("explained as %+v", about)
	}
	res, err := box.Run(ctx, scope, "create_lxd_agent", input)
	if err != nil || res.Error || !strings.Contains(res.Text, "web-1") {
		t.Errorf("made: %+v, %v", res, err)
	}
	if o := f.orders[0]; o.ID != "act1" || o.ProjectID != "p1" || o.UserID != "ada" || o.Name != "web" || o.Description != "serves" || o.Flavor != "small" {
		t.Errorf("ordered %+v", o)
	}
	f.fault = "LXD could not create the container web-1: no space"
	if res, err := box.Run(ctx, scope, "create_lxd_agent", input); err != nil || !res.Error || !strings.Contains(res.Text, "no space") || !strings.Contains(res.Text, "create_container") {
		t.Errorf("not made: %+v, %v", res, err)
	}
	f.unmade = domain.Invalid("name", "is missing")
	if res, err := box.Run(ctx, scope, "create_lxd_agent", input); err != nil || !res.Error || !strings.Contains(res.Text, "name is missing") {
		t.Errorf("not begun: %+v, %v", res, err)
	}
}

func TestMachinesAreRemovedByActionsAlone(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	box := tools.NewRegistry(tools.ContainerTools(f)...)
	ctx := t.Context()
	scope := domain.Scope{ProjectID: "p1", ActionID: "act1"}
	for id, want := range map[string]string{
		"a1": "box; the machine is taken out of the project; what is on it stays",
		"a2": "web-1; serves; the container web-1 is destroyed, with all that is on it",
		"a3": "none: the project has no machine of this id",
	} {
		var about []string
		for _, d := range box.Explain(ctx, scope, "delete_agent", json.RawMessage(`{"agent_id":"`+id+`"}`)) {
			about = append(about, d.Value)
		}
		if got := strings.Join(about, "; "); got != want {
			t.Errorf("%s is explained as %q, want %q", id, got, want)
		}
	}
	if res, err := box.Run(ctx, scope, "delete_agent", json.RawMessage(`{"agent_id":"a3"}`)); err != nil || !res.Error || len(f.removed) != 0 {
		t.Errorf("no machine: %+v, %v", res, err)
	}
	if res, err := box.Run(ctx, scope, "delete_agent", json.RawMessage(`{"agent_id":"a2"}`)); err != nil || res.Error || f.removed[0] != "p1 a2" {
		t.Errorf("removed: %+v, %v, %v", res, err, f.removed)
	}
	shown := box.Pin(ctx, scope, "delete_agent", json.RawMessage(`{"agent_id":"a2"}`))
	if err := box.Holds(ctx, scope, "delete_agent", shown); err != nil || string(shown) != `{"agent_id":"a2","hostname":"web-1"}` {
		t.Errorf("%s: %v", shown, err)
	}
	for call, want := range map[string]string{
		`{"agent_id":"a2","hostname":"web-0"}`: `was called "web-0" as this was asked for, and is "web-1" now`, `{"agent_id":"a3","hostname":"web-1"}`: "is not in the project any more",
	} {
		if err := box.Holds(ctx, scope, "delete_agent", json.RawMessage(call)); domain.CodeOf(err) != domain.CodeUnprocessable || !strings.Contains(err.Error(), want) {
			t.Errorf("%s holds: %v", call, err)
		}
		if res, err := box.Run(ctx, scope, "delete_agent", json.RawMessage(call)); err != nil || !res.Error || !strings.Contains(res.Text, want) || len(f.removed) != 1 {
			t.Errorf("%s: %+v, %v, %v", call, res, err, f.removed)
		}
	}
	f.refusal = domain.Errorf(domain.CodeUpstream, "LXD could not delete the container web-1: it is busy (400)")
	if res, err := box.Run(ctx, scope, "delete_agent", json.RawMessage(`{"agent_id":"a2"}`)); err != nil || !res.Error || !strings.Contains(res.Text, "it is busy") {
		t.Errorf("refused: %+v, %v", res, err)
	}
}
