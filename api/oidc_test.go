package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/harvest-engine/harvest/internal/signin"
)

// idp is a real OpenID Connect provider on this machine, with two people.
type idp struct {
	server *httptest.Server
	mu     sync.Mutex
	serve  http.Handler // nil: it does not answer yet
}

type logins struct{ users map[string]*storage.User }

func (l logins) GetUserByID(id string) *storage.User { return l.users[id] }

func (l logins) GetUserByUsername(name string) *storage.User { return l.users[name] }

func (l logins) ExampleClientID() string { return "harvest" }

func (p *idp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	serve := p.serve
	p.mu.Unlock()
	if serve == nil {
		http.Error(w, "not yet", http.StatusServiceUnavailable)
		return
	}
	serve.ServeHTTP(w, r)
}

// open makes the provider answer; people come back by callback.
func (p *idp) open(callback string) {
	users := map[string]*storage.User{}
	for _, name := range []string{"ada", "grace"} {
		users[name] = &storage.User{ID: name, Username: name, Password: "secret", FirstName: name, LastName: "X", Email: name + "@example.com", EmailVerified: true}
	}
	users["mallory"] = &storage.User{ID: "mallory", Username: "mallory", Password: "secret", FirstName: "M", LastName: "X", Email: "local@example.com", EmailVerified: true}
	known := map[string]*storage.Client{"harvest": storage.WebClient("harvest", "client-secret", callback)}
	handler := exampleop.SetupServer(p.server.URL, storage.NewStorageWithClients(logins{users}, known), nil, false)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serve = handler
}

// withProvider gives a house with the provider, which does not answer yet, and its address.
func withProvider(t *testing.T, changes ...func(*signin.Config)) (*house, *idp, *lateURL) {
	t.Helper()
	p := &idp{}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	front := &lateURL{}
	front.server = httptest.NewServer(front)
	t.Cleanup(front.server.Close)
	callback := front.server.URL + "/auth/oidc/callback"
	set := func(c *signin.Config) {
		c.Providers = []signin.Provider{{
			Name: "oidc", DisplayName: "The Provider", Issuer: p.server.URL,
			ClientID: "harvest", ClientSecret: "client-secret", RedirectURI: callback,
		}}
	}
	h := openHouse(t, append([]func(*signin.Config){set}, changes...)...)
	front.to = h.server
	h.url = front.server.URL
	return h, p, front
}

// lateURL is an address that is known before what answers there is made.
type lateURL struct {
	server *httptest.Server
	to     http.Handler
}

func (l *lateURL) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.to.ServeHTTP(w, r) }

// ready waits until the provider was discovered.
func (h *house) ready(t *testing.T) {
	t.Helper()
	for range 10_000 { // each is a call over the network
		if h.service.Ways()[0].Fault == nil {
			return
		}
		h.browser(t).expect(t, 200, "GET", "/auth/config", "")
	}
	t.Fatal("the provider was never discovered")
}

var formID = regexp.MustCompile(`name="id" value="([^"]+)"`)

// signInBy goes to the provider, gives a name and a password there, and stops before the
// callback, whose address it gives.
func (b *browser) signInBy(t *testing.T, start, user string) (callback string) {
	t.Helper()
	resp, text := b.send(t, "GET", start, "", "Origin: ")
	if resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s: %d %s", start, resp.StatusCode, text)
	}
	sent, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"code_challenge_method": "S256", "response_type": "code"} {
		if sent.Query().Get(name) != want {
			t.Errorf("%s is %q", name, sent.Query().Get(name))
		}
	}
	if sent.Query().Get("nonce") == "" || sent.Query().Get("state") == "" || sent.Query().Get("code_challenge") == "" {
		t.Errorf("sent to %s", sent)
	}
	location := sent.String()
	for {
		resp, err := b.client.Get(location)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK {
			id := formID.FindSubmatch(page)
			if id == nil {
				t.Fatalf("no form at %s: %s", location, page)
			}
			form := url.Values{"username": {user}, "password": {"secret"}, "id": {string(id[1])}}
			if resp, err = b.client.PostForm(strings.Split(location, "?")[0], form); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		next, err := resp.Location()
		if err != nil {
			t.Fatalf("at %s: %d %v", location, resp.StatusCode, err)
		}
		if strings.HasPrefix(next.String(), b.h.url) {
			return strings.TrimPrefix(next.String(), b.h.url)
		}
		location = next.String()
	}
}

