package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

const asAgent = "Authorization: Bearer " + agentToken

func TestAgents(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.expect(t, "agents", "GET", "/projects/p1/agents", "")
	f.expect(t, "agent", "GET", "/projects/p1/agents/a1", "")
	f.expect(t, "agents_seen", "GET", "/agents", "")
	f.expect(t, "agents_seen_none", "GET", "/agents?hostname=nobody&provider=lxd&online=true", "")
	f.expect(t, "agents_seen_provider", "GET", "/agents?provider=cloud", "")
	f.expect(t, "agents_seen_online", "GET", "/agents?online=maybe", "")
	f.expect(t, "agent_missing", "GET", "/projects/p1/agents/none", "")
	f.expect(t, "agent_delete", "DELETE", "/projects/p1/agents/a1", "")
	f.expect(t, "agent_delete_again", "DELETE", "/projects/p1/agents/a1", "")
	if diff := cmp.Diff([]string{"a1"}, f.agents.forgot); diff != "" {
		t.Errorf("the hub forgot (-want +got):\n%s", diff)
	}
}

func TestInstallCommand(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.expect(t, "install_command", "GET", "/projects/p1/agents/install-command", "")
	f.expect(t, "install_command_once", "GET", "/projects/p1/agents/install-command?uses=1&expires_in_secs=3600", "")
	f.expect(t, "rotate", "POST", "/projects/p1/agents/rotate-install-token", "")
	f.expect(t, "rotate_once", "POST", "/projects/p1/agents/rotate-install-token", `{"uses":2,"expires_in_secs":60}`)
	f.expect(t, "install_command_bad", "GET", "/projects/p1/agents/install-command?uses=many", "")
	f.expect(t, "rotate_none", "POST", "/projects/p1/agents/rotate-install-token", `{"uses":0}`)
	f.expect(t, "rotate_bad", "POST", "/projects/p1/agents/rotate-install-token", `{"expires_in_secs":99999999}`)
	var got []string
	for _, o := range f.agents.orders {
		got = append(got, fmt.Sprint(o.ProjectID, " ", o.CreatedBy, " ", o.Life, " ", o.Uses, " ", o.Rotate))
	}
	want := []string{"p1 owner 0s 0 false", "p1 owner 1h0m0s 1 false", "p1 owner 0s 0 true", "p1 owner 1m0s 2 true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ordered (-want +got):\n%s", diff)
	}
	if n := len(f.people.entriesNow()); n != 7 { // who made a token is noted, also by a GET
		t.Errorf("%d entries in the audit", n)
	}
	f.agents.public = false
	f.expect(t, "install_command_nowhere", "GET", "/projects/p1/agents/install-command", "")
}

func TestInstallScript(t *testing.T) {
	t.Parallel()
	f := start(t)
	nobody := "Authorization: "
	resp := f.expect(t, "install_script", "GET", "/agents/p1/install.sh", "", nobody)
	if got := resp.Header.Get("Content-Type"); got != "text/x-shellscript; charset=utf-8" {
		t.Errorf("it is %s", got)
	}
	f.expect(t, "install_script_missing", "GET", "/agents/none/install.sh", "", nobody)
	f.agents.public = false
	f.expect(t, "install_script_nowhere", "GET", "/agents/p1/install.sh", "", nobody)
}

