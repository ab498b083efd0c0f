package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/domain"
)

const consolePath = "/projects/p1/agents/a1/console"

func (f *fixture) dial(t *testing.T, path, token string, headers ...string) (*websocket.Conn, int) {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + token}}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		header.Set(name, value)
	}
	conn, resp, err := websocket.Dial(t.Context(), f.url+path, &websocket.DialOptions{HTTPHeader: header})
	if resp == nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, resp.StatusCode
}

func (f *fixture) details() (list []string) {
	for _, e := range f.people.entriesNow() {
		if e.Detail != "" {
			list = append(list, string(e.Outcome)+" by "+e.UserID+": "+e.Detail)
		}
	}
	return list
}

// It is noted who opens a console, for how long, and how it ends.
func TestConsole(t *testing.T) {
	t.Parallel()
	f := start(t)
	key := f.people.join("member", domain.UserRegular, []string{"red"}, domain.KeyScopes()...)
	conn, status := f.dial(t, consolePath+"?cols=120&rows=40", key)
	if status != http.StatusSwitchingProtocols {
		t.Fatal(status)
	}
	if err := conn.Write(t.Context(), websocket.MessageBinary, []byte("ls")); err != nil {
		t.Fatal(err)
	}
	if kind, data, err := conn.Read(t.Context()); err != nil || kind != websocket.MessageBinary || string(data) != "ls" {
		t.Errorf("%v %q, %v", kind, data, err)
	}
	order := f.sessions.orders[0]
	want := domain.AgentSession{AgentID: "a1", ProjectID: "p1", Cols: 120, Rows: 40, UserID: "member", UserName: "member", Address: "127.0.0.1"}
	if order != want {
		t.Errorf("ordered %+v, want %+v", order, want)
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	f.noted(t, []string{"done by member: opened a console on box", "done by member: the console on box ended after 0s: the person closed it"})
}

// noted waits for what is noted with a detail.
func (f *fixture) noted(t *testing.T, want []string) {
	t.Helper()
	limit, tick := time.After(10*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !slices.Equal(f.details(), want) {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("noted is %q, want %q", f.details(), want)
		}
	}
}

// A console ends when the person may no longer see the project, and with the server.
func TestConsoleEndsWithAccess(t *testing.T) {
	t.Parallel()
	f := start(t)
	key := f.people.join("member", domain.UserRegular, []string{"red"}, domain.KeyScopes()...)
	conn, _ := f.dial(t, consolePath, key)
	f.noted(t, []string{"done by member: opened a console on box"})
	other, _ := f.dial(t, consolePath, token)
	f.noted(t, []string{"done by member: opened a console on box", "done by owner: opened a console on box"})
	if err := f.people.SetGroups(t.Context(), "member", nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Read(t.Context()); err == nil {
		t.Error("it goes on")
	}
	const ended = "done by member: the console on box ended after 0s: the access to this has ended; sign in again, or ask who shared it"
	f.noted(t, []string{"done by member: opened a console on box", "done by owner: opened a console on box", ended})
	f.server.Drain()
	if _, _, err := other.Read(t.Context()); err == nil {
		t.Error("it outlives the server")
	}
	f.noted(t, []string{"done by member: opened a console on box", "done by owner: opened a console on box", ended,
		"done by owner: the console on box ended after 0s: the server is stopping; try again"})
}

func TestConsoleRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	member := f.people.join("member", domain.UserRegular, []string{"red"}, domain.KeyScopes()...)
	admin := f.people.join("admin", domain.UserAdmin, nil, domain.KeyScopes()...)
	reader := f.people.join("reader", domain.UserRegular, []string{"red"}, domain.ScopeRead)
	stranger := f.people.join("stranger", domain.UserRegular, []string{"blue"}, domain.KeyScopes()...)
	for _, c := range []struct {
		path, key string
		status    int
	}{
		{consolePath, reader, 403}, {consolePath, stranger, 404}, {consolePath, "hvk_gone", 401},
		{"/projects/p1/agents/b1/console", member, 404}, {"/projects/p1/agents/none/console", member, 404}, {"/projects/none/agents/a1/console", member, 404},
		{consolePath + "?cols=0", member, 400}, {consolePath + "?rows=1001", member, 400}, {consolePath + "?cols=x", member, 400},
	} {
		if _, status := f.dial(t, c.path, c.key); status != c.status {
			t.Errorf("%s by %s: %d, want %d", c.path, c.key, status, c.status)
		}
	}
	if resp, text := f.call(t, http.MethodGet, consolePath, ""); resp.StatusCode != 400 || !strings.Contains(text, "is a WebSocket") {
		t.Errorf("plain HTTP: %d %s", resp.StatusCode, text)
	}
	f.sessions.mu.Lock()
	f.sessions.away = true
	f.sessions.mu.Unlock()
	if _, status := f.dial(t, consolePath, member); status != http.StatusBadGateway {
		t.Errorf("a machine that is away: %d", status)
	}
	f.noted(t, []string{"failed by member: no console on box"})
	f.sessions.mu.Lock()
	f.sessions.away = false
	f.sessions.mu.Unlock()
	// Where others must approve what one asks for, nobody has a shell that asks nobody.
	for approvers, want := range map[domain.Approvers][2]int{domain.ApproveAdmins: {403, 101}, domain.ApproveOthers: {403, 403}, domain.ApproveMembers: {101, 101}} {
		if err := f.projects.SetConfirmSettings(t.Context(), "p1", domain.ConfirmSettings{Approvers: approvers}); err != nil {
			t.Fatal(err)
		}
		_, one := f.dial(t, consolePath, member)
		_, other := f.dial(t, consolePath, admin)
		if got := [2]int{one, other}; got != want {
			t.Errorf("where %s approve: %v, want %v", approvers, got, want)
		}
	}
}

// Agents claim what is theirs, by their own token.
func TestClaimsByToken(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, kind := range []string{"console", "tunnel"} {
		path := "/agent/" + kind + "/"
		for _, c := range []struct {
			id, token string
			status    int
		}{
			{"s1", "", 401}, {"s1", token, 401}, {"s1", "hva_other", 401}, {"s2", agentToken, 404}, {"s1", agentToken, 101},
		} {
			if _, status := f.dial(t, path+c.id, c.token); status != c.status {
				t.Errorf("%s%s by %q: %d, want %d", path, c.id, c.token, status, c.status)
			}
		}
		if got := <-f.sessions.claimed; got != kind {
			t.Errorf("it is claimed as a %s", got)
		}
		if resp, _ := f.call(t, http.MethodGet, path+"s1", "", "Authorization: Bearer "+agentToken); resp.StatusCode != 400 {
			t.Errorf("plain HTTP: %d", resp.StatusCode)
		}
	}
}

// A browser's console is opened by a page of ours alone, and what a machine's page asks of us
// by the person's cookies is refused.
func TestOtherPagesActAsNobody(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada := h.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	upgrade := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-Websocket-Version: 13", "Sec-Websocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	for _, origin := range []string{"null", "https://evil.example.com", "http://127.0.0.1:1"} {
		for _, c := range [][2]string{
			{"GET", "/auth/me"}, {"GET", "/projects"}, {"POST", "/projects"}, {"DELETE", "/projects/p1"}, {"GET", "/auth/keys"}, {"POST", "/auth/keys"},
			{"POST", "/auth/logout"}, {"GET", "/projects/p1/agents"}, {"GET", "/agents/a1/web/"}, {"POST", "/agents/a1/web/"}, {"POST", "/query"},
		} {
			ada.refused(t, c[0], c[1], "Origin: "+origin, "Sec-Fetch-Site: cross-site")
		}
		for _, path := range []string{consolePath, "/agents/a1/web/ws"} {
			ada.refused(t, "GET", path, append(upgrade, "Origin: "+origin)...)
		}
	}
	ada.expect(t, 200, "GET", "/auth/me", "")
}

// refused sends a request with the browser's cookies that is none of a page of ours.
func (b *browser) refused(t *testing.T, method, path string, headers ...string) {
	t.Helper()
	req, err := http.NewRequest(method, b.h.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("%s %s with %q: %d", method, path, headers, resp.StatusCode)
	}
}

func TestPortForwards(t *testing.T) {
	t.Parallel()
	f := start(t)
	const path = "/projects/p1/agents/a1/port-forwards"
	f.expect(t, "port-forward-create", "POST", path, `{"port":3000,"route_name":"grafana"}`)
	f.expect(t, "port-forward-again", "POST", path, `{"port":3001,"route_name":"grafana"}`)
	f.expect(t, "port-forwards", "GET", path, "")
	f.expect(t, "port-forward-update", "PUT", path+"/f1", `{"port":3002}`)
	for body, field := range map[string]string{
		`{"port":1}`: "route_name", `{"route_name":"a"}`: "port", `{"port":0,"route_name":"a"}`: "port", `{"port":65536,"route_name":"a"}`: "port",
		`{"port":"1","route_name":"a"}`: "port", `{"port":1,"route_name":"install.sh"}`: "route_name", `{"port":1,"route_name":"binary"}`: "route_name",
		`{"port":1,"route_name":"A"}`: "route_name", `{"port":1,"route_name":"-a"}`: "route_name", `{"port":1,"route_name":""}`: "route_name",
		`{"port":1,"route_name":"a/b"}`: "route_name", `{"port":1,"route_name":"` + strings.Repeat("a", 64) + `"}`: "route_name",
	} {
		if resp, text := f.call(t, "POST", path, body); resp.StatusCode != 400 || !strings.Contains(text, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", body, resp.StatusCode, text)
		}
	}
	if resp, _ := f.call(t, "PUT", path+"/f1", `{}`); resp.StatusCode != 400 {
		t.Errorf("a change of nothing: %d", resp.StatusCode)
	}
	f.expect(t, "port-forward-delete", "DELETE", path+"/f1", "")
	f.expect(t, "port-forward-gone", "DELETE", path+"/f1", "")
	var noted []string
	for _, e := range f.people.entriesNow() {
		noted = append(noted, e.Method+" "+string(e.Outcome))
	}
	if !slices.Contains(noted, "POST done") || !slices.Contains(noted, "PUT done") || !slices.Contains(noted, "DELETE done") {
		t.Errorf("noted is %v", noted)
	}
}
