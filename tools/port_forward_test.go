package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// fakeForwards has the port forward f1 of the machine a1 of p1.
type fakeForwards struct {
	calls []string
	away  error // of all that is only read, where it is set
}

func (f *fakeForwards) AgentPlace(_ context.Context, id string) (string, string, error) {
	if id != "a1" {
		return "", "", domain.NotFound("there is no agent %q", id)
	}
	return "p1", "web1", f.away
}

func (f *fakeForwards) find(project, agent, id string) (domain.PortForward, error) {
	if project != "p1" || agent != "a1" || id != "f1" {
		return domain.PortForward{}, domain.NotFound("there is no port forward %q", id)
	}
	return domain.PortForward{ID: "f1", AgentID: "a1", ProjectID: "p1", Hostname: "web1", Port: 3000, RouteName: "app", URL: "/agents/a1/app/"}, nil
}

func (f *fakeForwards) PortForwards(_ context.Context, project, agent string) ([]domain.PortForward, error) {
	one, err := f.find(project, agent, "f1")
	return []domain.PortForward{one}, err
}

func (f *fakeForwards) PortForward(_ context.Context, project, agent, id string) (domain.PortForward, error) {
	if f.away != nil {
		return domain.PortForward{}, f.away
	}
	return f.find(project, agent, id)
}

func (f *fakeForwards) CreatePortForward(_ context.Context, n domain.PortForward, by domain.Author) (domain.PortForward, error) {
	if err := n.Check(); err != nil {
		return n, err
	}
	if n.ProjectID != "p1" || n.AgentID != "a1" {
		return n, domain.NotFound("there is no agent %q", n.AgentID)
	}
	if n.RouteName == "app" {
		return n, domain.Errorf(domain.CodeConflict, "the machine has a port forward %q already", n.RouteName)
	}
	f.calls = append(f.calls, "create "+n.ProjectID+" "+n.AgentID+" "+n.RouteName+" by "+by.UserID)
	n.ID, n.Hostname, n.URL = "f2", "web1", domain.ForwardPath(n.AgentID, n.RouteName)
	return n, nil
}

func (f *fakeForwards) UpdatePortForward(_ context.Context, at domain.PortForward, c domain.PortForwardChange) (domain.PortForward, error) {
	if err := c.Check(); err != nil {
		return at, err
	}
	now, err := f.find(at.ProjectID, at.AgentID, at.ID)
	if err == nil {
		f.calls = append(f.calls, "update "+at.ID)
		if c.Port != nil {
			now.Port = *c.Port
		}
		if c.RouteName != nil {
			now.RouteName = *c.RouteName
		}
	}
	return now, err
}

func (f *fakeForwards) DeletePortForward(_ context.Context, project, agent, id string) error {
	_, err := f.find(project, agent, id)
	if err == nil {
		f.calls = append(f.calls, "delete "+id)
	}
	return err
}

// All but the list ask, each tells what it is about, and none reaches another project.
func TestPortForwardTools(t *testing.T) {
	t.Parallel()
	forwards := &fakeForwards{}
	registry := tools.NewRegistry(tools.PortForwardTools(forwards, "https://h.example.com/")...)
	here := domain.Scope{ProjectID: "p1", UserID: "ada", ActionID: "act"}
	elsewhere := domain.Scope{ProjectID: "p2", UserID: "eve", ActionID: "act"}
	for _, c := range []struct {
		name, input string
		asks        bool
		says        string
		about       []domain.Detail
	}{
		{"list_port_forwards", `{"agent_id":"a1"}`, false, "app: port 3000 of web1, reached at https://h.example.com/agents/a1/app/ (id f1)", nil},
		{"create_port_forward", `{"agent_id":"a1","port":8080,"route_name":"api"}`, true, "Port 8080 of web1 is reached at https://h.example.com/agents/a1/api/",
			[]domain.Detail{{Name: "machine", Value: "web1"}, {Name: "port", Value: "8080"}, {Name: "reached at", Value: "https://h.example.com/agents/a1/api/ by the people of the project"}}},
		{"update_port_forward", `{"agent_id":"a1","id":"f1","port":3001}`, true, "Port 3001 of web1",
			[]domain.Detail{{Name: "machine", Value: "web1"}, {Name: "port", Value: "3000"}, {Name: "reached at", Value: "https://h.example.com/agents/a1/app/"}, {Name: "new port", Value: "3001"}}},
		{"delete_port_forward", `{"agent_id":"a1","id":"f1"}`, true, "Removed the port forward app (port 3000 of web1)",
			[]domain.Detail{{Name: "machine", Value: "web1"}, {Name: "port", Value: "3000"}, {Name: "reached at", Value: "https://h.example.com/agents/a1/app/"}}},
		{"update_port_forward", `{"agent_id":"a1","id":"f1","route_name":"shop"}`, true, "is reached at https://h.example.com/agents/a1/shop/",
			[]domain.Detail{{Name: "machine", Value: "web1"}, {Name: "port", Value: "3000"}, {Name: "reached at", Value: "https://h.example.com/agents/a1/app/"},
				{Name: "then reached at", Value: "https://h.example.com/agents/a1/shop/"}}},
	} {
		input := json.RawMessage(c.input)
		if asks := registry.Asks(t.Context(), here, c.name, input); asks != c.asks {
			t.Errorf("%s asks: %v", c.name, asks)
		}
		if diff := cmp.Diff(c.about, registry.Explain(t.Context(), here, c.name, input)); diff != "" {
			t.Errorf("%s is about (-want +got):\n%s", c.name, diff)
		}
		if result, err := registry.Run(t.Context(), elsewhere, c.name, input); err != nil || !result.Error {
			t.Errorf("%s in another project: %+v, %v", c.name, result, err)
		}
		if result, err := registry.Run(t.Context(), here, c.name, input); err != nil || result.Error || !strings.Contains(result.Text, c.says) {
			t.Errorf("%s: %+v, %v", c.name, result, err)
		}
		if about := registry.Explain(t.Context(), elsewhere, c.name, input); c.asks && (len(about) != 1 || !strings.HasPrefix(about[0].Value, "none: ")) {
			t.Errorf("%s in another project is about %+v", c.name, about)
		}
	}
	if diff := cmp.Diff([]string{"create p1 a1 api by ada", "update f1", "delete f1", "update f1"}, forwards.calls); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	for name, input := range map[string]string{
		"create_port_forward": `{"agent_id":"a1","port":80,"route_name":"app"}`, "update_port_forward": `{"agent_id":"a1","id":"f1"}`, "delete_port_forward": `{"agent_id":"a1"}`,
	} {
		if result, err := registry.Run(t.Context(), here, name, json.RawMessage(input)); err != nil || !result.Error {
			t.Errorf("%s %s: %+v, %v", name, input, result, err)
		}
	}
	// Who is asked is told that what can't be done would be nothing.
	for name, inputs := range map[string][]string{
		"create_port_forward": {`{"agent_id":"a1","port":99999,"route_name":"x"}`, `{"agent_id":"a1","port":80,"route_name":"Bad Name"}`},
		"update_port_forward": {`{"agent_id":"a1","id":"f1","port":-1}`, `{"agent_id":"a1","id":"f1","route_name":"install.sh"}`, `{"agent_id":"a1","id":"f1"}`},
	} {
		for _, input := range inputs {
			if about := registry.Explain(t.Context(), here, name, json.RawMessage(input)); len(about) != 1 || !strings.HasPrefix(about[0].Value, "none: ") {
				t.Errorf("%s %s is about %+v", name, input, about)
			}
		}
	}
}

