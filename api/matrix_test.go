package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
)

// asker is a row of the access matrix.
type asker struct {
	name   string
	header string
	path   *strings.Replacer // fills the parameters of a path
	want   func(r api.RouteAccess) []int
}

// anything but a refusal: what a handler then makes of an id that is not there is its own.
var passes []int

func refused(status int) []int { return []int{status} }

// Every route answers every kind of caller as its policy declares.
func TestAccessMatrix(t *testing.T) {
	t.Parallel()
	f := start(t, withTemporal(t, http.NotFoundHandler()))
	all := domain.KeyScopes()
	bearer := func(key string) string { return "Authorization: Bearer " + key }
	own := strings.NewReplacer(":pid", "p1", "/artifacts/:id", "/artifacts/of-p1", "/agents/:agent_id", "/agents/a1", "*path", "x", ":", "x-")
	foreign := strings.NewReplacer(":pid", "p2", "/artifacts/:id", "/artifacts/of-p2", "/agents/:agent_id", "/agents/b1", "*path", "x", ":", "x-")
	missing := strings.NewReplacer(":pid", "p-none", "/artifacts/:id", "/artifacts/of-none", "/agents/:agent_id", "/agents/none", "*path", "x", ":", "x-")
	theirs := strings.NewReplacer(":pid", "p1", "/artifacts/:id", "/artifacts/of-p1", ":cid", "elsewhere", ":id", "theirs", "*path", "x", ":", "x-")
	f.engine.turns["theirs"] = domain.Turn{ID: "theirs", UserID: "stranger", ProjectID: "p2", Status: domain.TurnRunning, CreatedAt: day}
	f.projects.projects["p2"] = domain.Project{ID: "p2", Name: "other", GroupID: "blue", CreatedBy: domain.OwnerID, CreatedAt: day}
	regular := func(r api.RouteAccess) []int {
		if r.Who == "admin" || r.Who == "admin of a project" {
			return refused(http.StatusForbidden)
		}
		return passes
	}
	invisible := func(r api.RouteAccess) []int {
		if r.Who == "member" || r.Who == "artifact" || r.Who == "agent" || r.Who == "admin of a project" {
			return refused(http.StatusNotFound)
		}
		return regular(r)
	}
	without := func(lacking domain.KeyScope) func(api.RouteAccess) []int {
		return func(r api.RouteAccess) []int {
			if r.Scope == lacking && !r.Public {
				return refused(http.StatusForbidden)
			}
			return nil
		}
	}
	askers := []asker{
		{"nobody", "Authorization: ", own, func(r api.RouteAccess) []int {
			if r.Who == "everyone" {
				return passes
			}
			return refused(http.StatusUnauthorized)
		}},
		{"a removed key", bearer("hvk_gone"), own, func(r api.RouteAccess) []int {
			if r.Public {
				return passes
			}
			return refused(http.StatusUnauthorized)
		}},
		{"a member", bearer(f.people.join("member", domain.UserRegular, []string{"red"}, append(all, "browser")...)), own, regular},
		{"another group's member", bearer(f.people.join("stranger", domain.UserRegular, []string{"blue"}, append(all, "browser")...)), own, invisible},
		{"a member, of another project", bearer(f.people.join("member", domain.UserRegular, []string{"red"}, append(all, "browser")...)), foreign, invisible},
		{"a member, of no project", bearer(f.people.join("member", domain.UserRegular, []string{"red"}, append(all, "browser")...)), missing, invisible},
		{"a member, of what is another project's", bearer(f.people.join("member", domain.UserRegular, []string{"red"}, append(all, "browser")...)), theirs, func(r api.RouteAccess) []int {
			if strings.Contains(r.Path, ":cid") || strings.HasPrefix(r.Path, "/turns/:id") {
				return refused(http.StatusNotFound)
			}
			return regular(r)
		}},
		{"an admin", bearer(f.people.join("admin", domain.UserAdmin, nil, append(all, "browser")...)), own, func(api.RouteAccess) []int { return passes }},
		{"the owner", bearer(token), own, func(api.RouteAccess) []int { return passes }},
	}
	for _, scope := range append(all, "browser") {
		rest := slices.DeleteFunc(append(domain.KeyScopes(), "browser"), func(s domain.KeyScope) bool { return s == scope })
		askers = append(askers, asker{"a key without " + string(scope), bearer(f.people.join("admin", domain.UserAdmin, nil, rest...)), own, without(scope)})
	}
	askers = append(askers, asker{"an agent", bearer(agentToken), own, func(r api.RouteAccess) []int {
		if r.Public || isForAgents(r) {
			return passes
		}
		return refused(http.StatusUnauthorized)
	}})
	for i, a := range askers {
		if a.name != "an agent" { // no person is one, whatever they may otherwise
			askers[i].want = func(r api.RouteAccess) []int {
				if isForAgents(r) {
					return refused(http.StatusUnauthorized)
				}
				return a.want(r)
			}
		}
	}
	for _, a := range askers {
		for _, r := range f.server.Access() {
			if r.Method == http.MethodDelete && a.want(r) == nil && strings.HasPrefix(r.Path, "/auth/keys") {
				continue // would end the key of the next row
			}
			a.check(t, f, r)
		}
	}
}

