package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const executeOn = "/projects/p1/agents/a1/execute"

// answerOf reads an answer of the execute route.
func (f *fixture) run(t *testing.T, status int, body string, headers ...string) map[string]any {
	t.Helper()
	resp, text := f.call(t, "POST", executeOn, body, headers...)
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil || resp.StatusCode != status {
		t.Fatalf("%s: %d %s, want %d", body, resp.StatusCode, text, status)
	}
	return got
}

func TestExecute(t *testing.T) {
	t.Parallel()
	f := start(t)
	got := f.run(t, 200, `{"command":"echo hello","description":"greet","env":{"A":"secret://A@1"},"timeout_secs":5,"wait_secs":7}`)
	if got["stdout"] != "hello\n" || got["stderr"] != "" || got["exit_code"] != 0.0 || got["status"] != "done" || got["hostname"] != "box" || got["command_id"] != f.commands.last().ID {
		t.Errorf("%v", got)
	}
	if o := f.commands.last(); o.Command != "echo hello" || o.Description != "greet" || o.Env["A"] != "secret://A@1" || o.Timeout != 5*time.Second || o.Wait != 7*time.Second || o.UserID != domain.OwnerID {
		t.Errorf("ordered %+v", o)
	}
	f.run(t, 200, `{"command":"ls"}`)
	if o := f.commands.last(); o.Timeout != domain.DefaultCommandTimeout || o.Wait != domain.DefaultCommandWait {
		t.Errorf("ordered %+v", o)
	}
	code := 3
	f.commands.end = domain.Command{
		Status: domain.CommandDone, ExitCode: &code,
		Stdout: domain.CommandOutput{Head: []byte("a\xffb"), Bytes: 3},
		Stderr: domain.CommandOutput{Head: []byte("be\xc3"), Tail: []byte("\xa4nd"), Bytes: 1000},
	}
	got = f.run(t, 200, `{"command":"ls"}`)
	if got["stdout"] != "a\uFFFDb" || got["stdout_base64"] != "Yf9i" || got["exit_code"] != 3.0 {
		t.Errorf("bytes that are no text: %v", got)
	}
	if got["stderr"] != "be\n… 994 bytes are left out here …\nnd" || got["stderr_cut"] != 994.0 || got["stderr_base64"] != nil {
		t.Errorf("cut through a letter: %v", got)
	}
	// What it did is noted for a client that reports an action as done by it.
	f.actions.mu.Lock()
	defer f.actions.mu.Unlock()
	noted := f.actions.performed[0]
	if noted.Tool != "run_command" || noted.ProjectID != "p1" || len(noted.Inputs) != 4 || !strings.Contains(string(noted.Inputs[0]), `"agent_id":"a1"`) {
		t.Errorf("noted %+v", noted)
	}
}

// The audit tells what was run, in one line and not at any length.
func TestExecuteIsAudited(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.run(t, 200, `{"command":"ls -l\ncat x `+strings.Repeat("ä", 300)+`"}`)
	f.run(t, 400, `{"command":"ls","timeout_secs":-1}`)
	f.people.mu.Lock()
	defer f.people.mu.Unlock()
	if len(f.people.entries) != 2 {
		t.Fatalf("noted %+v", f.people.entries)
	}
	ran, refused := f.people.entries[0], f.people.entries[1]
	if want := "command " + f.commands.last().ID + " on box: ls -l cat x ä"; !strings.HasPrefix(ran.Detail, want) || !strings.HasSuffix(ran.Detail, "ä…") || len(ran.Detail) > 310 {
		t.Errorf("noted %q, not %q…", ran.Detail, want)
	}
	if refused.Detail != "" || refused.Outcome != domain.OutcomeFailed {
		t.Errorf("noted %+v", refused)
	}
}

func TestExecuteThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	f := start(t)
	for status, c := range map[domain.CommandStatus]struct {
		http int
		code string
		says string
	}{
		domain.CommandExpired:  {502, "upstream", "box was not connected in time: because"},
		domain.CommandFailed:   {502, "upstream", "box could not start it: because"},
		domain.CommandTimedOut: {502, "timeout", "time limit of 30s, with all that it had started: because"},
		domain.CommandUnknown:  {502, "upstream", "can't be known"},
		domain.CommandCanceled: {409, "canceled", "was canceled: because"},
		domain.CommandRejected: {409, "canceled", "nobody approved it"},
	} {
		got := f.run(t, c.http, fmt.Sprintf(`{"command":%q}`, status))
		if got["code"] != c.code || !strings.Contains(got["error"].(string), c.says) || got["command_id"] == nil || got["status"] != string(status) {
			t.Errorf("%s: %v", status, got)
		}
	}
	f.actions.mu.Lock()
	defer f.actions.mu.Unlock()
	if n := len(f.actions.performed); n != 0 {
		t.Errorf("%d are noted as done", n)
	}
}

func TestExecuteThatIsRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	for body, field := range map[string]string{
		`{"command":"ls","timeout_secs":301}`: "timeout_secs", `{"command":"ls","timeout_secs":-1}`: "timeout_secs", `{"command":"ls","wait_secs":86401}`: "wait_secs",
		`{"command":"ls","timeout_secs":0}`: "timeout_secs", `{"command":"ls","timeout_secs":1.5}`: "timeout_secs", `{"command":"ls","timeout_secs":1e30}`: "timeout_secs",
		`{"command":"ls","wait_secs":0}`: "wait_secs", `{"command":"ls","wait_secs":"60"}`: "wait_secs",
		`{"command":5}`: "command", `{"command":"ls","env":["A"]}`: "env",
	} {
		if got := f.run(t, 400, body); got["field"] != field {
			t.Errorf("%s: %v", body, got)
		}
	}
	if got := f.run(t, 400, `{"command":"ls","timeout_secs":0}`); got["error"] != "timeout_secs: must be 1 to 300; leave it out for 30" {
		t.Errorf("none is refused by %v", got)
	}
	f.commands.failing = domain.Errorf(domain.CodeUnprocessable, "the agent on this machine can't set variables")
	f.run(t, 422, `{"command":"ls","env":{"A":"b"}}`)
	f.commands.failing = domain.Invalid("command", "is empty")
	f.run(t, 400, `{"command":""}`)
}

// Who may not approve gets an action that waits; nothing is run.
func TestExecuteWaitsForOthers(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.commands.may = false
	got := f.run(t, 202, `{"command":"rm x"}`)
	action, _ := got["action"].(map[string]any)
	if got["status"] != "pending" || got["action_id"] != got["command_id"] || action["name"] != "run_command" || action["status"] != "pending" {
		t.Errorf("%v", got)
	}
	f.actions.mu.Lock()
	defer f.actions.mu.Unlock()
	if n := len(f.actions.performed); n != 1 || len(f.actions.performed[0].Inputs) != 0 {
		t.Errorf("noted as done: %+v", f.actions.performed)
	}
}

func TestExecuteAtOnceAndAgain(t *testing.T) {
	t.Parallel()
	f := start(t)
	key := "Idempotency-Key: k1"
	got := f.run(t, 202, `{"command":"wait","detach":true}`, key)
	again := f.run(t, 202, `{"command":"wait","detach":true}`, key)
	if got["status"] != "queued" || got["command_id"] != again["command_id"] || len(f.commands.ids) != 1 {
		t.Errorf("%v and %v", got, again)
	}
	f.run(t, 422, `{"command":"other","detach":true}`, key)
	f.run(t, 400, `{"command":"wait","detach":true}`, "Idempotency-Key: "+strings.Repeat("k", 300))
}

// A client that leaves ends its own waiting alone.
func TestExecuteGoesOn(t *testing.T) {
	t.Parallel()
	f := start(t)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", f.url+executeOn, strings.NewReader(`{"command":"wait"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	left := make(chan error)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		left <- err
	}()
	<-f.commands.waited
	leave()
	<-left
	if c, err := f.commands.CommandByID(t.Context(), f.commands.last().ID); err != nil || c.CancelRequested || c.Status != domain.CommandQueued {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCommandsOfAMachine(t *testing.T) {
	t.Parallel()
	f := start(t)
	code := 0
	later := day.Add(time.Second)
	for i := range 3 {
		f.commands.add(domain.Command{
			CommandOrder: domain.CommandOrder{ID: fmt.Sprint("c", i), ProjectID: "p1", AgentID: "a1", Command: "ls", Timeout: time.Minute, UserID: "ada"},
			Hostname:     "box", Status: domain.CommandDone, ExitCode: &code, CreatedAt: day, DeliverBy: day, EndedAt: &later,
			Stdout: domain.CommandOutput{Head: []byte("x"), Tail: []byte("y"), Bytes: 5},
			Late:   &domain.CommandLate{Status: domain.CommandDone, At: later},
		})
	}
	f.commands.add(domain.Command{CommandOrder: domain.CommandOrder{ID: "other", ProjectID: "p1", AgentID: "a2"}, CreatedAt: day, Status: domain.CommandRunning})
	f.commands.add(domain.Command{CommandOrder: domain.CommandOrder{ID: "theirs", ProjectID: "p2", AgentID: "a1"}, CreatedAt: day, Status: domain.CommandRunning})
	const under = "/projects/p1/agents/a1/commands"
	f.expect(t, "commands", "GET", under+"?limit=2", "")
	f.expect(t, "commands_rest", "GET", under+"?limit=2&cursor=c1", "")
	f.expect(t, "commands_none", "GET", "/projects/p1/agents/none/commands", "")
	f.expect(t, "command", "GET", under+"/c1", "")
	f.expect(t, "command_by_id", "GET", "/commands/c1", "")
	f.expect(t, "command_other_machine", "GET", under+"/other", "")
	f.expect(t, "command_other_project", "GET", under+"/theirs", "")
	f.expect(t, "command_cancel_over", "POST", under+"/c1/cancel", "")
	f.expect(t, "command_cancel", "POST", "/projects/p1/agents/a2/commands/other/cancel", "")
	if got := fmt.Sprint(f.commands.canceled); got != "[other by owner]" {
		t.Errorf("canceled %s", got)
	}
	if resp, text := f.call(t, "GET", under+"/c1/events", ""); resp.StatusCode != 200 || strings.Count(text, "data: ") != 2 {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if resp, text := f.call(t, "GET", under+"/c1/events", "", "Last-Event-ID: 1"); resp.StatusCode != 200 || strings.Count(text, "data: ") != 1 || !strings.Contains(text, "command_done") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if resp, _ := f.call(t, "GET", under+"/c1/events?after=2", ""); resp.StatusCode != 204 {
		t.Errorf("after the end: %d", resp.StatusCode)
	}
	for _, path := range []string{under + "/other/events", under + "/theirs/events", under + "/none/events"} {
		if resp, _ := f.call(t, "GET", path, ""); resp.StatusCode != 404 {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}
