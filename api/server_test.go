package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/google/go-cmp/cmp"
	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/internal/obs"
	"go.uber.org/goleak"
)

const token = "the-owner-token-of-the-tests"

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the provider of the sign-in tests tells of each request
	for _, kind := range []string{"text/markdown", "text/html", "text/x-shellscript"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
	}
	goleak.VerifyTestMain(m)
}

// fixture is a running API with fakes behind it.
type fixture struct {
	machines  *fakeMachines
	engine    *fakeEngine
	actions   *fakeActions
	graph     *fakeGraph
	projects  *fakeProjects
	people    *fakePeople
	talks     *fakeTalks
	agents    *fakeAgents
	commands  *fakeCommands
	sessions  *fakeSessions
	forwards  *fakeForwards
	providers *fakeProviders
	server    *api.Server
	url       string
	log       *lockedBuffer
}

func start(t testing.TB, changes ...func(*api.Config)) *fixture {
	t.Helper()
	f := &fixture{engine: newFakeEngine(), actions: newFakeActions(), graph: &fakeGraph{read: day}, projects: newFakeProjects(), talks: newFakeTalks(), agents: newFakeAgents(), sessions: newFakeSessions(), forwards: newFakeForwards(), people: newFakePeople(), providers: &fakeProviders{}, log: &lockedBuffer{}}
	f.machines = &fakeMachines{agents: f.agents}
	f.commands = newFakeCommands()
	log, err := obs.New(f.log, obs.FormatJSON, "debug", "test")
	if err != nil {
		t.Fatal(err)
	}
	cfg := api.Config{
		Actions: f.actions,
		Turns:   f.engine, Ingests: f.engine, Projects: f.projects, Conversations: f.talks, Workspaces: f.talks, Skills: library.NewSkills(noShelf{}), Artifacts: library.NewArtifacts(noShelf{}), Memories: library.NewMemories(noShelf{}), Secrets: newVault(), Agents: f.agents, AgentHub: f.agents, Machines: f.machines, Sessions: f.sessions, Forwards: f.forwards, People: f.people, Auditor: f.people, Sources: f.graph, Graph: f.graph, Providers: f.providers, Describer: fakeDescriber{},
		Log: log, OwnerToken: token, Commands: f.commands,
	}
	for _, change := range changes {
		change(&cfg)
	}
	f.server, err = api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(f.server)
	server.Config = f.server.HTTP()
	server.Start()
	t.Cleanup(func() {
		f.server.Drain()
		server.CloseClientConnections()
		server.Close()
	})
	f.url = server.URL
	return f
}

// call sends a request with the owner's token; headers are "Name: value".
func (f *fixture) call(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("X-Request-Id", "req-1")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: read: %v", method, path, err)
	}
	if len(body) < 1<<20 { // every call of every test is held against the document
		checkContract(t, req, body, resp, string(text))
	}
	return resp, string(text)
}

// expect calls and compares status and body with testdata/name.golden.
func (f *fixture) expect(t *testing.T, name, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	resp, text := f.call(t, method, path, body, headers...)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(text), "", "  "); err != nil {
		pretty.Reset()
		pretty.WriteString(text)
	}
	golden(t, name, method+" "+path+"\n"+resp.Status+"\n"+strings.TrimSpace(pretty.String())+"\n")
	return resp
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// answers makes every turn end at once with an answer.
func (f *fixture) answers() {
	f.engine.onStart = func(id string) {
		f.engine.emit(id, domain.EventUserMessage, `{"query":"q","username":"owner","attachments":[]}`)
		f.engine.emit(id, domain.EventTextDelta, `{"text":"It starts in main [team/app:v1:a.go:3]."}`)
		f.engine.end(id, answered)
	}
}

var answered = domain.Turn{
	Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "It starts in main [team/app:v1:a.go:3].",
	Sources:       []domain.Source{{Repo: "team/app", Version: "v1", File: "a.go", Line: 3, Symbol: "main", Verified: true}},
	ToolCallsMade: 2, ProviderUsed: &domain.ProviderUsed{ProviderID: "primary", Kind: "anthropic", Model: "m"},
	Usage: domain.Usage{InputTokens: 10, OutputTokens: 5, Cost: 0.01},
}