func TestAgentBinary(t *testing.T) {
	t.Parallel()
	f := start(t)
	nobody := "Authorization: "
	f.expect(t, "agent_binary_none", "GET", "/agents/binary/harvest-agent", "", nobody)
	path := filepath.Join(t.TempDir(), "harvest-agent")
	if err := os.WriteFile(path, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := strings.Repeat("ab", 32)
	f.agents.binary = domain.AgentBinary{Arch: "arm64", Path: path, SHA256: sum, Size: 7, Modified: day}
	resp, text := f.call(t, "GET", "/agents/binary/harvest-agent?arch=arm64", "", nobody)
	if resp.StatusCode != 200 || text != "program" || resp.Header.Get("ETag") != `"`+sum+`"` || resp.Header.Get("X-Checksum-Sha256") != sum {
		t.Errorf("%s %q %v", resp.Status, text, resp.Header)
	}
	if resp, _ := f.call(t, "GET", "/agents/binary/harvest-agent", "", nobody, `If-None-Match: "`+sum+`"`); resp.StatusCode != http.StatusNotModified {
		t.Errorf("who has it gets %s", resp.Status)
	}
	if resp, _ := f.call(t, "GET", "/agents/binary/harvest-agent?arch=amd64", "", nobody); resp.StatusCode != http.StatusNotFound {
		t.Errorf("of another architecture: %s", resp.Status)
	}
}

// An agent's stream carries messages as they come, and signs of life between them; it ends
// with the server.
func TestAgentEvents(t *testing.T) {
	t.Parallel()
	f := start(t)
	req, _ := http.NewRequest("GET", f.url+"/agent/events?hostname=box&machine=m1&version=1&capabilities=ack,%20bytes,", nil)
	req.Header.Set("Authorization", "Bearer hvi_good")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	f.agents.streams <- agentwire.Message{Type: agentwire.Registered, AgentToken: "hva_new"}
	f.agents.streams <- agentwire.Message{}
	f.agents.streams <- agentwire.Message{Type: agentwire.Execute, RequestID: "c1", Command: "echo '<a>'\n", TimeoutSecs: 30}
	all := &bytes.Buffer{}
	events := sse.NewReader(io.TeeReader(resp.Body, all), 1<<20)
	for _, want := range []string{
		`{"type":"registered","agent_token":"hva_new"}`,
		`{"type":"execute","request_id":"c1","command":"echo '<a>'\n","timeout_secs":30}`,
	} {
		if e, err := events.Next(); err != nil || strings.TrimSpace(string(e.Data)) != want {
			t.Errorf("%s, %v; want %s", e.Data, err, want)
		}
	}
	if !strings.Contains(all.String(), ": keep-alive\n\n") {
		t.Errorf("no sign of life in %q", all)
	}
	f.server.Drain()
	if _, err := events.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	want := []domain.AgentHello{{Hostname: "box", Machine: "m1", Version: "1", Capabilities: []string{"ack", "bytes"}}}
	if diff := cmp.Diff(want, f.agents.hellos); diff != "" {
		t.Errorf("it said (-want +got):\n%s", diff)
	}
}

// An agent that connects as the server stops is told so, and connects again at once.
func TestAgentConnectsToAServerThatStops(t *testing.T) {
	t.Parallel()
	f := start(t)
	go func() {
		<-f.agents.streams
		f.server.Drain()
	}()
	f.expect(t, "agent_stopping", "GET", "/agent/events?hostname=slow", "", asAgent)
}

func TestAgentPosts(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.expect(t, "agent_ping", "POST", "/agent/ping", "", asAgent)
	f.expect(t, "agent_ping_elsewhere", "POST", "/agent/ping?machine=other", "", asAgent)
	f.expect(t, "agent_started", "POST", "/agent/started", `{"request_id":"c1"}`, asAgent)
	f.expect(t, "agent_started_missing", "POST", "/agent/started", `{"request_id":"c2"}`, asAgent)
	f.expect(t, "agent_output", "POST", "/agent/output", `{"request_id":"c1","chunks":[{"stream":"stdout","offset":0,"data":"aABv"}],"stdout_bytes":3}`, asAgent)
	f.expect(t, "agent_line", "POST", "/agent/output", `{"request_id":"c1","stream":"stderr","line":""}`, asAgent)
	f.expect(t, "agent_result", "POST", "/agent/results", `{"request_id":"c1","outcome":"exited","exit_code":0,"stdout_head":"aGk=","stdout_bytes":2,"stdout":""}`, asAgent)
	f.expect(t, "agent_result_missing", "POST", "/agent/results", `{"request_id":"c2","stdout":"","stderr":"","exit_code":1}`, asAgent)
	f.expect(t, "agent_stranger", "POST", "/agent/ping", "", "Authorization: Bearer hva_other")
	f.expect(t, "agent_person", "POST", "/agent/ping", "")
	f.expect(t, "agent_nobody", "GET", "/agent/events?hostname=x", "", "Authorization: Bearer hvi_bad")
	if got := f.agents.outputs[0].Chunks[0]; string(got.Data) != "h\x00o" {
		t.Errorf("the chunk is %q", got.Data)
	}
	if line := f.agents.lines[1]; line == nil || len(line) != 0 || f.agents.lines[0] != nil {
		t.Errorf("the lines are %q", f.agents.lines)
	}
	if got := f.agents.results[0]; string(got.StdoutHead) != "hi" || got.StdoutBytes != 2 {
		t.Errorf("the result is %+v", got)
	}
}

// A machine that the agent was taken off leaves its project; a copy of its disk has no say in that.
func TestAgentLeaves(t *testing.T) {
	t.Parallel()
	f := start(t)
	a := f.agents.agents["a1"]
	set := func(change func(a *domain.Agent)) {
		f.agents.mu.Lock()
		defer f.agents.mu.Unlock()
		changed := a
		change(&changed)
		f.agents.agents["a1"] = changed
	}
	f.expect(t, "agent_leave_elsewhere", "POST", "/agent/leave?machine=other", "", asAgent)
	set(func(a *domain.Agent) { a.Online = true })
	f.expect(t, "agent_leave_online", "POST", "/agent/leave?machine=m1", "", asAgent)
	set(func(a *domain.Agent) { a.Provider = domain.ProviderLXD })
	f.expect(t, "agent_leave_container", "POST", "/agent/leave?machine=m1", "", asAgent)
	set(func(*domain.Agent) {})
	f.expect(t, "agent_leave", "POST", "/agent/leave?machine=m1", "", asAgent)
	f.expect(t, "agent_left", "GET", "/projects/p1/agents/a1", "")
}

// Whatever bytes a plain agent sends are kept, though they are no UTF-8.
func TestAgentBytesAreKept(t *testing.T) {
	t.Parallel()
	f := start(t)
	for sent, want := range map[string]string{
		`plain`:                     "plain",
		`a\nb\\c\"d\u0000\u00e9`:    "a\nb\\c\"d\x00é",
		`\ud83d\ude00 and \ud83d\n`: "😀 and \ufffd\n",
		"\xff\xfe \\t\xc3":          "\xff\xfe \t\xc3",
		``:                          "",
	} {
		body := []byte(`{"request_id":"c1","exit_code":0,"stderr":"","stdout":"` + sent + `"}`)
		req, _ := http.NewRequest("POST", f.url+"/agent/results", bytes.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+agentToken)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		f.agents.mu.Lock()
		got := f.agents.results[len(f.agents.results)-1]
		f.agents.mu.Unlock()
		if resp.StatusCode != 200 || string(got.StdoutHead) != want || got.StdoutBytes != int64(len(want)) {
			t.Errorf("%s: %q arrives as %q of %d bytes, want %q", resp.Status, sent, got.StdoutHead, got.StdoutBytes, want)
		}
	}
	f.expect(t, "agent_result_number", "POST", "/agent/results", `{"request_id":"c1","stdout":5}`, asAgent)
}

// The results of plain agents may be of any length that a machine still sends in one piece: no
// more of them is held than what is kept.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	f := start(t)
	const middle = 20 << 20
	out := strings.Repeat("h", agentwire.HeadBytes) + strings.Repeat(`\n`, middle) + strings.Repeat("t", agentwire.TailBytes-1) + `\u00e9`
	body := `{"stderr":"short","request_id":"c1","stdout":"` + out + `","exit_code":3}`
	if resp, text := f.call(t, "POST", "/agent/results", body, asAgent); resp.StatusCode != 200 {
		t.Fatalf("%s %s", resp.Status, text)
	}
	got := f.agents.results[0]
	if got.RequestID != "c1" || got.ExitCode == nil || *got.ExitCode != 3 || string(got.StderrHead) != "short" {
		t.Errorf("the result is of %s, code %v, stderr %q", got.RequestID, got.ExitCode, got.StderrHead)
	}
	if got.StdoutBytes != agentwire.HeadBytes+middle+agentwire.TailBytes+1 || string(got.StdoutHead) != strings.Repeat("h", agentwire.HeadBytes) ||
		string(got.StdoutTail) != strings.Repeat("t", agentwire.TailBytes-2)+"é" {
		t.Errorf("of stdout %d bytes came, of which %d and %d are kept", got.StdoutBytes, len(got.StdoutHead), len(got.StdoutTail))
	}
	body = `{"request_id":"c1","exit_code":0,"error":"` + strings.Repeat("x", 9<<20) + `"}`
	if resp, text := f.call(t, "POST", "/agent/results", body, asAgent); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a reason of 9 MiB: %s %s", resp.Status, text)
	}
}