func TestSignInByProvider(t *testing.T) {
	t.Parallel()
	h, p, front := withProvider(t)
	b := h.browser(t)
	if text := b.expect(t, 200, "GET", "/auth/config", ""); !strings.Contains(text, `"oidc":false`) || !strings.Contains(text, `"unavailable":["oidc"]`) {
		t.Errorf("before the discovery: %s", text)
	}
	b.expect(t, 503, "GET", "/auth/oidc", "", "Origin: ")
	p.open(front.server.URL + "/auth/oidc/callback")
	h.ready(t)
	if text := b.expect(t, 200, "GET", "/auth/config", ""); !strings.Contains(text, `"oidc":true`) || !strings.Contains(text, "The Provider") {
		t.Errorf("after the discovery: %s", text)
	}

	callback := b.signInBy(t, "/auth/oidc", "ada")
	stolen := h.browser(t)
	stolen.expect(t, 400, "GET", callback, "", "Origin: ") // the state is of another browser
	resp, text := b.send(t, "GET", callback, "", "Origin: ", "Sec-Fetch-Site: cross-site")
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/auth/device" {
		t.Fatalf("the callback: %d %s", resp.StatusCode, text)
	}
	if text := b.expect(t, 200, "GET", "/auth/me", ""); !strings.Contains(text, "ada@example.com") || !strings.Contains(text, `"role":"admin"`) {
		t.Errorf("signed in as %s", text)
	}
	id := h.idOf(t, "ada")
	b.expect(t, 400, "GET", callback, "", "Origin: ") // once only
	again := h.browser(t)
	again.expect(t, 303, "GET", again.signInBy(t, "/auth/oidc", "ada"), "", "Origin: ")
	if text := again.expect(t, 200, "GET", "/auth/me", ""); !strings.Contains(text, id) {
		t.Errorf("the second time as %s", text)
	}
	again.expect(t, 400, "GET", "/auth/oidc/callback?code=x&state=y", "", "Origin: ")
	again.expect(t, 502, "GET", "/auth/oidc/callback?error=access_denied&state=y", "", "Origin: ")
	again.expect(t, 501, "GET", "/auth/google", "", "Origin: ")

	wrong := h.browser(t)
	callback = wrong.signInBy(t, "/auth/oidc", "grace")
	forged, _, _ := strings.Cut(callback, "&state=")
	wrong.expect(t, 400, "GET", forged+"&state=other", "", "Origin: ")
	wrong.expect(t, 401, "GET", "/auth/me", "")
	code := regexp.MustCompile(`code=[^&]+`)
	wrong.expect(t, 502, "GET", code.ReplaceAllString(wrong.signInBy(t, "/auth/oidc", "grace"), "code=other"), "", "Origin: ")
	wrong.expect(t, 401, "GET", "/auth/me", "")
}

// An account is never taken over by an e-mail address: only its signed-in owner links to it.
func TestIdentitiesAreLinkedByTheirOwner(t *testing.T) {
	t.Parallel()
	h, p, front := withProvider(t)
	p.open(front.server.URL + "/auth/oidc/callback")
	h.ready(t)
	local := h.browser(t)
	local.expect(t, 200, "POST", "/auth/register", account("local"))
	mallory := h.browser(t)
	if text := mallory.expect(t, 409, "GET", mallory.signInBy(t, "/auth/oidc", "mallory"), "", "Origin: "); !strings.Contains(text, "link=true") {
		t.Errorf("the same address: %s", text)
	}
	mallory.expect(t, 401, "GET", "/auth/me", "")
	mallory.expect(t, 401, "GET", "/auth/oidc?link=true", "", "Origin: ")
	local.expect(t, 403, "GET", "/auth/oidc?link=true", "", "Origin: ", "Sec-Fetch-Site: cross-site")

	callback := local.signInBy(t, "/auth/oidc?link=true", "grace")
	local.expect(t, 200, "POST", "/auth/logout", "")
	local.expect(t, 401, "GET", callback, "", "Origin: ") // the account is not signed in any more
	local.expect(t, 200, "POST", "/auth/login", `{"email":"local@example.com","password":"a sentence of local"}`)
	local.expect(t, 303, "GET", local.signInBy(t, "/auth/oidc?link=true", "grace"), "", "Origin: ")
	grace := h.browser(t)
	grace.expect(t, 303, "GET", grace.signInBy(t, "/auth/oidc", "grace"), "", "Origin: ")
	if text := grace.expect(t, 200, "GET", "/auth/me", ""); !strings.Contains(text, "local@example.com") {
		t.Errorf("by the linked identity: %s", text)
	}
	ada := h.browser(t)
	ada.expect(t, 303, "GET", ada.signInBy(t, "/auth/oidc", "ada"), "", "Origin: ")
	ada.expect(t, 409, "GET", ada.signInBy(t, "/auth/oidc?link=true", "grace"), "", "Origin: ") // it is another account's
}

// Google goes the same way; only its address is another.
func TestSignInByGoogle(t *testing.T) {
	t.Parallel()
	h, p, front := withProvider(t, func(c *signin.Config) {
		g := &c.Providers[0]
		g.Name, g.RedirectURI = "google", strings.Replace(g.RedirectURI, "oidc", "google", 1)
	})
	p.open(front.server.URL + "/auth/google/callback")
	h.ready(t)
	b := h.browser(t)
	b.expect(t, 501, "GET", "/auth/oidc", "", "Origin: ")
	b.expect(t, 303, "GET", b.signInBy(t, "/auth/google", "ada"), "", "Origin: ")
	if text := b.expect(t, 200, "GET", "/auth/me", ""); !strings.Contains(text, "ada@example.com") {
		t.Errorf("signed in as %s", text)
	}
}

func TestSetupTokenByProvider(t *testing.T) {
	t.Parallel()
	h, p, front := withProvider(t, func(c *signin.Config) { c.SetupToken = "the setup token of the tests" })
	p.open(front.server.URL + "/auth/oidc/callback")
	h.ready(t)
	b := h.browser(t)
	b.expect(t, 403, "GET", b.signInBy(t, "/auth/oidc", "ada"), "", "Origin: ")
	b.expect(t, 303, "GET", b.signInBy(t, "/auth/oidc?setup_token=the+setup+token+of+the+tests", "ada"), "", "Origin: ")
	h.browser(t).expect(t, 200, "GET", "/auth/config", "")
}
