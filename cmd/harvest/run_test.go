package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// endOf is the last event of a command.
func endOf(status, more string) string {
	return fmt.Sprintf(`{"type":"command_done","status":%q,"exit_code":null,"error":"","stdout_bytes":3,"stderr_bytes":0%s}`, status, more)
}

const hello = `{"type":"command_output","stream":"stdout","offset":0,"text":"hi\n"}`

// runs has a command of web1 run as events tell.
func (m *machines) runs(events ...string) {
	m.answer("POST "+ofWeb1+"/execute", `{"command_id":"c1","status":"queued"}`)
	m.answer("GET /commands/c1", `{"id":"c1","project_id":"p1","agent_id":"a1","hostname":"web1","status":"running"}`)
	m.stream("GET "+ofWeb1+"/commands/c1/events", events...)
}

func TestRunHandsOnHowACommandEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end  string
		code int
		says string
	}{
		{endOf("done", `,"exit_code":0`), exitOK, ""},
		{endOf("done", `,"exit_code":7`), 7, ""},
		{endOf("timed_out", `,"exit_code":137`), exitTimedOut, "time limit"},
		{endOf("canceled", ""), exitStopped, "canceled"},
		{endOf("done", `,"exit_code":0,"error":"a part of its output could not be kept"`), exitOK, "could not be kept"},
		{endOf("done", ""), exitFailed, "without an exit code"},
		{endOf("failed", `,"error":"it could not be started: no fork"`), exitNotRun, "no fork; it never ran"},
		{endOf("expired", ""), exitNotRun, "was not connected in time; it never ran; start harvest-agent there"},
		{endOf("rejected", `,"error":"rejected by Grace; it never ran"`), exitNotRun, "rejected by Grace"},
		{endOf("unknown", `,"error":"no result came from web1 in time"`), exitUnknown, "no result came from web1 in time; look how things stand"},
		{endOf("melted", ""), exitFailed, "it ended as \"melted\""},
	} {
		m, ada := newMachines(t)
		m.runs(`{"type":"command_started","hostname":"web1","command":"x"}`, hello, `{"type":"command_output","stream":"stderr","offset":0,"data":"/wo="}`, c.end)
		out, errs := ada.run(c.code, "", "run", "web1", "--timeout", "90s", "--env", "T=secret://S", "--", "echo", "it's", "$x")
		if out != "hi\n" || !strings.HasPrefix(errs, "\xff\n") || !strings.Contains(errs, c.says) || c.says == "" && errs != "\xff\n" {
			t.Errorf("%s:\n%s\n%s", c.end, out, errs)
		}
		m.wants(t, "POST "+ofWeb1+`/execute {"command":"echo 'it'\\''s' '$x'","env":{"T":"secret://S"},"timeout_secs":90,"detach":true}`)
		ada.run(c.code, "", "agents", "logs", "c1")
	}
}

// A line of one argument is bash's; its output is bytes, the end of a long one too.
func TestRunOfALineWithMuchOutput(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("POST "+ofWeb1+"/execute", `{"command_id":"c1","status":"queued"}`)
	m.answer("GET /commands/c1", `{"id":"c1","stdout":{"head":"aGkK","tail":"/25k","bytes":5000000,"cut":4999990},"stderr":{"head":"","tail":"","bytes":0,"cut":0}}`)
	m.stream("GET "+ofWeb1+"/commands/c1/events", hello, `{"type":"command_skipped","stdout_bytes":2000000,"stderr_bytes":0}`, `{"type":"command_skipped","stdout_bytes":4000000,"stderr_bytes":0}`,
		`{"type":"command_done","status":"done","exit_code":0,"stdout_bytes":5000000,"stderr_bytes":0}`)
	out, errs := ada.run(exitOK, "", "run", "web1", "--", "yes | head")
	if out != "hi\n\xffnd" || strings.Count(errs, "more than is shown") != 1 || !strings.Contains(errs, "4999990 bytes of the standard output are left out") {
		t.Errorf("%q, %s", out, errs)
	}
	m.wants(t, "POST "+ofWeb1+`/execute {"command":"yes | head","detach":true}`)
}

func TestRunsThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("POST /projects/p1/agents/a2/execute", `{"command_id":"c1","action_id":"act-1","status":"pending"}`)
	out, errs := ada.run(exitOK, "", "run", "box", "--detach", "--wait", "1h", "--", "ls")
	if out != "c1\n" || !strings.Contains(errs, "waits for approval") || !strings.Contains(errs, "harvest actions approve act-1") || !strings.Contains(errs, "harvest agents logs c1") {
		t.Errorf("%q, %s", out, errs)
	}
	m.wants(t, `POST /projects/p1/agents/a2/execute {"command":"ls","wait_secs":3600,"detach":true}`)
	m.answer("POST "+ofWeb1+"/execute", `400 invalid_request: command: must not be empty`)
	ada.says(exitNotRun, "", []string{"must not be empty"}, "run", "web1", "--", "")
	ada.says(exitNotRun, "", []string{"there is no machine"}, "run", "web9", "--", "ls")
	ada.says(exitUsage, "", []string{"run MACHINE -- COMMAND"}, "run", "web1")
	ada.says(exitUsage, "", []string{"behind --"}, "run", "web1", "ls", "-la")
	ada.says(exitUsage, "", []string{"--timeout 0s", "more than nothing"}, "run", "web1", "--timeout", "0s", "--", "ls")
	ada.says(exitUsage, "", []string{"--wait 0s", "more than nothing"}, "run", "web1", "--wait", "0s", "--", "ls")
	ada.says(exitUsage, "", []string{"--timeout 10m", "at most 5m"}, "run", "web1", "--timeout", "10m", "--", "ls")
	ada.says(exitUsage, "", []string{"--wait"}, "run", "web1", "--wait", "-1s", "--", "ls")
	ada.says(exitUsage, "", []string{"--env"}, "run", "web1", "--env", "T", "--", "ls")
}

func TestRunAsJSON(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.runs(hello, endOf("done", `,"exit_code":3`))
	out, _ := ada.run(3, "", "run", "web1", "--json", "--", "ls")
	var x domain.CommandInfo
	if err := json.Unmarshal([]byte(out), &x); err != nil || x.ID != "c1" {
		t.Errorf("%s: %v", out, err)
	}
}

// interrupted runs a command beside the test, on a command that ends when canceled does.
func TestCtrlCAsksForTheEnd(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("POST "+ofWeb1+"/execute", `{"command_id":"c1","status":"queued"}`)
	asked, begun := make(chan struct{}), make(chan struct{})
	m.HandleFunc("POST "+ofWeb1+"/commands/c1/cancel", func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		fmt.Fprint(w, "{}")
	})
	m.HandleFunc("GET "+ofWeb1+"/commands/c1/events", func(w http.ResponseWriter, r *http.Request) {
		writeEvents(w, hello)
		close(begun)
		<-asked
		fmt.Fprintf(w, "id: 2\ndata: %s\n\n", endOf("canceled", ""))
	})
	ctx, interrupt := context.WithCancel(t.Context())
	over := ada.beside(ctx, nil, "run", "web1", "--", "sleep 60")
	<-begun
	interrupt()
	if code, text := over(); code != exitStopped || !strings.Contains(text, "asking for the end") || !strings.Contains(text, "it was canceled") {
		t.Errorf("%d:\n%s", code, text)
	}
}

