package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// twoCommands is a model that looks at a machine and wants to change it, at once.
const twoCommands = `{"scenes": [
	{"system": "Classify the last message", "rounds": [{"text": "action"}]}
], "rounds": [
	{"text": "I look, and tidy up.", "calls": [
		{"name": "run_command", "input": {"agent_id": "box", "command": "cat /etc/hostname | head -1", "description": "look"}},
		{"name": "run_command", "input": {"agent_id": "box", "command": "touch /tmp/tidy", "description": "tidy up"}}]},
	{"text": "So be it."}
]}`

// wiredAgent is a machine whose agent speaks the plain wire: it says of each command that it ran.
type wiredAgent struct {
	id  string
	mu  sync.Mutex
	ran []string
}

func (a *wiredAgent) commands() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ran)
}

// plug lets a machine join a project, and keeps it connected until the test ends.
func (r *rig) plug(t *testing.T, project string) *wiredAgent {
	t.Helper()
	_, install := domain.NewMachineToken(domain.InstallTokenPrefix)
	token, permanent := domain.NewMachineToken(domain.AgentTokenPrefix)
	err := r.store.AddInstallToken(t.Context(), domain.InstallToken{ID: domain.NewID(), ProjectID: project, Hash: install, ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := r.store.JoinAgent(t.Context(), install, permanent, domain.AgentHello{Hostname: "box"})
	if err != nil {
		t.Fatal(err)
	}
	a := &wiredAgent{id: joined.ID}
	ctx, unplug := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		a.work(ctx, r.base, token)
	}()
	t.Cleanup(func() {
		unplug()
		<-gone
	})
	return a
}

// work follows the agent's stream and answers what comes by it, until ctx ends.
func (a *wiredAgent) work(ctx context.Context, base, token string) {
	apart := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	send := func(method, path, body string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
		if err != nil {
			return nil
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, _ := apart.Do(req) // what fails is seen by what does not come
		return resp
	}
	stream := send(http.MethodGet, "/agent/events?hostname=box", "")
	if stream == nil {
		return
	}
	defer stream.Body.Close()
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		var m agentwire.Message
		if !found || json.Unmarshal([]byte(data), &m) != nil || m.Type != agentwire.Execute {
			continue
		}
		a.mu.Lock()
		a.ran = append(a.ran, m.Command)
		a.mu.Unlock()
		if resp := send(http.MethodPost, "/agent/results", fmt.Sprintf(`{"request_id":%q,"stdout":%q,"stderr":"","exit_code":0}`, m.RequestID, "ran "+m.Command)); resp != nil {
			resp.Body.Close()
		}
	}
}

// newFleet is an office without artifacts whose model has a machine.
func newFleet(t *testing.T) (*office, *wiredAgent) {
	t.Helper()
	o := &office{rig: newRig(t, twoCommands, scriptedModel)}
	group, err := o.store.CreateGroup(t.Context(), "fleet-"+domain.NewID(), "")
	if err != nil {
		t.Fatal(err)
	}
	o.ada, o.grace, o.eve = o.person(t, "Ada", group.ID), o.person(t, "Grace", group.ID), o.person(t, "Eve", "")
	o.chief = member{domain.User{ID: domain.OwnerID, Name: "owner"}, o.token, o.rig}
	if o.project, err = o.store.CreateProject(t.Context(), domain.Project{Name: "fleet", GroupID: group.ID, CreatedBy: o.ada.ID}); err != nil {
		t.Fatal(err)
	}
	return o, o.plug(t, o.project.ID)
}

// What only reads is run at once, and what changes something once somebody has approved it, with
// its machine and the reason before their eyes.
func TestAModelRunsCommands(t *testing.T) {
	t.Parallel()
	o, box := newFleet(t)
	id := domain.NewID()
	var a asked
	text := o.ada.wants(t, 202, `"status":"waiting"`, "POST", "/projects/"+o.project.ID+"/query", `{"query":"Please tidy up.","conversation_id":"`+id+`"}`)
	if err := json.Unmarshal([]byte(text), &a); err != nil || len(a.Actions) != 1 {
		t.Fatalf("the query answers %s (%v)", text, err)
	}
	wantParts(t, a.Actions[0].Description, "Run run_command with:", "command: touch /tmp/tidy", "machine: box, id "+box.id, "why it asks: touch is not on the list of commands that only read")
	if ran := box.commands(); slices.Contains(ran, "touch /tmp/tidy") {
		t.Errorf("it ran before it was approved: %q", ran)
	}
	talk := "/projects/" + o.project.ID + "/conversations/" + id
	o.eve.wants(t, 404, "", "POST", "/actions/"+a.Actions[0].ID+"/decide", yes(a.Actions[0]))
	o.grace.wants(t, 200, `"resumed":true`, "POST", talk+"/confirm-action/resume", decisions(yes(a.Actions[0])))
	if status, outcomes := o.ends(t, a); status[0] != domain.ActionApplied || !strings.Contains(outcomes[0], "exit code 0 on box") {
		t.Errorf("it is %v: %q", status, outcomes)
	}
	ran := box.commands()
	slices.Sort(ran)
	if !slices.Equal(ran, []string{"cat /etc/hostname | head -1", "touch /tmp/tidy"}) {
		t.Errorf("ran %q", ran)
	}
	shown := o.ada.wants(t, 200, "So be it.", "GET", talk, "")
	if n := strings.Count(shown, `"hostname":"box"`); n != 3 { // of both calls, and in the input that was approved
		t.Errorf("the machine is named %d times in %s", n, shown)
	}
	for _, text := range []string{"ran cat /etc/hostname | head -1", "ran touch /tmp/tidy"} {
		var told bool
		err := o.pool.QueryRow(t.Context(), "select exists (select from turn_calls where turn_id = $1 and outcome->>'text' like '%' || $2 || '%')", a.TurnID, text).Scan(&told)
		if err != nil || !told {
			t.Errorf("the model is not told %q, %v", text, err)
		}
	}
	// The command of an action has the action's id.
	o.grace.wants(t, 200, `"turn_id":"`+a.TurnID+`"`, "GET", "/commands/"+a.Actions[0].ID, "")
	o.eve.wants(t, 404, "", "GET", "/commands/"+a.Actions[0].ID, "")
}

// A person's own command runs at once where the person may approve it; else another decides.
func TestPeopleRunCommands(t *testing.T) {
	t.Parallel()
	o, box := newFleet(t)
	under := "/projects/" + o.project.ID + "/agents/" + box.id
	o.ada.wants(t, 200, `"stdout":"ran touch one","stderr":"","exit_code":0`, "POST", under+"/execute", `{"command":"touch one"}`)
	h := home{dir: t.TempDir()}
	run := h.program(t.Context(), "run", "box", "--", "touch zero")
	run.Env = append(run.Env, urlVariable+"="+o.base, tokenVariable+"="+o.ada.key, "HOME="+h.dir, "XDG_CONFIG_HOME="+h.dir)
	if out, err := run.Output(); err != nil || string(out) != "ran touch zero" {
		t.Errorf("harvest run says %q, %v", out, err)
	}
	o.settle(t, domain.ApproveOthers)
	propose := func(command string) domain.Action {
		t.Helper()
		var got struct {
			Action domain.Action `json:"action"`
		}
		text := o.ada.wants(t, 202, `"status":"pending"`, "POST", under+"/execute", `{"command":"`+command+`","description":"tidy"}`)
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Action.ID == "" {
			t.Fatalf("proposed %s, %v", text, err)
		}
		return got.Action
	}
	decide := func(a domain.Action, approved bool) {
		t.Helper()
		o.ada.wants(t, 403, "somebody else", "POST", "/actions/"+a.ID+"/decide", yes(a))
		o.grace.wants(t, 200, a.ID, "POST", "/actions/"+a.ID+"/decide", decision(a, approved, a.Nonce, a.Hash))
	}
	yes, no := propose("touch two"), propose("touch three")
	wantParts(t, yes.Description, "machine: box", o.ada.Name+" asked for it")
	o.grace.wants(t, 200, yes.ID, "GET", "/projects/"+o.project.ID+"/actions?status=pending", "")
	decide(yes, true)
	decide(no, false)
	for id, want := range map[string]string{yes.ID: `"type":"command_done","status":"done"`, no.ID: `"type":"command_done","status":"rejected"`} {
		events := o.ada.wants(t, 200, "", "GET", under+"/commands/"+id+"/events", "")
		last := events[strings.LastIndex(events, "data: "):]
		if !strings.Contains(strings.ReplaceAll(last, " ", ""), strings.ReplaceAll(strings.SplitN(want, ",", 2)[1], " ", "")) {
			t.Errorf("%s ends with %s", id, last)
		}
	}
	if ran := box.commands(); !slices.Equal(ran, []string{"touch one", "touch zero", "touch two"}) {
		t.Errorf("ran %q", ran)
	}
	for id, want := range map[string]domain.ActionStatus{yes.ID: domain.ActionApplied, no.ID: domain.ActionRejected} {
		o.becomes(t, id, want)
	}
	entries, err := o.store.AuditEntries(t.Context(), domain.AuditFilter{UserID: o.ada.ID, Method: http.MethodPost, Limit: 100})
	if err != nil || !slices.ContainsFunc(entries, func(e domain.AuditEntry) bool { return strings.HasSuffix(e.Route, "/execute") }) {
		t.Errorf("who ran something is not in the audit: %+v, %v", entries, err)
	}
}

// becomes waits until the sweeper has told an action's end.
func (o *office) becomes(t *testing.T, id string, want domain.ActionStatus) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		a, err := o.store.Action(ctx, id)
		if err != nil {
			t.Fatalf("action %s is %s, want %s: %v", id, a.Status, want, err)
		}
		if a.Status == want && a.EndedAt != nil {
			return
		}
		<-tick.C
	}
}
