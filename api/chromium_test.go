package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// Names of the server and of forwards that are of one site, so that a browser sends cookies of
// the one with what pages of the other ask of it.
const (
	serverName  = "server.harvest.test"
	forwardName = "forwards.harvest.test"
)

// application is a service on a machine with all that web applications use.
func application(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Upgrade") != "":
		if conn, err := websocket.Accept(w, r, nil); err == nil {
			_ = conn.Write(r.Context(), websocket.MessageText, []byte("hello"))
			_ = conn.Close(websocket.StatusNormalClosure, "")
		}
	case r.URL.Path == "/worker.js":
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, `addEventListener("fetch", e => { if (new URL(e.request.url).pathname == "/by-worker") e.respondWith(new Response("by the worker")) })
addEventListener("activate", e => e.waitUntil(clients.claim()))`)
	case r.URL.Path == "/app.js":
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, `document.title = "ran"`)
	case r.URL.Path == "/seen":
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s [%s] %s", r.Method, body, r.Header.Get("Cookie"), r.Header.Get("Origin"))
	default:
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "session=theirs; Path=/")
		_, _ = io.WriteString(w, `<!doctype html><title>app</title><script src="app.js"></script><a href="seen">next</a>`)
	}
}

// visit is a person's Chromium on the page of a machine.
type visit struct {
	*suite
	*testkit.Browser
	base string // the server, under the name by which the person knows it
	ada  *browser
}

