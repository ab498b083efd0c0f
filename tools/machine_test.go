package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// fakeMachines are two machines of project p, and the commands that were ordered.
type fakeMachines struct {
	mu       sync.Mutex
	agents   []domain.Agent
	away     error // of the list of agents, where it is set
	rules    domain.CommandRules
	rulesErr error
	commands map[string]domain.Command
	ordered  []domain.CommandOrder
	ends     domain.Command // how commands end
	awaitErr error
}

func newFakeMachines() *fakeMachines {
	seen := time.Now().Add(-3 * time.Hour)
	code := 0
	return &fakeMachines{
		agents: []domain.Agent{
			{ID: "a1", ProjectID: "p", Hostname: "web", Online: true, Description: "the shop"},
			{ID: "a2", ProjectID: "p", Hostname: "db", LastSeen: &seen, Provider: domain.ProviderLXD},
			{ID: "a3", ProjectID: "p", Hostname: "twin"}, {ID: "a4", ProjectID: "p", Hostname: "twin"},
			{ID: "a5", ProjectID: "other", Hostname: "theirs", Online: true},
		},
		rules: domain.CommandRules{Policy: domain.CommandsChangesAsk}, commands: map[string]domain.Command{},
		ends: domain.Command{Status: domain.CommandDone, ExitCode: &code, Stdout: domain.CommandOutput{Head: []byte("hello\n"), Bytes: 6}},
	}
}

func (f *fakeMachines) Agents(_ context.Context, projectID string) (list []domain.Agent, _ error) {
	for _, a := range f.agents {
		if a.ProjectID == projectID {
			list = append(list, a)
		}
	}
	return list, f.away
}

func (f *fakeMachines) Command(_ context.Context, projectID, id string) (domain.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.commands[id]
	if !ok || c.ProjectID != projectID {
		return domain.Command{}, domain.NotFound("there is no command %q", id)
	}
	return c, nil
}

func (f *fakeMachines) StartCommand(_ context.Context, o domain.CommandOrder) (domain.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.ends
	c.CommandOrder = o
	for _, a := range f.agents {
		if a.ID == o.AgentID && a.ProjectID == o.ProjectID {
			c.Hostname = a.Hostname
		}
	}
	f.ordered, f.commands[o.ID] = append(f.ordered, o), c
	return c, nil
}

func (f *fakeMachines) AwaitCommand(_ context.Context, id string) (domain.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.commands[id], f.awaitErr
}

func (f *fakeMachines) ConfirmSettings(context.Context, string) (domain.ConfirmSettings, error) {
	s := domain.DefaultConfirmSettings()
	s.Commands = f.rules
	return s, f.rulesErr
}

func input(t *testing.T, fields map[string]any) json.RawMessage {
	t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

var inProject = domain.Scope{ProjectID: "p", UserID: "ada", TurnID: "t1", CallID: "c1"}

func TestListAgents(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.MachineTools(newFakeMachines())...)
	res, err := r.Run(t.Context(), inProject, "list_agents", nil)
	want := "web (id a1): online; the shop\ndb (id a2): offline; seen 3 hours ago; a container on LXD\ntwin (id a3): offline; it was never seen\ntwin (id a4): offline; it was never seen"
	if err != nil || res.Text != want {
		t.Errorf("%v\n%s", err, res.Text)
	}
}

func TestRunCommandAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rules  domain.CommandRules
		fields map[string]any
		asks   bool
	}{
		{"reads", domain.CommandRules{Policy: domain.CommandsChangesAsk}, map[string]any{"command": "ls -la | head"}, false},
		{"writes", domain.CommandRules{Policy: domain.CommandsChangesAsk}, map[string]any{"command": "touch x"}, true},
		{"reads with a variable", domain.CommandRules{Policy: domain.CommandsChangesAsk}, map[string]any{"command": "ls", "env": map[string]string{"PATH": "/tmp"}}, true},
		{"another case of the field", domain.CommandRules{Policy: domain.CommandsChangesAsk}, map[string]any{"Command": "touch x"}, true},
		{"always", domain.CommandRules{Policy: domain.CommandsAlwaysAsk}, map[string]any{"command": "ls"}, true},
		{"nothing settled", domain.CommandRules{}, map[string]any{"command": "ls"}, true},
		{"a policy of tomorrow", domain.CommandRules{Policy: "never"}, map[string]any{"command": "ls"}, true},
		{"not on the list", domain.CommandRules{Policy: domain.CommandsAllowListed, Allowed: []string{"git status"}}, map[string]any{"command": "ls"}, true},
		{"on the list", domain.CommandRules{Policy: domain.CommandsAllowListed, Allowed: []string{"git status"}}, map[string]any{"command": "git status"}, false},
		{"a list that can't be read", domain.CommandRules{Policy: domain.CommandsAllowListed, Allowed: []string{"git status", "* x"}}, map[string]any{"command": "git status"}, true},
		{"no command", domain.CommandRules{Policy: domain.CommandsAlwaysAsk}, map[string]any{}, false},
		{"as long as may be", domain.CommandRules{Policy: domain.CommandsChangesAsk}, map[string]any{"command": "touch x", "timeout_secs": 1800}, true},
	} {
		f := newFakeMachines()
		f.rules = c.rules
		c.fields["agent_id"] = "web"
		r := tools.NewRegistry(tools.MachineTools(f)...)
		if got := r.Asks(t.Context(), inProject, "run_command", input(t, c.fields)); got != c.asks {
			t.Errorf("%s: asks %v", c.name, got)
		}
		// What asks is not run without an approval, wherever the call comes from.
		res, err := r.Run(t.Context(), inProject, "run_command", input(t, c.fields))
		if ran := len(f.ordered) == 1; err != nil || ran == (c.asks || c.name == "no command") || ran == res.Error {
			t.Errorf("%s: ran %v, %v %q", c.name, ran, err, res.Text)
		}
	}
	f := newFakeMachines()
	f.rulesErr = domain.Errorf(domain.CodeUnavailable, "away")
	if r := tools.NewRegistry(tools.MachineTools(f)...); !r.Asks(t.Context(), inProject, "run_command", input(t, map[string]any{"agent_id": "web", "command": "ls"})) {
		t.Error("what can't be told does not ask")
	}
}

func TestRunCommandFindsItsCommandAgain(t *testing.T) {
	t.Parallel()
	f := newFakeMachines()
	r := tools.NewRegistry(tools.MachineTools(f)...)
	call := input(t, map[string]any{"agent_id": "db", "command": "ls", "description": "look", "timeout_secs": 90})
	for range 3 {
		res, err := r.Run(t.Context(), inProject, "run_command", call)
		if err != nil || res.Error || !strings.Contains(res.Text, "exit code 0 on db") || !strings.Contains(res.Text, "hello") {
			t.Fatalf("%v %+v", err, res)
		}
		f.rules.Policy = domain.CommandsAlwaysAsk // the command was begun under the rules of then
		f.agents = nil                            // and its machine may be gone by now
	}
	want := domain.CommandOrder{
		ID: domain.CommandIDOf("t1", "c1"), ProjectID: "p", AgentID: "a2", Command: "ls", Description: "look", Timeout: 90 * time.Second,
		Wait: domain.DefaultCommandWait, UserID: "ada", TurnID: "t1", CallID: "c1",
	}
	if len(f.ordered) != 1 || f.ordered[0].ID != want.ID || f.ordered[0].Timeout != want.Timeout || f.ordered[0].AgentID != "a2" || f.ordered[0].TurnID != "t1" {
		t.Errorf("ordered %+v", f.ordered)
	}
}

func TestRunCommandTakesTimesInItsBounds(t *testing.T) {
	t.Parallel()
	f := newFakeMachines()
	r := tools.NewRegistry(tools.MachineTools(f)...)
	for _, secs := range []any{0, -1, 1801, 1.5, 1e30, "30"} {
		res, err := r.Run(t.Context(), inProject, "run_command", input(t, map[string]any{"agent_id": "db", "command": "ls", "timeout_secs": secs}))
		if err != nil || !res.Error || !strings.Contains(res.Text, "timeout_secs must be ") || len(f.ordered) > 0 {
			t.Errorf("%v: %v %+v", secs, err, res)
		}
	}
	res, err := r.Run(t.Context(), inProject, "run_command", input(t, map[string]any{"agent_id": "db", "command": "ls"}))
	if err != nil || res.Error || len(f.ordered) != 1 || f.ordered[0].Timeout != domain.DefaultCommandTimeout {
		t.Errorf("%v %+v %+v", err, res, f.ordered)
	}
}

