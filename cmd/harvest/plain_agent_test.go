package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

// plainAgent speaks the wire of the contract and, but for what hello says of it, nothing else.
type plainAgent struct {
	r      *rig
	token  string
	hello  string // the query of its event stream
	answer *http.Response
	events *sse.Reader
}

// installToken finds the token in an install command.
func installToken(text string) string { return regexp.MustCompile(`hvi_[a-z2-7]+`).FindString(text) }

// connect opens its event stream and gives the greeting.
func (a *plainAgent) connect(t *testing.T) agentwire.Message {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.r.base+"/agent/events?"+a.hello, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	if a.answer, err = http.DefaultClient.Do(req); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.answer.Body.Close() })
	if a.answer.StatusCode != http.StatusOK {
		t.Fatalf("the stream is refused: %s", a.answer.Status)
	}
	a.events = sse.NewReader(a.answer.Body, 1<<20)
	return a.next(t)
}

func (a *plainAgent) next(t *testing.T) (m agentwire.Message) {
	t.Helper()
	e, err := a.events.Next()
	if err == nil {
		err = json.Unmarshal(e.Data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (a *plainAgent) post(t *testing.T, path, body string) {
	t.Helper()
	if status, text := a.r.bearer(t, a.token, http.MethodPost, path, body); status != http.StatusOK {
		t.Fatalf("POST %s: %d %s", path, status, text)
	}
}

// An agent that knows nothing of our additions joins, runs commands, and is sent each once,
// also where it comes back.
func TestPlainAgent(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	r := newRig(t, upgradeScript, machinesTOML(t, f.URL))
	s := newMachineSite(t, r, f)
	_, text := r.bearer(t, r.token, http.MethodPost, "/projects/"+s.project+"/agents/rotate-install-token", "")
	a := &plainAgent{r: r, token: installToken(text), hello: "hostname=attic"}
	greeting := a.connect(t)
	if greeting.Type != agentwire.Registered || greeting.AgentToken == "" {
		t.Fatalf("it is greeted with %+v", greeting)
	}
	a.token = greeting.AgentToken
	agent := s.online(t, r)
	a.post(t, "/agent/ping", "")

	c := s.run(t, r, agent, "uname", nil)
	if m := a.next(t); m.Type != agentwire.Execute || m.RequestID != c.ID || m.Command != "uname" || m.TimeoutSecs != 60 {
		t.Errorf("it is sent %+v", m)
	}
	a.post(t, "/agent/output", fmt.Sprintf(`{"request_id":%q,"stream":"stdout","line":"Linux"}`, c.ID))
	a.post(t, "/agent/results", fmt.Sprintf(`{"request_id":%q,"stdout":"Linux\nnul \u0000\n","stderr":"","exit_code":0}`, c.ID))
	if c = awaitCommand(t, r, c.ID); c.Status != domain.CommandDone || string(c.Stdout.Head) != "Linux\nnul \x00\n" {
		t.Errorf("it ended as %s, with %q", c.Status, c.Stdout.Head)
	}
	if log, _ := r.commandLog(t, c.ID, "stdout"); string(log) != "Linux\nnul \x00\n" {
		t.Errorf("the log has %q", log)
	}

	lost := s.run(t, r, agent, "reboot", nil)
	a.next(t)
	a.answer.Body.Close()
	if m := a.connect(t); m.Type != agentwire.HelloAck {
		t.Errorf("back again it is greeted with %+v", m)
	}
	after := s.run(t, r, agent, "date", nil)
	if m := a.next(t); m.RequestID != after.ID {
		t.Errorf("back again it is sent %+v", m)
	}
	// A command that was sent can't be canceled: the agent doesn't know how.
	if _, err := r.engine.CancelCommand(t.Context(), s.project, lost.ID, domain.Actor{Name: "ada"}); domain.CodeOf(err) != domain.CodeConflict {
		t.Errorf("cancel: %v", err)
	}
	a.post(t, "/agent/results", fmt.Sprintf(`{"request_id":%q,"stdout":"","stderr":"late","exit_code":1}`, lost.ID))
	if c = awaitCommand(t, r, lost.ID); c.Status != domain.CommandDone || *c.ExitCode != 1 {
		t.Errorf("the one of before ended as %s", c.Status)
	}
}
