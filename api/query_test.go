package api_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/rs/zerolog"
)

type failure struct {
	Error     string
	Code      string
	RequestID string `json:"request_id"`
	Field     string
}

func failureOf(t *testing.T, text string) failure {
	t.Helper()
	var f failure
	if err := json.Unmarshal([]byte(text), &f); err != nil || f.Error == "" || f.Code == "" || f.RequestID == "" {
		t.Fatalf("not an error envelope: %q (%v)", text, err)
	}
	return f
}

func TestQueryPassesEverythingOn(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.answers()
	resp, text := f.call(t, "POST", "/query", `{"query":"a\u00e9 <b>","conversation_id":"c1","repositories":["team/app"],"versions":["v1"],
		"provider_id":"primary","model":"m","attachments":[{"name":"n.txt","mime_type":"text/plain; charset=utf-8","data":"aGk="}]}`,
		"Idempotency-Key: k1")
	if resp.StatusCode != 200 || resp.Header.Get("X-Turn-Id") != "turn-1" {
		t.Fatalf("%d, turn %q: %s", resp.StatusCode, resp.Header.Get("X-Turn-Id"), text)
	}
	got := f.engine.requests[0]
	want := domain.TurnRequest{UserID: "owner", UserName: "owner", ConversationID: "c1", Query: "aé <b>", Repositories: []string{"team/app"}, Versions: []string{"v1"},
		Attachments: []domain.Attachment{{Name: "n.txt", MimeType: "text/plain; charset=utf-8", Data: []byte("hi")}},
		Provider:    domain.ProviderSelection{ProviderID: "primary", Model: "m"}, IdempotencyKey: "k1"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestQueryOutcomes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		end    domain.Turn
		status int
		code   domain.Code
		text   string
	}{
		{"timeout", ended(domain.CodeTimeout, "the model gave no first word within 120 s"), 504, domain.CodeTimeout, "120 s"},
		{"rate limit", ended(domain.CodeRateLimited, "every provider is at its limit"), 502, domain.CodeRateLimited, "limit"},
		{"overloaded", ended(domain.CodeOverloaded, "x"), 502, domain.CodeOverloaded, "x"},
		{"internal", ended(domain.CodeInternal, "something went wrong"), 502, domain.CodeInternal, "wrong"},
		{"budget before any answer", ended(domain.CodeBudgetExhausted, "today's budget is used up"), 502, domain.CodeBudgetExhausted, "budget"},
		{"no reason", domain.Turn{Status: domain.TurnFailed}, 502, domain.CodeUpstream, "without an answer"},
		{"empty answer", domain.Turn{Status: domain.TurnDone, Answer: " \n"}, 502, domain.CodeUpstream, "without an answer"},
		{"canceled", domain.Turn{Status: domain.TurnCanceled}, 409, domain.CodeCanceled, "canceled"},
		{"question", domain.Turn{Status: domain.TurnDone, Reason: domain.EndAsked, Question: &domain.Question{Question: "Which one?", Choices: []string{"a"}}}, 200, "", "Which one?"},
		{"partial answer", domain.Turn{Status: domain.TurnDone, Reason: domain.EndBudgetExhausted, Answer: "So far"}, 200, "", "budget_exhausted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			f.engine.onStart = func(id string) { f.engine.end(id, c.end) }
			resp, text := f.call(t, "POST", "/query", `{"query":"q"}`)
			if resp.StatusCode != c.status || !strings.Contains(text, c.text) {
				t.Errorf("%d %s, want %d with %q", resp.StatusCode, text, c.status, c.text)
			}
			if resp.Header.Get("X-Turn-Id") != "turn-1" {
				t.Errorf("X-Turn-Id = %q", resp.Header.Get("X-Turn-Id"))
			}
			if c.code != "" && failureOf(t, text).Code != string(c.code) {
				t.Errorf("code of %s, want %s", text, c.code)
			}
		})
	}
}