func TestRunCommandOfAnAction(t *testing.T) {
	t.Parallel()
	f := newFakeMachines()
	r := tools.NewRegistry(tools.MachineTools(f)...)
	scope := inProject
	scope.ActionID = "act"
	res, err := r.Run(t.Context(), scope, "run_command", input(t, map[string]any{"agent_id": "a1", "command": "touch x", "env": map[string]string{"TOKEN": "secret://TOKEN@1"}}))
	if err != nil || res.Error || len(f.ordered) != 1 || f.ordered[0].ID != "act" || f.ordered[0].Env["TOKEN"] != "secret://TOKEN@1" {
		t.Errorf("%v %+v %+v", err, res, f.ordered)
	}
}

func TestRunCommandNamesAMachine(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.MachineTools(newFakeMachines())...)
	for name, want := range map[string]string{"nobody": "no machine", "twin": "names 2 machines", "a5": "no machine", "theirs": "no machine"} {
		res, err := r.Run(t.Context(), inProject, "run_command", input(t, map[string]any{"agent_id": name, "command": "ls"}))
		if err != nil || !res.Error || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %v %q", name, err, res.Text)
		}
	}
	if host := r.Hostname(t.Context(), inProject, "run_command", input(t, map[string]any{"agent_id": "a2", "command": "ls"})); host != "db" {
		t.Errorf("hostname %q", host)
	}
	if host := r.Hostname(t.Context(), inProject, "list_agents", nil); host != "" {
		t.Errorf("hostname %q", host)
	}
}

// What was approved is a machine by its id, and the name that people saw: another that has the
// name by now is not meant, and neither is the same one under another name.
func TestRunCommandIsPinned(t *testing.T) {
	t.Parallel()
	f := newFakeMachines()
	r := tools.NewRegistry(tools.MachineTools(f)...)
	asked := input(t, map[string]any{"agent_id": "web", "command": "touch x", "description": "d"})
	pinned := r.Pin(t.Context(), inProject, "run_command", asked)
	var fields map[string]any
	if err := json.Unmarshal(pinned, &fields); err != nil || fields["agent_id"] != "a1" || fields["hostname"] != "web" || fields["command"] != "touch x" {
		t.Fatalf("pinned %s (%v)", pinned, err)
	}
	approved := inProject
	approved.ActionID = "act"
	for what, c := range map[string]struct {
		agents []domain.Agent
		call   json.RawMessage
		want   string
	}{
		"renamed":         {[]domain.Agent{{ID: "a1", ProjectID: "p", Hostname: "web-old"}, {ID: "a9", ProjectID: "p", Hostname: "web"}}, pinned, `was called "web" as this was asked for, and is "web-old" now`},
		"replaced":        {[]domain.Agent{{ID: "a9", ProjectID: "p", Hostname: "web"}}, pinned, "is not in the project any more"},
		"never pinned":    {[]domain.Agent{{ID: "a9", ProjectID: "p", Hostname: "web"}}, asked, "is not in the project any more"},
		"by two names":    {[]domain.Agent{{ID: "a8", ProjectID: "p", Hostname: "a1"}, {ID: "a9", ProjectID: "p", Hostname: "a1"}}, pinned, "is not in the project any more"},
		"of others by id": {[]domain.Agent{{ID: "a9", ProjectID: "p", Hostname: "a1"}}, pinned, "is not in the project any more"},
	} {
		f.agents = c.agents
		res, err := r.Run(t.Context(), approved, "run_command", c.call)
		if err != nil || !res.Error || !strings.Contains(res.Text, "it was approved, and was not run: the machine") || !strings.Contains(res.Text, c.want) || len(f.ordered) != 0 {
			t.Errorf("%s: %v %q, ordered %d", what, err, res.Text, len(f.ordered))
		}
		if err := r.Holds(t.Context(), inProject, "run_command", c.call); domain.CodeOf(err) != domain.CodeUnprocessable || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "approved") {
			t.Errorf("%s holds: %v", what, err)
		}
	}
	f.agents = newFakeMachines().agents
	if err := r.Holds(t.Context(), inProject, "run_command", pinned); err != nil {
		t.Errorf("what has not changed does not hold: %v", err)
	}
	if err := r.Holds(t.Context(), inProject, "list_agents", nil); err != nil {
		t.Errorf("a tool that is about nothing does not hold: %v", err)
	}
	if res, err := r.Run(t.Context(), approved, "run_command", pinned); err != nil || res.Error || len(f.ordered) != 1 || f.ordered[0].AgentID != "a1" {
		t.Errorf("%v %+v %+v", err, res, f.ordered)
	}
}