func TestASecondCtrlCWaitsNoLonger(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("POST "+ofWeb1+"/execute", `{"command_id":"c1","status":"queued"}`)
	m.answer("POST "+ofWeb1+"/commands/c1/cancel", `409 conflict: the agent of web1 can't end what it runs`)
	begun := make(chan struct{})
	m.HandleFunc("GET "+ofWeb1+"/commands/c1/events", func(w http.ResponseWriter, r *http.Request) {
		writeEvents(w, hello)
		close(begun)
		<-r.Context().Done()
	})
	ctx, interrupt := context.WithCancel(t.Context())
	again := make(chan os.Signal, 1)
	over := ada.beside(ctx, again, "run", "web1", "--", "sleep 60")
	<-begun
	interrupt()
	again <- os.Interrupt
	if code, text := over(); code != exitStopped || !strings.Contains(text, "its end was asked for, and is not waited for; see what becomes of it with: harvest agents logs c1") {
		t.Errorf("%d:\n%s", code, text)
	}
	if calls := m.called("POST " + ofWeb1 + "/commands/c1/cancel"); len(calls) > 1 {
		t.Errorf("canceled %d times", len(calls))
	}
}

// beside runs a command beside the test, until ctx is its Ctrl-C; over gives its exit code and
// all that it writes.
func (p *teamProgram) beside(ctx context.Context, again chan os.Signal, args ...string) (over func() (int, string)) {
	p.t.Helper()
	file, err := os.Create(filepath.Join(p.dir, "beside"))
	if err != nil {
		p.t.Fatal(err)
	}
	prog := &program{dataDir: filepath.Join(p.dir, "data"), in: os.Stdin, out: file, errs: file, interrupts: again,
		env: func(name string) (string, bool) { value, ok := p.env[name]; return value, ok }}
	ended := make(chan int, 1)
	go func() { ended <- prog.run(ctx, args) }()
	return func() (int, string) {
		code := <-ended
		file.Close()
		text, err := os.ReadFile(file.Name())
		if err != nil {
			p.t.Fatal(err)
		}
		return code, string(text)
	}
}

func TestCommandsOfAMachine(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("GET "+ofWeb1+"/commands", `{"commands":[{"id":"c2","status":"timed_out","command":"sleep\n9","created_at":"2026-11-30T10:00:00Z"},{"id":"c1","status":"done","exit_code":7,"command":"false","created_at":"2026-11-30T10:00:00Z"}],"next_cursor":"c1"}`)
	ada.says(exitOK, "", []string{"c2", "timed out", `sleep\n9`, "c1", "7", "--before c1"}, "agents", "commands", "web1", "--limit", "2")
	m.wants(t, "GET "+ofWeb1+"/commands?limit=2")
	ada.says(exitOK, "", []string{`"exit_code": 7`}, "agents", "commands", "web1", "--json", "--before", "c9")
	m.wants(t, "GET "+ofWeb1+"/commands?cursor=c9&limit=50")
	ada.says(exitUsage, "", []string{"--limit"}, "agents", "commands", "web1", "--limit", "0")

	m.answer("GET /commands/c1", `{"id":"c1","project_id":"p1","agent_id":"a1","hostname":"web1","status":"unknown","late":{"status":"done","exit_code":3,"at":"2026-11-30T10:00:00Z"}}`)
	m.answer("GET /commands/c9", `404 not_found: there is no command "c9"`)
	m.answer("POST "+ofWeb1+"/commands/c1/cancel", `{}`)
	m.stream("GET "+ofWeb1+"/commands/c1/events", hello, endOf("unknown", ""))
	ada.says(exitOK, "", []string{"asked for the end of the command on web1"}, "agents", "cancel", "c1")
	ada.says(exitUnknown, "", []string{"hi\n", "web1 told later: it ended with exit code 3"}, "agents", "logs", "c1")
	ada.says(exitOK, "", []string{`{"event_id":"1","type":"command_output"`}, "agents", "logs", "c1", "--json")
	ada.says(exitNotRun, "", []string{"there is no command"}, "agents", "logs", "c9")
	ada.says(exitFailed, "", []string{"there is no command"}, "agents", "cancel", "c9")
	ada.says(exitUsage, "", []string{"harvest agents commands"}, "agents", "logs")
}