// isForAgents reports whether a route is for agents alone.
func isForAgents(r api.RouteAccess) bool { return r.Who == "machine" || r.Who == "joining machine" }

func (a asker) check(t *testing.T, f *fixture, r api.RouteAccess) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, f.url+a.path.Replace(r.Path), strings.NewReader(`{"title":"t","message_id":"m1"}`))
	if err != nil {
		t.Fatal(err)
	}
	name, value, _ := strings.Cut(a.header, ": ")
	if value != "" {
		req.Header.Set(name, value)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	before := len(f.people.entriesNow())
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s: %s %s: %v", a.name, r.Method, r.Path, err)
	}
	resp.Body.Close()
	want := a.want(r)
	if len(want) == 0 {
		a.checkNoted(t, f, r, resp.StatusCode, before)
		// Of the routes that anyone may call some refuse for reasons of their own.
		if !r.Public && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
			t.Errorf("%s: %s %s is refused with %d, but %s may", a.name, r.Method, r.Path, resp.StatusCode, r.Who)
		}
		return
	}
	if !slices.Contains(want, resp.StatusCode) {
		t.Errorf("%s: %s %s answers %d, want %v (%s, %s)", a.name, r.Method, r.Path, resp.StatusCode, want, r.Who, r.Scope)
		return
	}
	noted := f.people.entriesNow()
	if (isForAgents(r) && a.name != "nobody" || a.name == "an agent") && len(noted) == before {
		return // of calls with a token that is nobody's there one a minute is noted
	}
	if len(noted) != before+1 {
		t.Errorf("%s: %s %s leaves %d entries", a.name, r.Method, r.Path, len(noted)-before)
	} else if e := noted[before]; e.Outcome != domain.OutcomeDenied || e.Status != resp.StatusCode || e.Method != r.Method || e.Route != r.Path {
		t.Errorf("%s: %s %s is noted as %+v", a.name, r.Method, r.Path, e)
	}
}

// checkNoted holds what is noted of a call that passed against what it does: what removes
// something, or what only admins may change, leaves an entry whichever way it ends.
func (a asker) checkNoted(t *testing.T, f *fixture, r api.RouteAccess, status, before int) {
	t.Helper()
	changes := !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method)
	if a.name != "an admin" || r.Public || r.Scope == "browser" || !changes || r.Method != http.MethodDelete && r.Who != "admin" {
		return
	}
	want := domain.OutcomeFailed
	if status < 300 {
		want = domain.OutcomeDone
	}
	noted := f.people.entriesNow()[before:]
	if len(noted) != 1 || noted[0].Outcome != want || noted[0].Route != r.Path || noted[0].UserID != "admin" || noted[0].Status != status {
		t.Errorf("%s %s by an admin, which ends with %d, is noted as %+v", r.Method, r.Path, status, noted)
	}
}

func (f *fakePeople) entriesNow() []domain.AuditEntry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.entries)
}

// A route that says nothing of who may call it keeps the server from starting.
func TestEveryRouteHasAPolicy(t *testing.T) {
	t.Parallel()
	f := start(t, withTemporal(t, http.NotFoundHandler()))
	if err := f.server.Unruled(); err == nil || !strings.Contains(err.Error(), "GET /unruled") {
		t.Errorf("a route without a policy: %v", err)
	}
	for _, r := range f.server.Access() {
		if !slices.Contains([]string{"everyone", "person", "member", "artifact", "agent", "turn", "admin", "admin of a project", "machine", "joining machine"}, r.Who) || r.Scope == "" {
			t.Errorf("%s %s is for %q by keys of %q", r.Method, r.Path, r.Who, r.Scope)
		}
		if strings.Contains(r.Path, ":pid") != (r.Who == "member" || r.Who == "admin of a project") {
			t.Errorf("%s %s names a project, or not, but is for %s", r.Method, r.Path, r.Who)
		}
		if strings.HasPrefix(r.Path, "/agent/") != isForAgents(r) {
			t.Errorf("%s %s is for %s", r.Method, r.Path, r.Who)
		}
		if strings.HasPrefix(r.Path, "/admin/") && r.Who != "admin" {
			t.Errorf("%s %s is for %s", r.Method, r.Path, r.Who)
		}
	}
}
