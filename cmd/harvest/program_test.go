package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func TestCommandLine(t *testing.T) {
	t.Parallel()
	h := home{dir: t.TempDir()}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", exitOK, ""},
		{"version", exitOK, ""},
		{"completion bash", exitOK, ""},
		{"nonsense", exitUsage, "nonsense"},
		{"ask", exitUsage, "what is the question"},
		{"up --port x", exitUsage, "--port"},
		{"ingest a b", exitUsage, "name one repository"},
		{"demo a b", exitUsage, "name one repository"},
		{"demo nowhere --once", exitFailed, "there is no folder nowhere"},
		{"ask why --config nowhere.toml", exitFailed, "nowhere.toml"},
		{"ask why", exitFailed, "harvest up"},
		{"serve", exitFailed, "DATABASE_URL"},
		{"worker", exitFailed, "DATABASE_URL"},
		{"migrate", exitFailed, "DATABASE_URL"},
		{"ui", exitFailed, "harvest up"},
		{"ingest https://git.example.com/a --token-env NOT_SET", exitUsage, "--token-env"},
		{"ingest git@git.example.com:a --ssh-key nowhere", exitFailed, "nowhere"},
		{"ingest git@git.example.com:a --ssh-key a --token-env B", exitUsage, "ssh-key"},
	} {
		out, errs, code := h.run(t, strings.Fields(c.args)...)
		wantCode(t, c.code, code, errs)
		wantParts(t, errs, c.says)
		if code == exitOK && out == "" {
			t.Errorf("harvest %s prints nothing", c.args)
		}
		if code != exitOK && out != "" {
			t.Errorf("harvest %s prints what is no answer:\n%s", c.args, out)
		}
	}
}

func TestFaultsOfTheConfigurationHaveLines(t *testing.T) {
	t.Parallel()
	h := home{dir: t.TempDir()}
	h.write(t, defaultConfig, "[server]\nport = 8080\nprot = 1\n")
	for _, command := range []string{"up", "doctor", "ask x"} {
		out, errs, code := h.run(t, strings.Fields(command)...)
		wantCode(t, exitFailed, code, errs)
		wantParts(t, out+errs, defaultConfig+":3", "prot")
	}
}

// A section that does nothing yet says so wherever the configuration takes effect.
func TestNoticesOfTheConfiguration(t *testing.T) {
	t.Parallel()
	h := home{dir: t.TempDir()}
	h.write(t, defaultConfig, "[auth]\njwt_secret = \"this is not to be shown\"\n\n[ui]\nenable_docs = true\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	for _, args := range []string{"up --port " + port, "demo --once --port " + port + " .", "serve", "worker", "doctor"} {
		out, errs, _ := h.run(t, strings.Fields(args)...)
		wantParts(t, out+errs, "ui", "is checked, but not yet active")
		if strings.Contains(out+errs, "this is not to be shown") {
			t.Errorf("harvest %s shows a secret", args)
		}
	}
}

func TestDemoOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	repo := h.sample(t)
	out, errs, code := h.run(t, append([]string{"demo", repo, "--once"}, h.ports...)...)
	wantCode(t, exitOK, code, errs)
	wantParts(t, out, "starting PostgreSQL", "starting Temporal", "sample main  2 files",
		"> How does Greet work, and who calls it?", "Searching codebase", "Greet greets",
		"+ greet.go:4  Greet", "! greet.go:400", "http://127.0.0.1:"+h.ports[1])
	if _, err := os.Stat(filepath.Join(h.dir, ".harvest", instanceFile)); err == nil {
		t.Error("the end of the demo left its address behind")
	}
	out, errs, code = h.run(t, append([]string{"demo", repo, "--once", "--question", "What is refused?"}, h.ports...)...)
	wantCode(t, exitFailed, code, errs)
	wantParts(t, out+errs, "the turn failed")
}

// answered is what scripts read of ask --json.
type answered struct {
	Answer        string          `json:"answer"`
	Sources       []domain.Source `json:"sources"`
	ToolCallsMade int             `json:"tool_calls_made"`
	ProviderUsed  struct {
		Kind string `json:"kind"`
	} `json:"provider_used"`
	TurnID string `json:"turn_id"`
}

func TestWholeIsKilledInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	repo := h.sample(t)
	up := h.up(t)

	_, errs, code := h.run(t, append([]string{"up"}, h.ports...)...)
	wantCode(t, exitFailed, code, errs)
	wantParts(t, errs, "already", strconv.Itoa(up.Process.Pid))
	_, errs, code = h.run(t, append([]string{"up", "--data-dir", "other"}, h.ports...)...)
	wantCode(t, exitFailed, code, errs)
	wantParts(t, errs, "port "+h.ports[1], "--port")
	out, errs, code := h.run(t, "ingest", repo)
	wantCode(t, exitOK, code, errs)
	wantParts(t, out, "+ sample main  2 files")
	_, errs, code = h.run(t, "ingest", filepath.Join(h.dir, "nowhere"))
	wantCode(t, exitFailed, code, errs)
	wantParts(t, errs, "nowhere")
	out, errs, code = h.run(t, "doctor")
	wantCode(t, exitOK, code, out+errs)
	wantParts(t, out, "Everything is well", "encryption", "active key", "0 open runs or watches", "process "+strconv.Itoa(up.Process.Pid))
	wantAnswer(t, h)
	wantForward(t, h)

	turnID := begin(t, h)
	_ = up.Process.Kill()
	for _, pid := range serversOf(t, h) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_, errs, code = h.run(t, "ask", "why?")
	wantCode(t, exitFailed, code, errs)
	wantParts(t, errs, "harvest up")

	h.up(t)
	turn := await(t, h, turnID)
	if turn.Status != domain.TurnDone || !strings.Contains(turn.Answer, "Greet is slow") {
		t.Errorf("the turn ended %s with %q, error %q", turn.Status, turn.Answer, turn.Error)
	}
	wantAnswer(t, h)
}

// wantAnswer asks as a script would.
func wantAnswer(t *testing.T, h home) {
	t.Helper()
	out, errs, code := h.run(t, "ask", "What", "greets?", "--json")
	wantCode(t, exitOK, code, errs)
	var a answered
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if a.TurnID == "" || a.ProviderUsed.Kind != "scripted" || a.ToolCallsMade != 1 || len(a.Sources) != 2 ||
		!a.Sources[0].Verified || a.Sources[0].Symbol != "Greet" || a.Sources[1].Verified {
		t.Errorf("the answer is %s", out)
	}
	if strings.Count(out, "\n") != 1 {
		t.Errorf("the answer is not one line:\n%s", out)
	}
}

// wantForward opens the Temporal UI by its customary port, and the link that signs in.
func wantForward(t *testing.T, h home) {
	t.Helper()
	still := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for address, want := range map[string]string{
		"http://127.0.0.1:" + h.ports[5]:                     "http://127.0.0.1:" + h.ports[1] + "/temporal/",
		"http://localhost:" + h.ports[5] + "/temporal/a?b=c": "http://localhost:" + h.ports[1] + "/temporal/a?b=c",
	} {
		answer, err := still.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Location"); got != want {
			t.Errorf("%s goes to %q, want %q", address, got, want)
		}
	}
	link, errs, code := h.run(t, "ui")
	wantCode(t, exitOK, code, errs)
	answer, err := still.Get(strings.TrimSpace(link))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther || len(answer.Cookies()) == 0 {
		t.Errorf("the link %s gives %s", link, answer.Status)
	}
}

func connectTo(t *testing.T, h home) *client.Client {
	t.Helper()
	dir := filepath.Join(h.dir, ".harvest")
	running, err := readInstance(dir)
	if err != nil {
		t.Fatal(err)
	}
	token, err := readToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(running.API, token, patience)
	t.Cleanup(c.Close)
	return c
}

// begin asks the slow question, and gives the turn's id once its first step is done.
func begin(t *testing.T, h home) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	id, events, err := connectTo(t, h).Ask(ctx, client.Query{Query: "What is slow?"}, domain.NewID())
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type == domain.EventToolResult {
			return id
		}
	}
	t.Fatal("the turn ended before its tool was done")
	return ""
}

// await follows a turn to its end.
func await(t *testing.T, h home, id string) domain.Turn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	api := connectTo(t, h)
	for event, err := range api.FollowTurn(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type.Terminal() {
			break
		}
	}
	turn, err := api.Turn(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}