func openVisit(t *testing.T, host, forwardHost string) *visit {
	t.Helper()
	s := openSuite(t, forwardHost, func(c *api.Config) { c.Hosts = []string{serverName} })
	at := strings.TrimPrefix(s.url, "http://")
	if host == "localhost" {
		host += ":" + strings.Split(at, ":")[1]
	}
	tab := testkit.Chromium(t, at, serverName, "*."+forwardName)
	service := httptest.NewServer(http.HandlerFunc(application))
	t.Cleanup(func() {
		s.fixture.server.Drain()
		service.CloseClientConnections()
		service.Close()
	})
	for _, name := range []string{"app", "other"} {
		f := domain.PortForward{ProjectID: "p1", AgentID: "a1", Port: portOf(service), RouteName: name}
		made, err := s.store.CreatePortForward(t.Context(), f, domain.Author{UserID: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if name == "other" {
			s.forward = made
		}
	}
	v := &visit{suite: s, Browser: tab, ada: s.member(t, "ada", "g"), base: "http://" + host}
	v.signIn(t)
	return v
}

// signIn opens the application, signs in where the server asks for it, and comes to its page.
func (v *visit) signIn(t *testing.T) {
	t.Helper()
	v.Open(t, v.base+"/agents/a1/app/")
	v.is(t, "the page that asks to sign in", `return document.title + " " + location.pathname`, "Sign in to Harvest /agents/a1/app/")
	var c struct{ Email, Password string }
	if err := json.Unmarshal([]byte(account("ada")), &c); err != nil {
		t.Fatal(err)
	}
	v.Load(t, func() {
		v.Eval(t, fmt.Sprintf(`document.querySelector("[name=email]").value = %q; document.querySelector("[name=password]").value = %q; document.querySelector("button").click()`, c.Email, c.Password))
	})
}

func (v *visit) is(t *testing.T, what, script, want string) {
	t.Helper()
	if got := v.Eval(t, script); got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// attack has the page act as the person against the server, in all ways that pages have, and
// looks for what came of it.
func (v *visit) attack(t *testing.T) {
	t.Helper()
	before := v.state(t)
	api := fmt.Sprintf("const api = %q, socket = api.replace('http', 'ws') + '/projects/p1/agents/a1/console';", v.base)
	for what, script := range map[string]string{
		"reading":            `return (await fetch(api + "/projects", {credentials: "include"})).status`,
		"writing":            `return (await fetch(api + "/projects", {method: "POST", credentials: "include", headers: {"Content-Type": "application/json"}, body: '{"name":"evil","group_id":"g"}'})).status`,
		"the page of itself": `return (await fetch(api + "/agents/a1/other/seen", {credentials: "include"})).status`,
	} {
		v.is(t, what, api+script, "threw TypeError")
	}
	for what, script := range map[string]string{
		"writing blindly": `await fetch(api + "/projects", {method: "POST", mode: "no-cors", credentials: "include", body: '{"name":"evil","group_id":"g"}'}); return "sent"`,
		"signing out":     `await fetch(api + "/auth/logout", {method: "POST", mode: "no-cors", credentials: "include"}); return "sent"`,
		"a beacon":        `return navigator.sendBeacon(api + "/projects", '{"name":"evil","group_id":"g"}') ? "sent" : "not sent"`,
		"a form": `document.body.insertAdjacentHTML("beforeend", '<iframe name="frame"></iframe><form method="post" enctype="text/plain" target="frame"><input name=\'{"name":"evil","group_id":"g","description":"\' value=\'"}\'></form>');
			const form = document.querySelector("form"), frame = document.querySelector("iframe"); form.action = api + "/projects";
			await new Promise(done => { frame.onload = done; form.submit() }); return "sent"`,
	} {
		v.is(t, what, api+script, "sent")
	}
	v.is(t, "a console", api+`return new Promise(done => { const s = new WebSocket(socket); s.onopen = () => done("open"); s.onerror = () => done("refused") })`, "refused")
	v.is(t, "a frame", api+`const f = document.createElement("iframe"); f.src = api + "/auth/me";
		await new Promise(done => { f.onload = done; document.body.append(f) }); return f.contentDocument`, "null")
	v.is(t, "a window", api+`const w = open(api + "/auth/me"); if (!w) return "threw SecurityError";
		for (let i = 0; i < 500; i++) { try { w.document; await new Promise(done => setTimeout(done, 10)) } catch (e) { w.close(); throw e } } return w.document.body.textContent`, "threw SecurityError")
	if after := v.state(t); after != before {
		t.Errorf("after the attacks there is %s, before %s", after, before)
	}
}

// state is what an attack could have changed.
func (v *visit) state(t *testing.T) (text string) {
	t.Helper()
	const sql = `select (select count(*) from projects) || ' projects, ' || (select count(*) from sessions s join users u on u.id = s.user_id where u.name = 'ada') || ' sessions'`
	if err := v.pool.QueryRow(context.Background(), sql).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(text, ", ", v.fixture.sessions.opened(), " consoles")
}

// A web application on a machine works in a real browser, on a host name of its own, and can't
// act as the person there, be the name of the server's site or not.
func TestChromiumOnAHostOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ host, forwardHost string }{{"localhost", ""}, {serverName, forwardName}} {
		t.Run(c.host, func(t *testing.T) {
			t.Parallel()
			v := openVisit(t, c.host, c.forwardHost)
			v.works(t)
			v.attack(t)
			host, origin := v.Eval(t, "return location.hostname"), v.Eval(t, "return location.origin")
			other := strings.Replace(origin, strings.Split(host, ".")[0], v.forward.ID, 1)
			v.is(t, "another machine's page", fmt.Sprintf(`return (await fetch(%q, {credentials: "include"})).status`, other+"/seen"), "threw TypeError")
			if c.forwardHost == "" { // else they share a domain, whose cookies go to both
				v.worker(t)
				v.Eval(t, `for (const name of ["session", "token", "harvest_owner"]) document.cookie = name + "=evil; domain=localhost; path=/auth"`)
			}
			v.stillAda(t)
		})
	}
}

// works tries what web applications use.
func (v *visit) works(t *testing.T) {
	t.Helper()
	v.is(t, "the page", `return document.title + " " + location.pathname + " " + location.hostname.split(".")[0].length`, "ran / 36")
	f, err := v.store.Forwarded(t.Context(), "a1", "app")
	if err != nil {
		t.Fatal(err)
	}
	v.is(t, "fetch and cookies", `document.cookie = "mine=1"; return (await fetch("/seen", {method: "POST", body: "x"})).text()`,
		fmt.Sprintf("POST x [session=theirs; mine=1] http://127.0.0.1:%d", f.Port))
	v.is(t, "storage", `localStorage.setItem("a", "kept"); return localStorage.getItem("a")`, "kept")
	v.is(t, "a WebSocket", `return new Promise((done, failed) => { const s = new WebSocket("ws://" + location.host + "/ws"); s.onmessage = e => done(e.data); s.onerror = failed })`, "hello")
	v.is(t, "the visit's cookie", `return document.cookie.includes("harvest")`, "false")
}

func (v *visit) worker(t *testing.T) {
	t.Helper()
	v.is(t, "a service worker", `await navigator.serviceWorker.register("/worker.js"); await navigator.serviceWorker.ready;
		if (!navigator.serviceWorker.controller) await new Promise(done => navigator.serviceWorker.oncontrollerchange = done); return (await fetch("/by-worker")).text()`, "by the worker")
}

// stillAda looks whether the browser is signed in as before, where its own pages may do all.
func (v *visit) stillAda(t *testing.T) {
	t.Helper()
	v.Open(t, v.base+"/auth/me")
	v.is(t, "who is signed in", `return JSON.parse(document.body.innerText).name`, "ada")
	v.is(t, "a console of our own page", `return new Promise(done => { const s = new WebSocket("/projects/p1/agents/a1/console"); s.onopen = () => done("open"); s.onerror = () => done("refused") })`, "open")
}

// grants lets a terminal have a key, on the page for that.
func (v *visit) grants(t *testing.T) {
	t.Helper()
	codes, err := v.service.BeginDevice(t.Context(), domain.NewDevice{Name: "laptop", Scopes: []domain.KeyScope{domain.ScopeRead}, Address: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	v.Open(t, v.base+"/auth/device?user_code="+codes.UserCode)
	v.Load(t, func() { v.Eval(t, `document.querySelector("button[value=grant]").click()`) })
	v.is(t, "a key is granted", `return document.querySelector("[role]").textContent`, "Granted. Go back to the terminal.")
}

// Under our own host name a page of a machine has no origin, and can't act as the person either.
func TestChromiumUnderOurName(t *testing.T) {
	t.Parallel()
	v := openVisit(t, serverName, "")
	v.is(t, "the page", `return document.querySelector("a").href + " " + origin`, v.base+"/agents/a1/app/seen null")
	v.is(t, "cookies", `return document.cookie`, "threw SecurityError")
	v.is(t, "storage", `return localStorage.length`, "threw SecurityError")
	v.is(t, "a service worker", `return "serviceWorker" in navigator && await navigator.serviceWorker.register("/agents/a1/app/worker.js")`, "false")
	v.attack(t)
	v.stillAda(t)
	v.grants(t)
}