func ended(code domain.Code, text string) domain.Turn {
	at := day.Add(time.Second)
	return domain.Turn{Status: domain.TurnFailed, Reason: domain.EndFailed, ErrorCode: code, Error: text, EndedAt: &at}
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.answers()
	run := domain.Ingest{ID: "run-9", Repository: "team/app", Kind: domain.IngestRead, Status: domain.IngestDone, CreatedAt: day,
		Versions: []domain.IngestProgress{{Repository: "team/app", Version: "v1", Phase: "done", FilesDone: 2, FilesTotal: 2}}}
	f.engine.runs["run-9"] = run
	cases := []struct{ name, method, path, body string }{
		{"health", "GET", "/health", ""},
		{"auth_config", "GET", "/auth/config", ""},
		{"query", "POST", "/query", `{"query":"Where does it start?","unknown":1}`},
		{"turn", "GET", "/turns/turn-1", ""},
		{"cancel", "POST", "/turns/turn-1/cancel", ""},
		{"turn_unknown", "GET", "/turns/none", ""},
		{"tool_description", "POST", "/tool-description", `{"name":"search_symbols","input":{"query":"a"}}`},
		{"providers", "GET", "/llm/providers", ""},
		{"providers_bad_flag", "GET", "/llm/providers?refresh=maybe", ""},
		{"repositories", "GET", "/repositories", ""},
		{"repository_add", "POST", "/repositories", `{"url":"https://git.example.com/x.git","name":"x","refs":["main"],"watch":"5m"}`},
		{"repository_add_no_url", "POST", "/repositories", `{}`},
		{"repository_add_watch", "POST", "/repositories", `{"url":"x","watch":"1s"}`},
		{"repository_ingest", "POST", "/repositories/team%2Fapp/ingest", ""},
		{"repository_ingest_unknown", "POST", "/repositories/unknown/ingest", "{}"},
		{"repository_delete", "DELETE", "/repositories/team%2Fapp", ""},
		{"ingest", "GET", "/ingests/run-9", ""},
		{"ingest_unknown", "GET", "/ingests/none", ""},
		{"graph", "GET", "/graph/team%2Fapp/v1", ""},
		{"graph_slash", "GET", "/graph/team%2Fapp/v1.1%2Frc", ""},
		{"graph_unknown", "GET", "/graph/team%2Fapp/v9", ""},
		{"source_function", "GET", "/graph/team%2Fapp/v1/source?file=a.go&name=main", ""},
		{"source_class", "GET", "/graph/team%2Fapp/v1/source?file=a.go&name=Server", ""},
		{"source_constant", "GET", "/graph/team%2Fapp/v1/source?file=a.go&name=Max", ""},
		{"source_ambiguous", "GET", "/graph/team%2Fapp/v1/source?file=a.go&name=Close", ""},
		{"source_line", "GET", "/graph/team%2Fapp/v1/source?file=a.go&name=Close&line=41", ""},
		{"source_receiver", "GET", "/graph/team%2Fapp/v1/source?file=a.go&name=B.Close", ""},
		{"source_unknown", "GET", "/graph/team%2Fapp/v1/source?file=a.go&name=None", ""},
		{"source_bad_line", "GET", "/graph/team%2Fapp/v1/source?file=a.go&name=main&line=x", ""},
		{"source_no_name", "GET", "/graph/team%2Fapp/v1/source?file=a.go", ""},
		{"no_route", "GET", "/nowhere", ""},
		{"no_method", "PUT", "/query", ""},
	}
	for _, c := range cases {
		resp := f.expect(t, c.name, c.method, c.path, c.body)
		if resp.Header.Get("X-Request-Id") != "req-1" {
			t.Errorf("%s: request id %q", c.name, resp.Header.Get("X-Request-Id"))
		}
	}
	if got := f.engine.ingests[1]; got.Name != "team/app" || !got.AnyPath {
		t.Errorf("ingest request %+v", got)
	}
	if got := f.engine.ingests[0]; got.Watch != 5*time.Minute || got.Refs[0] != "main" || got.UserID != domain.OwnerID {
		t.Errorf("add request %+v", got)
	}
	if f.engine.deleted[0] != "team/app" {
		t.Errorf("deleted %v", f.engine.deleted)
	}
}
