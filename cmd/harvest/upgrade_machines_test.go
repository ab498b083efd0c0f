package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// saidMachine is a machine of the team's project, that is away.
type saidMachine struct {
	AgentID string `json:"agent_id"`
	Token   string `json:"token"`  // its permanent one
	Done    string `json:"done"`   // a command that has ended
	Log     string `json:"log"`    // what that wrote
	Queued  string `json:"queued"` // a command that waits for the machine
}

// Of the machine that is kept. Kept databases grow old, and its command waits as long.
const (
	keptHello   = "hostname=attic&machine=kept-machine&version=0.3.0&capabilities=ack%2Cbatch%2Cbytes%2Ccancel%2Cenv"
	keptLine    = "uname -a"
	waitingLine = "touch /srv/kept"
	longWait    = 100 * 365 * 24 * time.Hour
)

// hasMachine joins a machine to the project, on which everything has happened once, and gives
// the paths that tell of it.
func (r *rig) hasMachine(t *testing.T, projectID string) (*saidMachine, []string) {
	t.Helper()
	under := "/projects/" + projectID + "/agents"
	a := &plainAgent{r: r, token: installToken(string(r.tell(t, http.StatusOK, http.MethodPost, under+"/rotate-install-token", nil))), hello: keptHello}
	greeting := a.connect(t)
	a.token = greeting.AgentToken
	m := &saidMachine{AgentID: greeting.AgentID, Token: a.token}
	m.Done = r.orderFor(t, projectID, m.AgentID, keptLine)
	a.runs(t, m.Done, keptLine)
	a.answer.Body.Close()
	r.isAway(t, m.AgentID)
	m.Queued = r.orderFor(t, projectID, m.AgentID, waitingLine)
	log, _ := r.commandLog(t, m.Done, "stdout")
	m.Log = string(log)
	of := under + "/" + m.AgentID
	r.tell(t, http.StatusOK, http.MethodPost, of+"/port-forwards", map[string]any{"route_name": "web", "port": 8080})
	return m, []string{under, of, of + "/commands", of + "/commands/" + m.Done, of + "/commands/" + m.Queued, of + "/port-forwards"}
}

// orderFor orders a command that waits for its machine longer than anybody may ask for.
func (r *rig) orderFor(t *testing.T, projectID, agentID, line string) string {
	t.Helper()
	c, err := r.store.CreateCommand(t.Context(), domain.CommandOrder{
		ID: domain.NewID(), ProjectID: projectID, AgentID: agentID, Command: line, Timeout: time.Minute, Wait: longWait, UserID: domain.OwnerID,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// runs takes a command by the wire and says that it has written the line and ended well.
func (a *plainAgent) runs(t *testing.T, id, line string) {
	t.Helper()
	if m := a.next(t); m.Type != agentwire.Execute || m.RequestID != id || m.Command != line {
		t.Fatalf("sent is %+v, and not %s", m, id)
	}
	a.post(t, "/agent/started", fmt.Sprintf(`{"request_id": %q}`, id))
	code, text := 0, []byte(line+"\n")
	result, err := json.Marshal(agentwire.Result{
		RequestID: id, Outcome: agentwire.Exited, ExitCode: &code, StdoutHead: text, StdoutBytes: int64(len(text)), DurationMS: 7,
	})
	if err != nil {
		t.Fatal(err)
	}
	a.post(t, "/agent/results", string(result))
}

// isAway waits until a machine is known to be away.
func (r *rig) isAway(t *testing.T, agentID string) {
	t.Helper()
	for online := true; online; {
		err := r.pool.QueryRow(t.Context(), "select exists (select from agent_connections where agent_id = $1)", agentID).Scan(&online)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// comesBack shows that a machine that was joined before is still good: by the token that it
// has, and for the command that waits for it.
func (r *rig) comesBack(t *testing.T, m *saidMachine) {
	t.Helper()
	if log, last := r.commandLog(t, m.Done, "stdout"); string(log) != m.Log || last.Type != domain.EventCommandDone {
		t.Errorf("the log of %s is %q, was %q, and ends with %s", m.Done, log, m.Log, last.Type)
	}
	a := &plainAgent{r: r, token: m.Token, hello: keptHello}
	if greeting := a.connect(t); greeting.Type != agentwire.HelloAck || greeting.AgentID != m.AgentID {
		t.Fatalf("it is greeted with %+v", greeting)
	}
	a.runs(t, m.Queued, waitingLine)
	if c := awaitCommand(t, r, m.Queued); c.Status != domain.CommandDone || strings.TrimSpace(string(c.Stdout.Head)) != waitingLine {
		t.Errorf("what waited ended as %s, with %q", c.Status, c.Stdout.Head)
	}
	// What it tells again, as it does where the answer was lost, changes nothing.
	a.post(t, "/agent/results", fmt.Sprintf(`{"request_id": %q, "outcome": "unknown"}`, m.Done))
	if c := awaitCommand(t, r, m.Done); c.Status != domain.CommandDone || string(c.Stdout.Head) != m.Log {
		t.Errorf("what was done is now %s, with %q", c.Status, c.Stdout.Head)
	}
}