// What people were shown is in the input, and a call about what has changed since is not run.
func TestPortForwardsHoldAsTheyWereShown(t *testing.T) {
	t.Parallel()
	forwards := &fakeForwards{}
	registry := tools.NewRegistry(tools.PortForwardTools(forwards, "")...)
	here := domain.Scope{ProjectID: "p1", UserID: "ada", ActionID: "act"}
	const shown = `"hostname":"web1","id":"f1"`
	for name, call := range map[string][2]string{
		"create_port_forward": {`{"agent_id":"a1","port":80,"route_name":"x"}`, `{"agent_id":"a1","hostname":"web1","port":80,"route_name":"x"}`},
		"update_port_forward": {`{"agent_id":"a1","id":"f1","port":80}`, `{"agent_id":"a1",` + shown + `,"port":80,"was_port":3000,"was_route_name":"app"}`},
		"delete_port_forward": {`{"agent_id":"a1","id":"f1"}`, `{"agent_id":"a1",` + shown + `,"was_port":3000,"was_route_name":"app"}`},
	} {
		pinned := registry.Pin(t.Context(), here, name, json.RawMessage(call[0]))
		if err := registry.Holds(t.Context(), here, name, pinned); err != nil || string(pinned) != call[1] {
			t.Errorf("%s: %s, %v", name, pinned, err)
		}
		changes := map[string][2]string{"renamed": {`"web1"`, `"web0"`}, "machine gone": {`"a1"`, `"a2"`}}
		if name != "create_port_forward" {
			changes["other port"], changes["other name"], changes["gone"] = [2]string{"3000", "3001"}, [2]string{`"app"`, `"api"`}, [2]string{`"f1"`, `"f2"`}
		}
		for what, c := range changes {
			was := json.RawMessage(strings.Replace(call[1], c[0], c[1], 1))
			if err := registry.Holds(t.Context(), here, name, was); domain.CodeOf(err) != domain.CodeUnprocessable {
				t.Errorf("%s, %s, holds: %v", name, what, err)
			}
			if result, err := registry.Run(t.Context(), here, name, was); err != nil || !result.Error || !strings.Contains(result.Text, "it was approved, and was not run: the ") || len(forwards.calls) > 0 {
				t.Errorf("%s, %s: %+v, %v, %v", name, what, result, err, forwards.calls)
			}
		}
	}
}

// Where the store is away nobody is told that there is nothing, and nothing is removed that was not
// seen.
func TestPortForwardToolsWithoutTheStore(t *testing.T) {
	t.Parallel()
	forwards := &fakeForwards{away: domain.Errorf(domain.CodeUnavailable, "the database is away")}
	registry := tools.NewRegistry(tools.PortForwardTools(forwards, "")...)
	scope := domain.Scope{ProjectID: "p1", UserID: "ada", ActionID: "act"}
	for name, input := range map[string]string{
		"create_port_forward": `{"agent_id":"a1","port":80,"route_name":"api"}`, "update_port_forward": `{"agent_id":"a1","id":"f1","port":80}`, "delete_port_forward": `{"agent_id":"a1","id":"f1"}`,
	} {
		if about := registry.Explain(t.Context(), scope, name, json.RawMessage(input)); len(about) != 1 || !strings.Contains(about[0].Value, "could not be looked up") {
			t.Errorf("%s is about %+v", name, about)
		}
	}
	if _, err := registry.Run(t.Context(), scope, "delete_port_forward", json.RawMessage(`{"agent_id":"a1","id":"f1"}`)); domain.CodeOf(err) != domain.CodeUnavailable || len(forwards.calls) != 0 {
		t.Errorf("%v, and it did %q", err, forwards.calls)
	}
}