// The text of an internal error stays inside; every domain code has its status.
func TestErrorsOfTheEngine(t *testing.T) {
	t.Parallel()
	cases := map[error]int{
		errors.New("pq: password s3cret"):                                                                  500,
		domain.Wrap(domain.CodeInternal, errors.New("s3cret"), "s3cret"):                                   500,
		domain.Wrap(domain.CodeUnavailable, errors.New("s3cret"), "the database does not answer"):          503,
		domain.Errorf(domain.CodeConflict, "the conversation is busy with turn 7"):                         409,
		domain.Errorf(domain.CodeUnprocessable, "the key came with another body"):                          422,
		domain.Errorf(domain.CodeForbidden, "no"):                                                          403,
		domain.Errorf(domain.CodeSuperseded, "no"):                                                         409,
		domain.Errorf(domain.CodeUpstream, "no"):                                                           502,
		&domain.Error{Code: domain.CodeBudgetExhausted, Message: "used up", Wait: 1500 * time.Millisecond}: 429,
		domain.Errorf("made_up", "no"):                                                                     500,
	}
	for failing, status := range cases {
		f := start(t)
		f.engine.failing = fmt.Errorf("start turn: %w", failing)
		resp, text := f.call(t, "POST", "/query", `{"query":"q"}`)
		failureOf(t, text)
		if resp.StatusCode != status || strings.Contains(text, "s3cret") {
			t.Errorf("%v: %d %s, want %d", failing, resp.StatusCode, text, status)
		}
		if status == 429 && resp.Header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After %q", resp.Header.Get("Retry-After"))
		}
		if status >= 500 && !strings.Contains(f.log.String(), `"event":"request_failed"`) {
			t.Errorf("%v was not logged: %s", failing, f.log)
		}
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.answers()
	for range 2 {
		if resp, text := f.call(t, "POST", "/query", `{"query":"q"}`, "Idempotency-Key: k"); resp.StatusCode != 200 || resp.Header.Get("X-Turn-Id") != "turn-1" {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
	}
	if resp, _ := f.call(t, "POST", "/query", `{"query":"other"}`, "Idempotency-Key: k"); resp.StatusCode != 422 {
		t.Errorf("another body with the key: %d", resp.StatusCode)
	}
	if resp, text := f.call(t, "POST", "/query", `{"query":"q"}`, "Idempotency-Key: "+strings.Repeat("k", 256)); resp.StatusCode != 400 || failureOf(t, text).Field != "Idempotency-Key" {
		t.Errorf("a long key: %d %s", resp.StatusCode, text)
	}
}

func TestGarbageBodies(t *testing.T) {
	t.Parallel()
	f := start(t)
	long := strings.Repeat("x", 501)
	cases := []struct{ path, body, field string }{
		{"/query", ``, ""}, {"/query", `null`, ""}, {"/query", `[]`, ""}, {"/query", `"q"`, ""}, {"/query", "\x00\xff", ""},
		{"/query", `{"query":"q"`, ""}, {"/query", "{\"query\":\"a\xff\"}", ""}, {"/query", `{"query":"q"} x`, ""}, {"/query", `{"query":"q"}{}`, ""}, {"/query", `{query:1}`, ""},
		{"/query", `{}`, "query"}, {"/query", `{"query":" \n"}`, "query"}, {"/query", `{"query":5}`, "query"}, {"/query", `{"query":"a\u0000b"}`, "query"},
		{"/query", `{"query":"q","repositories":"r"}`, "repositories"}, {"/query", `{"query":"q","repositories":[1]}`, "repositories"},
		{"/query", `{"query":"q","repositories":[""]}`, "repositories[0]"}, {"/query", `{"query":"q","versions":["a","\u0000"]}`, "versions[1]"},
		{"/query", `{"query":"q","conversation_id":{}}`, "conversation_id"}, {"/query", `{"query":"q","model":"` + long + `"}`, "model"},
		{"/query", `{"query":"q","attachments":[{"name":1}]}`, "attachments.name"},
		{"/query", `{"query":"q","attachments":[{"mime_type":"text/plain","data":"aGk="}]}`, "attachments[0].name"},
		{"/query", `{"query":"q","attachments":[{"name":"a","mime_type":"/","data":"aGk="}]}`, "attachments[0].mime_type"},
		{"/query", `{"query":"q","conversation_id":"search"}`, "conversation_id"}, {"/query", `{"query":"q","conversation_id":".."}`, "conversation_id"},
		{"/query", `{"query":"q","conversation_id":"a/b"}`, "conversation_id"}, {"/query", `{"query":"q","conversation_id":"a\nb"}`, "conversation_id"},
		{"/query", `{"query":"q","attachments":[{"name":"a","mime_type":"text/plain","data":"%%"}]}`, "attachments[0].data"},
		{"/query", `{"query":"q","attachments":[{"name":"a","mime_type":"text/plain","data":""}]}`, "attachments[0].data"},
		{"/query/stream", `{"query":[]}`, "query"},
		{"/tool-description", `{}`, "name"}, {"/tool-description", `{"name":"x","input":[]}`, "input"}, {"/tool-description", `{"name":"x","input":"{}"}`, "input"},
		{"/repositories", `{"url":1}`, "url"}, {"/repositories", `{"url":"x","refs":{}}`, "refs"}, {"/repositories", `{"url":"x","refs":["main","--evil"]}`, "refs[1]"}, {"/repositories", `{"url":"x","name":"a:b"}`, "name"},
		{"/repositories", `{"url":"x","name":"a b"}`, "name"}, {"/repositories", `{"url":"x","watch":5}`, "watch"}, {"/repositories", `{"url":"a\u0000"}`, "url"},
		{"/repositories", `{"url":"x","all_tags":"yes"}`, "all_tags"}, {"/repositories", `{"url":"x","watch":"-5m"}`, "watch"},
		{"/repositories/x/ingest", `{"name":"y"}`, "name"}, {"/repositories/x/ingest", `[`, ""},
	}
	for _, c := range cases {
		resp, text := f.call(t, "POST", c.path, c.body)
		got := failureOf(t, text)
		if resp.StatusCode != http.StatusBadRequest || got.Code != "invalid" || got.Field != c.field {
			t.Errorf("%s %.60q: %d %s, want 400 for field %q", c.path, c.body, resp.StatusCode, text, c.field)
		}
		if c.field != "" && !strings.HasPrefix(got.Error, c.field+": ") {
			t.Errorf("%s %.60q: %q does not begin with the field", c.path, c.body, got.Error)
		}
	}
	if len(f.engine.requests)+len(f.engine.ingests) > 0 {
		t.Error("garbage reached the engine")
	}
}

func TestFaultsOfElementsAreToldFromThoseOfLists(t *testing.T) {
	t.Parallel()
	f := start(t)
	for body, want := range map[string]string{
		`{"query":"q","repositories":[1]}`:         "repositories: each must be a string, not a number",
		`{"query":"q","repositories":"r"}`:         "repositories: must be a list, not a string",
		`{"query":"q","attachments":[1]}`:          "attachments: each must be an object, not a number",
		`{"query":"q","attachments":[{"name":1}]}`: "attachments.name: must be a string, not a number",
	} {
		if _, text := f.call(t, "POST", "/query", body); failureOf(t, text).Error != want {
			t.Errorf("%s: %s, want %q", body, text, want)
		}
	}
}

func TestGarbagePaths(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, path := range []string{"/turns/%00", "/turns/%ff/events", "/graph/a/b%00", "/ingests/%c3%28"} {
		if resp, text := f.call(t, "GET", path, ""); resp.StatusCode != 400 {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
	for _, path := range []string{"/turns/x/events?after=%00", "/llm/providers?refresh=%zz"} {
		if resp, text := f.call(t, "GET", path, ""); resp.StatusCode != 400 {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
}

// Names are decoded exactly once, and "+" stays what it is.
func TestNamesInPaths(t *testing.T) {
	t.Parallel()
	f := start(t)
	for path, name := range map[string]string{
		"a%2Fb": "a/b", "a%2fb": "a/b", "c++": "c++", "a%2Fc++": "a/c++", "a%20b%2Fc": "a b/c", "100%25": "100%", "a%252Fb": "a%2Fb", "%E2%82%AC%2F": "€/",
	} {
		resp, text := f.call(t, "DELETE", "/repositories/"+path, "")
		if resp.StatusCode != 200 || f.engine.deleted[len(f.engine.deleted)-1] != name {
			t.Errorf("%s: %d %s; got %q, want %q", path, resp.StatusCode, text, f.engine.deleted, name)
		}
		resp, _ = f.call(t, "POST", "/repositories/"+path+"/ingest", "")
		if got := f.engine.ingests[len(f.engine.ingests)-1].Name; resp.StatusCode != 202 || got != name {
			t.Errorf("ingest %s: %d for %q, want %q", path, resp.StatusCode, got, name)
		}
	}
}

func TestBodyLimits(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.answers()
	filler := func(n int) string { return `{"query":"q","name":"n","filler":"` + strings.Repeat("x", n) + `"}` }
	attachment := func(sizes ...int) string {
		var files []string
		for _, n := range sizes {
			data := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), n))
			files = append(files, `{"name":"a","mime_type":"text/plain","data":"`+data+`"}`)
		}
		return `{"query":"q","attachments":[` + strings.Join(files, ",") + `]}`
	}
	cases := []struct {
		name, path, body string
		status           int
	}{
		{"default", "/tool-description", filler(9 << 20), 200},
		{"default beyond", "/tool-description", filler(10 << 20), 413},
		{"query", "/query", filler(60 << 20), 200},
		{"query beyond", "/query", filler(64 << 20), 413},
		{"attachments", "/query", attachment(10<<20, 10<<20, 10<<20), 200},
		{"attachment beyond", "/query", attachment(10<<20 + 1), 413},
		{"attachments beyond", "/query", attachment(10<<20, 10<<20, 10<<20, 3), 413},
		{"twenty attachments", "/query", attachment(slices.Repeat([]int{1}, 20)...), 200},
		{"too many attachments", "/query", attachment(slices.Repeat([]int{1}, 21)...), 400},
		{"long query", "/query", `{"query":"` + strings.Repeat("x", 1<<20+1) + `"}`, 413},
	}
	for _, c := range cases {
		if resp, text := f.call(t, "POST", c.path, c.body); resp.StatusCode != c.status {
			t.Errorf("%s: %d %.200s, want %d", c.name, resp.StatusCode, text, c.status)
		} else if c.status == 413 && failureOf(t, text).Code != "too_large" {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

// A client that sends far more than is allowed gets its answer, not a reset.
func TestAClientThatSendsTooMuchIsAnswered(t *testing.T) {
	t.Parallel()
	f := start(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const size = 18 << 20
	fmt.Fprintf(conn, "POST /tool-description HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", token, size)
	if _, err := io.Copy(conn, strings.NewReader(strings.Repeat("x", size))); err != nil {
		t.Fatalf("the body could not be sent: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", resp.StatusCode)
	}
}

func TestPanicIsContained(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.graph.panics = true
	for path, body := range map[string]string{"/tool-description": `{"name":"panic"}`, "/graph/team%2Fapp/v1": ""} {
		method := "GET"
		if body != "" {
			method = "POST"
		}
		resp, text := f.call(t, method, path, body)
		if resp.StatusCode != 500 || failureOf(t, text).Code != "internal" || strings.Contains(text, "describer") {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
	if !strings.Contains(f.log.String(), "handler_panicked") || !strings.Contains(f.log.String(), `"panic":"describer"`) {
		t.Errorf("panic not logged: %s", f.log)
	}
	if resp, _ := f.call(t, "GET", "/health", ""); resp.StatusCode != 200 {
		t.Error("the server died")
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.call(t, "GET", "/repositories?secret=1", "", "X-Request-Id: bad id\ttab")
	var entry map[string]any
	if err := json.Unmarshal([]byte(strings.TrimSpace(f.log.String())), &entry); err != nil {
		t.Fatalf("%v in %q", err, f.log)
	}
	if entry["event"] != "request" || entry["route"] != "/repositories" || entry["status"] != 200.0 || entry["method"] != "GET" {
		t.Errorf("entry %v", entry)
	}
	if id, _ := entry["request_id"].(string); len(id) != 36 {
		t.Errorf("request id %q, want one of ours", id)
	}
	if strings.Contains(f.log.String(), "secret") {
		t.Error("a query string was logged")
	}
	f.answers()
	f.call(t, "POST", "/query", `{"query":"q"}`)
	f.call(t, "GET", "/turns/turn-1", "")
	if n := strings.Count(f.log.String(), `"turn_id":"turn-1"`); n != 2 {
		t.Errorf("the turn is named in %d lines, want 2: %s", n, f.log)
	}
}

// Whatever a body holds, the answer is an answer: never a fault of ours.
func FuzzBodies(f *testing.F) {
	f.Add("/query", `{"query":"q","attachments":[{"name":"a","mime_type":"a/b","data":"aGk="}]}`)
	f.Add("/tool-description", `{"name":"n","input":{"a":[1e999]}}`)
	f.Add("/repositories", `{"url":"x","refs":["a"],"watch":"5m"}`)
	f.Add("/repositories/x/ingest", ` `)
	f.Add("/agent/output", `{"request_id":"c1","stream":"stdout","line":"\ud83d\\"}`)
	f.Add("/agent/results", "{\"request_id\":\"c1\",\"stdout\":\"\xff\\u0000\"}")
	engine := newFakeEngine()
	engine.onStart = func(id string) { engine.end(id, answered) }
	server, err := api.New(api.Config{
		Actions: newFakeActions(),
		Turns:   engine, Ingests: engine, Projects: newFakeProjects(), Conversations: newFakeTalks(), Workspaces: newFakeTalks(), Skills: library.NewSkills(noShelf{}), Artifacts: library.NewArtifacts(noShelf{}), Memories: library.NewMemories(noShelf{}), Secrets: newVault(), Agents: newFakeAgents(), AgentHub: newFakeAgents(), Machines: &fakeMachines{agents: newFakeAgents()}, Sessions: newFakeSessions(), Forwards: newFakeForwards(), People: newFakePeople(), Auditor: newFakePeople(), Sources: &fakeGraph{}, Graph: &fakeGraph{}, Providers: &fakeProviders{},
		Describer: fakeDescriber{}, Log: zerolog.Nop(), OwnerToken: token, Commands: newFakeCommands(),
	})
	if err != nil {
		f.Fatal(err)
	}
	paths := []string{"/query", "/tool-description", "/repositories", "/repositories/x/ingest", "/agent/output", "/agent/results"}
	f.Fuzz(func(t *testing.T, path, body string) {
		if !slices.Contains(paths, path) || strings.Contains(body, `panic`) {
			return
		}
		req := httptest.NewRequest("POST", path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+token)
		if strings.HasPrefix(path, "/agent/") {
			req.Header.Set("Authorization", "Bearer "+agentToken)
		}
		rec := httptest.NewRecorder()
		server.ServeHTTP(rec, req)
		if rec.Code >= 500 || !json.Valid(rec.Body.Bytes()) {
			t.Errorf("%s %q: %d %s", path, body, rec.Code, rec.Body)
		}
		if rec.Code >= 400 {
			failureOf(t, rec.Body.String())
		}
	})
}