// What is wrong with a post is said of the field that it is in.
func TestAgentPostFaults(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, c := range []struct{ path, body, want string }{
		{"/agent/results", `{"request_id":5}`, "request_id: must be a string, not a number"},
		{"/agent/results", `{"request_id":"c1","exit_code":1.5}`, "exit_code: must be a whole number, not 1.5"},
		{"/agent/results", `{"request_id":"c1","exit_code":"1"}`, "exit_code: must be a whole number, not a string"},
		{"/agent/results", `{"request_id":"c1","stdout":{"stdout":"x"}}`, "stdout: must be a string, not an object"},
		{"/agent/results", `{"request_id":"c1","stdout":"a` + "\n" + `b"}`, "stdout: holds a control character that is not escaped"},
		{"/agent/results", `{"request_id":"c1","stderr":"a\x"}`, "stderr: holds an escape that JSON has not"},
		{"/agent/results", `{"request_id":"c1","stderr":"a\u12"}`, "stderr: holds an escape that JSON has not"},
		{"/agent/results", `{"request_id":"c1","stdout":"abc`, "the body did not arrive whole"},
		{"/agent/results", `{"request_id":"c1","stdout":"abc\`, "the body did not arrive whole"},
		{"/agent/results", `{"request_id":"c1","stdout":"abc"`, "the body is not valid JSON: "},
		{"/agent/results", `{"request_id":"c1","stdout":"abc"} x`, "the body is not valid JSON: "},
		{"/agent/results", `["stdout":"abc"]`, "the body must be a JSON object"},
		{"/agent/results", `{"request_id":"c1","outcome":"exited","stdout_head":"aGk=","stdout_tail":"a"}`, "stdout_tail: must be base64"},
		{"/agent/output", `{"request_id":"c1","chunks":[{"stream":"stdout","data":"aGk="},{"stream":"stdout","data":"@"}]}`, "chunks.data: must be base64"},
		{"/agent/output", `{"request_id":"c1","stream":"stdout","line":5}`, "line: must be a string"},
	} {
		resp, text := f.call(t, "POST", c.path, c.body, asAgent)
		var got struct{ Error string }
		if err := json.Unmarshal([]byte(text), &got); err != nil || resp.StatusCode != http.StatusBadRequest || !strings.HasPrefix(got.Error, c.want) {
			t.Errorf("%s %s: %s %s, want %s", c.path, c.body, resp.Status, text, c.want)
		}
	}
}