// What names no machine asks nobody, as it can't be run.
func TestRunCommandWithoutAMachineAsksNobody(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.MachineTools(newFakeMachines())...)
	for name, want := range map[string]bool{"web": true, "a2": true, "nobody": false, "twin": false, "a5": false} {
		call := input(t, map[string]any{"agent_id": name, "command": "touch x"})
		if got := r.Asks(t.Context(), inProject, "run_command", call); got != want {
			t.Errorf("%s asks: %v", name, got)
		}
		if want {
			continue
		}
		if string(r.Pin(t.Context(), inProject, "run_command", call)) != string(call) {
			t.Errorf("%s was pinned", name)
		}
		if res, err := r.Run(t.Context(), inProject, "run_command", call); err != nil || !res.Error || strings.Contains(res.Text, "approved") {
			t.Errorf("%s: %v %q", name, err, res.Text)
		}
	}
}

func TestRunCommandExplains(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.MachineTools(newFakeMachines())...)
	about := r.Explain(t.Context(), inProject, "run_command", input(t, map[string]any{"agent_id": "db", "command": "systemctl restart nginx"}))
	text := domain.DescribeAction("run_command", []byte(`{}`), about...)
	for _, want := range []string{"machine: db, id a2", "offline; seen 3 hours ago", "why it asks: systemctl: restart is not known to only read", "time limit: 30s"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestRunCommandTellsTheEnd(t *testing.T) {
	t.Parallel()
	code := 3
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	later := at.Add(1200 * time.Millisecond)
	long := strings.Repeat("0123456789abcdef\n", 4096)
	for _, c := range []struct {
		end            domain.Command
		error, unknown bool
		want           []string
	}{
		{domain.Command{Status: domain.CommandDone, ExitCode: &code, StartedAt: &at, EndedAt: &later, Stderr: domain.CommandOutput{Head: []byte("no such file\n"), Bytes: 13}}, false, false,
			[]string{"exit code 3 on web, 1.2s", "stdout: nothing", "stderr (13 bytes):\nno such file"}},
		{domain.Command{Status: domain.CommandDone, ExitCode: &code, Swept: 2}, false, false, []string{"left 2 processes behind"}},
		{domain.Command{Status: domain.CommandTimedOut}, true, false, []string{"time limit of 30s", "timeout_secs"}},
		{domain.Command{Status: domain.CommandExpired, Error: "nobody came"}, true, false, []string{"Not run: web was not connected in time: nobody came"}},
		{domain.Command{Status: domain.CommandFailed, Error: "no bash"}, true, false, []string{"Not run: web could not start the command: no bash"}},
		{domain.Command{Status: domain.CommandCanceled}, true, false, []string{"was canceled on web"}},
		{domain.Command{Status: domain.CommandRejected}, true, false, []string{"nobody approved it"}},
		{domain.Command{Status: domain.CommandUnknown, Error: "the agent lost it"}, true, true, []string{"Unknown: the command was sent to web", "the agent lost it", "not run again by itself"}},
		{domain.Command{Status: domain.CommandDone, ExitCode: &code, Stdout: domain.CommandOutput{Head: []byte(long), Tail: []byte("the end\n"), Bytes: 1 << 30}}, false, false,
			[]string{"stdout (1073741824 bytes; the beginning and the end are shown):\n0123", "bytes are left out here", "the end"}},
		{domain.Command{Status: domain.CommandDone, ExitCode: &code, Stdout: domain.CommandOutput{Head: []byte("a\xffb" + strings.Repeat("ä", 20000)), Bytes: 40003}}, false, false,
			[]string{"a\uFFFDb", "left out here"}},
	} {
		f := newFakeMachines()
		f.ends = c.end
		r := tools.NewRegistry(tools.MachineTools(f)...)
		res, err := r.Run(t.Context(), inProject, "run_command", input(t, map[string]any{"agent_id": "web", "command": "ls"}))
		if err != nil || res.Error != c.error || res.Unknown != c.unknown {
			t.Errorf("%s: %v, error %v, unknown %v", c.end.Status, err, res.Error, res.Unknown)
		}
		if strings.Count(res.Text, "\uFFFD") > 1 || len(res.Text) > 48<<10 {
			t.Errorf("%s: letters were cut, or %d bytes are too many", c.end.Status, len(res.Text))
		}
		for _, want := range c.want {
			if !strings.Contains(res.Text, want) {
				t.Errorf("%s: no %q in\n%.600s", c.end.Status, want, res.Text)
			}
		}
	}
}

// A run that can't learn of the end gives nothing: the next one finds the command again.
func TestRunCommandIsRunAgain(t *testing.T) {
	t.Parallel()
	f := newFakeMachines()
	f.awaitErr = context.DeadlineExceeded
	r := tools.NewRegistry(tools.MachineTools(f)...)
	res, err := r.Run(t.Context(), inProject, "run_command", input(t, map[string]any{"agent_id": "web", "command": "ls"}))
	if domain.CodeOf(err) != domain.CodeUnavailable || res.Text != "" {
		t.Errorf("%v %+v", err, res)
	}
	if spec, _ := r.Lookup("run_command"); !spec.Resumable || spec.SecretEnv != "env" || spec.Policy != domain.PolicyInput {
		t.Errorf("%+v", spec)
	}
}

// A call that may take longer than any is none that can be run, and asks nobody.
func TestRunCommandHasALimit(t *testing.T) {
	t.Parallel()
	f := newFakeMachines()
	r := tools.NewRegistry(tools.MachineTools(f)...)
	for _, secs := range []int{-1, int(domain.MaxToolTimeout/time.Second) + 1} {
		call := input(t, map[string]any{"agent_id": "web", "command": "touch x", "timeout_secs": secs})
		if res, err := r.Run(t.Context(), inProject, "run_command", call); err != nil || !res.Error || !strings.Contains(res.Text, "timeout_secs") || len(f.ordered) != 0 {
			t.Errorf("%d: %v %q", secs, err, res.Text)
		}
		if r.Asks(t.Context(), inProject, "run_command", call) {
			t.Errorf("%d asks", secs)
		}
	}
}

// Where it can't be told which machines there are, a call asks, is not explained as one of none,
// and an approved one is run again later.
func TestRunCommandWithoutTheStore(t *testing.T) {
	t.Parallel()
	f := newFakeMachines()
	f.away = domain.Errorf(domain.CodeUnavailable, "the database is away")
	r := tools.NewRegistry(tools.MachineTools(f)...)
	call := input(t, map[string]any{"agent_id": "a1", "hostname": "web", "command": "touch x"})
	if !r.Asks(t.Context(), inProject, "run_command", call) {
		t.Error("it does not ask")
	}
	if about := r.Explain(t.Context(), inProject, "run_command", call); len(about) != 1 || !strings.Contains(about[0].Value, "could not be looked up") {
		t.Errorf("it is about %+v", about)
	}
	approved := inProject
	approved.ActionID = "act"
	if res, err := r.Run(t.Context(), approved, "run_command", call); domain.CodeOf(err) != domain.CodeUnavailable || res.Text != "" || len(f.ordered) != 0 {
		t.Errorf("%v %+v, ordered %d", err, res, len(f.ordered))
	}
}
