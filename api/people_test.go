package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
)

func TestKeysOfAPerson(t *testing.T) {
	t.Parallel()
	f := start(t)
	key := f.people.join("grace", domain.UserRegular, []string{"red"}, domain.ScopeRead, domain.ScopeAccount)
	by := "Authorization: Bearer " + key
	resp, text := f.call(t, "POST", "/auth/keys", `{"name":" laptop ","scopes":["read"],"expires_in_days":30}`, by)
	var made struct {
		domain.APIKey
		Key string `json:"key"`
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || resp.StatusCode != 201 || made.Name != "laptop" || made.Key == "" || made.ExpiresAt == nil {
		t.Fatalf("made: %d %s", resp.StatusCode, text)
	}
	if _, text := f.call(t, "GET", "/auth/me", "", "Authorization: Bearer "+made.Key); !strings.Contains(text, `"id":"grace"`) {
		t.Errorf("by the new key: %s", text)
	}
	for _, c := range []struct {
		method, path, body, by string
		status                 int
		says                   string
	}{
		{"GET", "/auth/keys", "", by, 200, "laptop"},
		{"GET", "/auth/keys", "", "Authorization: Bearer " + made.Key, 403, `not good for \"account\"`},
		{"POST", "/auth/keys", `{"name":"more","scopes":["admin"]}`, by, 403, "not good for"},
		{"POST", "/auth/keys", `{"name":"more"}`, by, 403, "not good for"}, // ask and write are among the usual
		{"POST", "/auth/keys", `{"name":"x","scopes":["all"]}`, by, 400, "there is no scope"},
		{"POST", "/auth/keys", `{"name":" "}`, by, 400, "name: must have"},
		{"POST", "/auth/keys", `{"name":"x","expires_in_days":-1}`, by, 400, "expires_in_days"},
		{"PATCH", "/auth/me", `{"name":"Grace H."}`, by, 200, "ok"},
		{"PATCH", "/auth/me", `{"name":""}`, by, 400, "name"},
		{"GET", "/auth/me", "", by, 200, "Grace H."},
		{"DELETE", "/auth/keys/" + made.ID, "", "Authorization: Bearer " + token, 404, "there is no key"},
		{"DELETE", "/auth/keys/" + made.ID, "", by, 200, "ok"},
		{"GET", "/auth/me", "", "Authorization: Bearer " + made.Key, 401, "bearer token"},
	} {
		if resp, text := f.call(t, c.method, c.path, c.body, c.by); resp.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, resp.StatusCode, text)
		}
	}
	if e := f.people.noted(); e.Route != "/auth/me" || e.Outcome != domain.OutcomeDenied || e.UserID != "" {
		t.Errorf("the removed key is noted as %+v", e)
	}
}

func TestAdminsManagePeople(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.people.join("grace", domain.UserRegular, nil)
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/admin/users", "", 200, `"group_ids":[]`},
		{"PUT", "/admin/users/grace/role", `{"role":"admin"}`, 200, "ok"},
		{"PUT", "/admin/users/grace/role", `{"role":"king"}`, 400, "role: must be"},
		{"PUT", "/admin/users/nobody/role", `{"role":"admin"}`, 404, "there is no user"},
		{"PUT", "/admin/users/grace/groups", `{"group_ids":["red"]}`, 200, "ok"},
		{"PUT", "/admin/users/grace/groups", `{}`, 400, "group_ids"},
		{"GET", "/admin/users", "", 200, `"group_ids":["red"]`},
		{"GET", "/admin/groups", "", 200, `"is_default"`},
		{"POST", "/admin/groups", `{"name":"blue"}`, 201, `"blue"`},
		{"POST", "/admin/groups", `{"name":""}`, 400, "name"},
		{"PUT", "/admin/groups/red/default", `{"is_default":true}`, 200, "ok"},
		{"PUT", "/admin/groups/red/default", `{}`, 400, "is_default"},
		{"DELETE", "/admin/groups/red", "", 200, "ok"},
		{"DELETE", "/admin/groups/none", "", 404, "there is no group"},
		{"GET", "/admin/audit?outcome=failed&limit=1", "", 200, `"route":"/admin/groups/:id"`},
		{"GET", "/admin/audit?outcome=done", "", 200, `"user_name":"owner"`},
		{"GET", "/admin/audit?outcome=lost", "", 400, "outcome"},
		{"GET", "/admin/audit?since=yesterday", "", 400, "since"},
		{"GET", "/admin/audit?limit=0", "", 400, "limit"},
	} {
		if resp, text := f.call(t, c.method, c.path, c.body); resp.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, resp.StatusCode, text)
		}
	}
	seen := map[string]bool{}
	for page := "/admin/audit?limit=3"; ; {
		_, text := f.call(t, "GET", page, "")
		var got struct {
			Entries []domain.AuditEntry `json:"entries"`
			Next    string              `json:"next"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Entries) > 3 {
			t.Fatalf("%s: %s", page, text)
		}
		for _, e := range got.Entries {
			if seen[e.ID] {
				t.Errorf("the entry %s comes twice", e.ID)
			}
			seen[e.ID] = true
		}
		if got.Next == "" {
			break
		}
		page = "/admin/audit?limit=3&before=" + got.Next
	}
	if len(seen) != len(f.people.entriesNow()) {
		t.Errorf("pages give %d entries of %d", len(seen), len(f.people.entriesNow()))
	}
}

// follow opens a turn's events by a key and waits until the first has come.
func (f *fixture) follow(t *testing.T, key string) (lines *bufio.Scanner, resp *http.Response) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "POST", f.url+"/query/stream", strings.NewReader(`{"query":"q"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err = (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("follow: %v, %v", resp, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	f.engine.emit(resp.Header.Get("X-Turn-Id"), domain.EventTextDelta, `{"text":"a"}`)
	lines = bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "text_delta") {
			return lines, resp
		}
	}
	t.Fatalf("the stream ended before its first event: %v", lines.Err())
	return nil, nil
}

// A stream ends when the access of who reads it ends: at once where that is told, and after a
// while where it is not. A stream of somebody else goes on.
func TestStreamsEndWithTheAccess(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]time.Duration{"told": time.Hour, "asked": 5 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			f.server.SetAccessEvery(every)
			key := f.people.join("grace", domain.UserRegular, nil, domain.ScopeRead, domain.ScopeAsk)
			other := f.people.join("ada", domain.UserRegular, nil, domain.ScopeRead, domain.ScopeAsk)
			lines, _ := f.follow(t, key)
			others, resp := f.follow(t, other)
			if name == "told" {
				if err := f.people.DeleteKey(t.Context(), "grace", key); err != nil {
					t.Fatal(err)
				}
			} else {
				f.people.mu.Lock()
				delete(f.people.keys, key)
				f.people.mu.Unlock()
			}
			for lines.Scan() {
			}
			if err := lines.Err(); err != nil {
				t.Errorf("the stream did not end: %v", err)
			}
			f.engine.end(resp.Header.Get("X-Turn-Id"), domain.Turn{Status: domain.TurnDone, Answer: "b"})
			done := false
			for others.Scan() {
				done = done || strings.Contains(others.Text(), `"done"`)
			}
			if !done {
				t.Errorf("the other stream ended early: %v", others.Err())
			}
		})
	}
}

