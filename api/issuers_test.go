package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/signin"
)

// answerFor makes a provider answer for these people, who come back by callback.
func (p *idp) answerFor(callback string, people ...*storage.User) {
	users := map[string]*storage.User{}
	for _, u := range people {
		users[u.Username], users[u.ID] = u, u
	}
	known := map[string]*storage.Client{"harvest": storage.WebClient("harvest", "client-secret", callback)}
	handler := exampleop.SetupServer(p.server.URL, storage.NewStorageWithClients(logins{users}, known), nil, false)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serve = handler
}

func someone(id, name, email string, verified bool) *storage.User {
	return &storage.User{ID: id, Username: name, Password: "secret", FirstName: name, LastName: "X", Email: email, EmailVerified: verified}
}

// withTwoProviders gives a house with two providers, oidc and google, both of which answer.
func withTwoProviders(t *testing.T) (h *house, one, two *idp) {
	t.Helper()
	two = &idp{}
	two.server = httptest.NewServer(two)
	t.Cleanup(two.server.Close)
	h, one, front := withProvider(t, func(c *signin.Config) {
		second := c.Providers[0]
		second.Name, second.Issuer = "google", two.server.URL
		second.RedirectURI = strings.Replace(second.RedirectURI, "oidc", "google", 1)
		c.Providers = append(c.Providers, second)
	})
	one.answerFor(front.server.URL+"/auth/oidc/callback", someone("17", "ada", "ada@example.com", true))
	two.answerFor(front.server.URL+"/auth/google/callback",
		someone("17", "eve", "eve@example.com", true), someone("18", "mallory", "ada@example.com", false), someone("19", "trudy", "ada@example.com", true))
	for range 10_000 { // each is a call over the network
		ways := h.service.Ways()
		if ways[0].Fault == nil && ways[1].Fault == nil {
			return h, one, two
		}
		h.browser(t).expect(t, 200, "GET", "/auth/config", "")
	}
	t.Fatal("the providers were never discovered")
	return nil, nil, nil
}

// The same subject at another issuer, and the same e-mail address, verified or not, are
// somebody else.
func TestPeopleOfTwoIssuers(t *testing.T) {
	t.Parallel()
	h, _, _ := withTwoProviders(t)
	ada := h.browser(t)
	ada.expect(t, 303, "GET", ada.signInBy(t, "/auth/oidc", "ada"), "", "Origin: ")
	id := h.idOf(t, "ada")

	eve := h.browser(t)
	eve.expect(t, 303, "GET", eve.signInBy(t, "/auth/google", "eve"), "", "Origin: ")
	if text := eve.expect(t, 200, "GET", "/auth/me", ""); strings.Contains(text, id) || !strings.Contains(text, "eve@example.com") || !strings.Contains(text, `"role":"regular"`) {
		t.Errorf("the same subject of another issuer: %s", text)
	}
	mallory := h.browser(t)
	mallory.expect(t, 303, "GET", mallory.signInBy(t, "/auth/google", "mallory"), "", "Origin: ")
	if text := mallory.expect(t, 200, "GET", "/auth/me", ""); strings.Contains(text, id) || strings.Contains(text, "ada@example.com") {
		t.Errorf("an address that is not verified: %s", text)
	}
	trudy := h.browser(t)
	trudy.expect(t, 409, "GET", trudy.signInBy(t, "/auth/google", "trudy"), "", "Origin: ")
	trudy.expect(t, 401, "GET", "/auth/me", "")
	if u, _, err := h.store.UserByEmail(context.Background(), "ada@example.com"); err != nil || u.ID != id {
		t.Errorf("the address is now of %+v, %v", u, err)
	}
	for subject, issuer := range map[string]int{"17": 2, "18": 1} {
		var n int
		if err := h.pool.QueryRow(t.Context(), "select count(distinct user_id) from identities where subject = $1", subject).Scan(&n); err != nil || n != issuer {
			t.Errorf("subject %s is %d people, %v", subject, n, err)
		}
	}
}

// A callback is good once, in the browser that began, for the provider that it began with.
func TestCallbacksAreNotMixed(t *testing.T) {
	t.Parallel()
	h, _, _ := withTwoProviders(t)
	ada := h.browser(t)
	callback := ada.signInBy(t, "/auth/oidc", "ada")
	ada.expect(t, 400, "GET", strings.Replace(callback, "/auth/oidc/", "/auth/google/", 1), "", "Origin: ")
	ada.expect(t, 401, "GET", "/auth/me", "")

	// What the browser kept is gone with the first try, but a thief may have a copy of both.
	again := h.browser(t)
	callback = again.signInBy(t, "/auth/oidc", "ada")
	kept := again.cookie(t, "sign_in")
	again.expect(t, 303, "GET", callback, "", "Origin: ")
	thief := h.browser(t)
	thief.expect(t, 502, "GET", callback, "", "Origin: ", "Cookie: sign_in="+kept) // the provider gave that code out once
	thief.expect(t, 401, "GET", "/auth/me", "")

	// The state of one sign-in does not take the code of another.
	first, second := h.browser(t), h.browser(t)
	one, two := first.signInBy(t, "/auth/oidc", "ada"), second.signInBy(t, "/auth/oidc", "ada")
	mixed := "/auth/oidc/callback?" + url.Values{"code": {valueOf(t, two, "code")}, "state": {valueOf(t, one, "state")}}.Encode()
	first.expect(t, http.StatusBadGateway, "GET", mixed, "", "Origin: ") // by PKCE
	first.expect(t, 401, "GET", "/auth/me", "")
	users, err := h.store.Users(t.Context())
	if err != nil || len(users) != 1 || users[0].Role != domain.UserAdmin {
		t.Errorf("there are %+v, %v", users, err)
	}
}

func valueOf(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Query().Get(name) == "" {
		t.Fatalf("%s has no %s, %v", address, name, err)
	}
	return u.Query().Get(name)
}