// The events of a project's turn end with the membership, also for who asked it.
func TestTurnEventsEndWithTheMembership(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.server.SetAccessEvery(time.Hour)
	key := f.people.join("grace", domain.UserRegular, []string{"red"}, domain.ScopeRead)
	f.engine.turns["shared"] = domain.Turn{ID: "shared", UserID: "grace", ProjectID: "p1", Status: domain.TurnRunning, CreatedAt: day}
	f.engine.emit("shared", domain.EventTextDelta, `{"text":"a"}`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/turns/shared/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "text_delta") {
	}
	if err := f.people.SetGroups(ctx, "grace", nil); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream did not end: %v", err)
	}
}

// Another person's turn does not exist, and who asked for it is noted.
func TestHiddenTurnsAreNoted(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.engine.onStart = func(id string) { f.engine.end(id, domain.Turn{Status: domain.TurnDone, Answer: "a"}) }
	if resp, text := f.call(t, "POST", "/query", `{"query":"q"}`); resp.StatusCode != 200 {
		t.Fatalf("query: %d %s", resp.StatusCode, text)
	}
	by := "Authorization: Bearer " + f.people.join("admin", domain.UserAdmin, nil, domain.KeyScopes()...)
	for _, c := range [][2]string{{"GET", "/turns/turn-1"}, {"GET", "/turns/turn-1/events"}, {"POST", "/turns/turn-1/cancel"}} {
		body := ""
		if c[0] == "POST" {
			body = "{}"
		}
		if resp, text := f.call(t, c[0], c[1], body, by); resp.StatusCode != 404 {
			t.Errorf("%s: %d %s", c, resp.StatusCode, text)
		}
		if e := f.people.noted(); e.Path != c[1] || e.Outcome != domain.OutcomeDenied || e.UserID != "admin" {
			t.Errorf("%s is noted as %+v", c, e)
		}
	}
	before := len(f.people.entriesNow())
	if resp, _ := f.call(t, "GET", "/turns/none", "", by); resp.StatusCode != 404 || len(f.people.entriesNow()) != before {
		t.Error("what does not exist counts as denied")
	}
}

func TestWithoutSignIn(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *api.Config) { c.SignIn = nil })
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/auth/register", `{"email":"a@example.com","name":"a","password":"long enough of it"}`, 403},
		{"POST", "/auth/login", `{"email":"a@example.com","password":"x"}`, 403},
		{"POST", "/auth/logout", "", 200},
		{"GET", "/auth/google", "", 501},
		{"GET", "/auth/oidc/callback?code=a&state=b", "", 501},
	} {
		if resp, text := f.call(t, c.method, c.path, c.body, "Authorization: "); resp.StatusCode != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, resp.StatusCode, text)
		}
	}
}
