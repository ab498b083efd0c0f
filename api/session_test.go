package api_test

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/signin"
	"github.com/harvest-engine/harvest/internal/testkit"
)

const signSecret = "the-secret-that-signs-in-the-tests"

// house is an API with real people behind it: a database, and what signs them in.
type house struct {
	*fixture
	pool    *pgxpool.Pool
	store   *postgres.Store
	service *signin.Service
	clock   *clock
}

// clock is the time of the tokens, which a test moves on.
type clock struct {
	mu   sync.Mutex
	gone time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.gone)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone += d
}

func openHouse(t *testing.T, changes ...func(*signin.Config)) *house {
	t.Helper()
	return openOn(t, testkit.Postgres(t), &clock{}, changes...)
}

// openOn opens a house on a database, which may be another's too: then they are two processes
// that share it.
func openOn(t *testing.T, pool *pgxpool.Pool, at *clock, changes ...func(*signin.Config)) *house {
	t.Helper()
	h := &house{pool: pool, store: postgres.NewStore(pool), clock: at}
	cfg := signin.Config{Store: h.store, Secret: signSecret, Local: true, Log: zerolog.Nop(), Now: h.clock.now}
	for _, change := range changes {
		change(&cfg)
	}
	var err error
	if h.service, err = signin.New(cfg); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.service.Run(running)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	h.fixture = start(t, func(c *api.Config) {
		c.SignIn, c.People, c.Auditor, c.Projects = h.service, h.store, h.store, h.store
		c.Hosts = []string{"harvest.example.com"}
	})
	return h
}

// browser is a browser with its cookies.
type browser struct {
	h      *house
	client *http.Client
}

func (h *house) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{h, &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// send sends a request as a page of the server does; headers are "Name: value".
func (b *browser) send(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, b.h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", b.h.url)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
		if value == "" {
			req.Header.Del(name)
		}
	}
	resp, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	checkContract(t, req, body, resp, string(text))
	return resp, string(text)
}

func (b *browser) expect(t *testing.T, status int, method, path, body string, headers ...string) string {
	t.Helper()
	resp, text := b.send(t, method, path, body, headers...)
	if resp.StatusCode != status {
		t.Errorf("%s %s: %d %s, want %d", method, path, resp.StatusCode, text, status)
	}
	return text
}

func (b *browser) cookie(t *testing.T, name string) string {
	t.Helper()
	u, err := url.Parse(b.h.url + "/auth/")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// set replaces a cookie; "" removes it.
func (b *browser) set(t *testing.T, name, value string) {
	t.Helper()
	u, err := url.Parse(b.h.url)
	if err != nil {
		t.Fatal(err)
	}
	age := 600
	if value == "" {
		age = -1
	}
	b.client.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/", MaxAge: age}})
}

func account(name string) string {
	return fmt.Sprintf(`{"email":"%s@example.com","name":"%s","password":"a sentence of %s"}`, name, name, name)
}

func TestLocalAccounts(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada, grace := h.browser(t), h.browser(t)
	resp, text := ada.send(t, "POST", "/auth/register", account("ada"), "X-Forwarded-Proto: https")
	if resp.StatusCode != 200 || text != "{\"ok\":true}\n" {
		t.Fatalf("register: %d %s", resp.StatusCode, text)
	}
	for _, c := range resp.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || !c.Secure || c.Name == "token" && c.MaxAge > 900 {
			t.Errorf("the cookie %v", c)
		}
	}
	grace.expect(t, 200, "POST", "/auth/register", account("grace"))
	if text := grace.expect(t, 200, "GET", "/auth/me", ""); !strings.Contains(text, `"role":"regular"`) {
		t.Errorf("the second: %s", text)
	}
	ada = h.browser(t) // the first cookies are for https
	ada.expect(t, 200, "POST", "/auth/login", `{"email":"ADA@example.com","password":"a sentence of ada"}`)
	if text := ada.expect(t, 200, "GET", "/auth/me", ""); !strings.Contains(text, `"role":"admin"`) || !strings.Contains(text, `"email":"ada@example.com"`) {
		t.Errorf("the first: %s", text)
	}
	ada.expect(t, 200, "PATCH", "/auth/me", `{"name":"Ada L.","last_project_id":"p","last_llm_provider_id":"m","last_llm_model":"n"}`)
	if text := ada.expect(t, 200, "GET", "/auth/me", ""); !strings.Contains(text, `"last_llm_model":"n"`) || !strings.Contains(text, "Ada L.") {
		t.Errorf("changed: %s", text)
	}
	if text := ada.expect(t, 200, "GET", "/auth/config", ""); !strings.Contains(text, `"local_login":true`) {
		t.Errorf("the ways: %s", text)
	}
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"a taken address":   {account("ada"), 409},
		"short":             {`{"email":"x@example.com","name":"x","password":"1234567"}`, 400},
		"often used":        {`{"email":"x@example.com","name":"x","password":"Password1"}`, 400},
		"often used too":    {`{"email":"x@example.com","name":"x","password":"1q2w3e4r5t"}`, 400},
		"the address":       {`{"email":"x@example.com","name":"x","password":"X@example.com"}`, 400},
		"no name":           {`{"email":"x@example.com","name":" ","password":"long enough of it"}`, 400},
		"no address":        {`{"email":"","name":"x","password":"long enough of it"}`, 400},
		"not an address":    {`{"email":"Ada <a@example.com>","name":"x","password":"long enough of it"}`, 400},
		"two lines":         {`{"email":"a@example.com\nb@example.com","name":"x","password":"long enough of it"}`, 400},
		"a very long one":   {`{"email":"x@example.com","name":"x","password":"` + strings.Repeat("a", 2000) + `"}`, 400},
		"NUL in the name":   {`{"email":"x@example.com","name":"a\u0000b","password":"long enough of it"}`, 400},
		"nothing":           {`{}`, 400},
		"another's on file": {`{"email":"Ada@Example.com","name":"x","password":"long enough of it"}`, 409},
	} {
		if resp, text := h.browser(t).send(t, "POST", "/auth/register", c.body); resp.StatusCode != c.status || len(resp.Cookies()) > 0 {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
	grace.expect(t, 403, "GET", "/admin/users", "")
	ada.expect(t, 409, "PUT", "/admin/users/"+h.idOf(t, "ada")+"/role", `{"role":"regular"}`)
	ada.expect(t, 200, "PUT", "/admin/users/"+h.idOf(t, "grace")+"/role", `{"role":"admin"}`)
	grace.expect(t, 200, "GET", "/admin/users", "") // by the token that she has
	ada.expect(t, 200, "PUT", "/admin/users/"+h.idOf(t, "ada")+"/role", `{"role":"regular"}`)
	ada.expect(t, 403, "GET", "/admin/audit", "")
	if text := grace.expect(t, 200, "GET", "/admin/audit?outcome=denied", ""); !strings.Contains(text, `"user_name":"Ada L."`) {
		t.Errorf("what was denied: %s", text)
	}
}

func (h *house) idOf(t *testing.T, name string) string {
	t.Helper()
	u, _, err := h.store.UserByEmail(context.Background(), name+"@example.com")
	if err != nil {
		t.Fatal(err)
	}
	return u.ID
}

// A session renews its token silently, and ends for good with the logout.
func TestSessionsOfBrowsers(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada := h.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	first, session := ada.cookie(t, "token"), ada.cookie(t, "session")
	ada.expect(t, 200, "GET", "/auth/me", "")
	if ada.cookie(t, "token") != first {
		t.Error("a token that is good was replaced")
	}
	h.clock.pass(11 * time.Minute)
	alone := h.browser(t)
	alone.set(t, "token", first)
	alone.expect(t, 401, "GET", "/auth/me", "") // expired, and nothing renews it
	ada.expect(t, 200, "GET", "/auth/me", "")
	renewed := ada.cookie(t, "token")
	if renewed == first || ada.cookie(t, "session") != session {
		t.Error("the token was not renewed")
	}
	ada.expect(t, 200, "POST", "/auth/logout", "")
	if ada.cookie(t, "token") != "" || ada.cookie(t, "session") != "" {
		t.Error("the cookies stay")
	}
	alone.set(t, "token", renewed)
	alone.expect(t, 401, "GET", "/auth/me", "")
	alone.set(t, "session", session)
	alone.expect(t, 401, "GET", "/auth/me", "")
	alone.set(t, "token", "")
	alone.expect(t, 401, "GET", "/auth/me", "")
}

// reclaim changes what a token says, and signs it anew.
func reclaim(t *testing.T, token string, key any, method jwt.SigningMethod, change func(jwt.MapClaims)) string {
	t.Helper()
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		t.Fatal(err)
	}
	change(claims)
	text, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestForgedTokens(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada, mallory := h.browser(t), h.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	mallory.expect(t, 200, "POST", "/auth/register", account("mallory"))
	good := mallory.cookie(t, "token")
	key, err := hkdf.Key(sha256.New, []byte(signSecret), nil, "harvest session", sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	keep := func(jwt.MapClaims) {}
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	other, err := signin.New(signin.Config{Store: h.store, Secret: signSecret + "x", Local: true})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := other.Login(context.Background(), domain.Login{Email: "ada@example.com", Password: "a sentence of ada"})
	if err != nil {
		t.Fatal(err)
	}
	if got := reclaim(t, good, key, jwt.SigningMethodHS256, keep); got == "" {
		t.Fatal("the key is not the one")
	}
	for name, token := range map[string]string{
		"alg=none":          reclaim(t, good, jwt.UnsafeAllowNoneSignatureType, jwt.SigningMethodNone, keep),
		"alg=none, bare":    base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + body + ".",
		"another algorithm": reclaim(t, good, key, jwt.SigningMethodHS512, keep),
		"another key":       reclaim(t, good, []byte(signSecret), jwt.SigningMethodHS256, keep),
		"another server's":  elsewhere.Token,
		"wrong issuer":      reclaim(t, good, key, jwt.SigningMethodHS256, func(c jwt.MapClaims) { c["iss"] = "evil" }),
		"wrong audience":    reclaim(t, good, key, jwt.SigningMethodHS256, func(c jwt.MapClaims) { c["aud"] = "state" }),
		"never expiring":    reclaim(t, good, key, jwt.SigningMethodHS256, func(c jwt.MapClaims) { delete(c, "exp") }),
		"expired":           reclaim(t, good, key, jwt.SigningMethodHS256, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Second).Unix() }),
		"another person":    reclaim(t, good, key, jwt.SigningMethodHS256, func(c jwt.MapClaims) { c["sub"] = h.idOf(t, "ada") }),
		"another session":   reclaim(t, good, key, jwt.SigningMethodHS256, func(c jwt.MapClaims) { c["sid"] = domain.NewID() }),
		"changed":           head + "." + body + "A." + signature,
		"unsigned":          head + "." + body + ".",
		"the owner token":   token,
		"garbage":           "a.b.c",
	} {
		b := h.browser(t)
		b.set(t, "token", token)
		b.expect(t, 401, "GET", "/auth/me", "")
		if t.Failed() {
			t.Fatalf("%s was taken", name)
		}
	}
	// The same claims, signed as they should be, are taken: the tests above fail for what they change.
	b := h.browser(t)
	b.set(t, "token", reclaim(t, good, key, jwt.SigningMethodHS256, keep))
	b.expect(t, 200, "GET", "/auth/me", "")
	b.expect(t, 401, "GET", "/auth/me", "", "Authorization: Bearer "+good) // a cookie's token is no bearer token
}

// What changes something by a cookie must come from a page of ours.
func TestCookiesFromOtherPages(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada := h.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	for name, c := range map[string]struct {
		status  int
		headers []string
	}{
		"own page":             {200, nil},
		"no browser":           {200, []string{"Origin: "}},
		"another page":         {403, []string{"Origin: https://evil.example.com"}},
		"no page":              {403, []string{"Origin: null"}},
		"another site, untold": {403, []string{"Origin: ", "Sec-Fetch-Site: cross-site"}},
		"a sibling":            {403, []string{"Origin: ", "Sec-Fetch-Site: same-site"}},
		"another port":         {403, []string{"Origin: http://127.0.0.1:1"}},
	} {
		if resp, text := ada.send(t, "PATCH", "/auth/me", `{"name":"ada"}`, c.headers...); resp.StatusCode != c.status {
			t.Errorf("%s changes: %d %s", name, resp.StatusCode, text)
		}
		for path, body := range map[string]string{"/auth/login": `{"email":"ada@example.com","password":"a sentence of ada"}`, "/auth/logout": ""} {
			if path == "/auth/logout" && c.status == 200 {
				continue
			}
			if resp, text := ada.send(t, "POST", path, body, c.headers...); resp.StatusCode != c.status {
				t.Errorf("%s %s: %d %s", name, path, resp.StatusCode, text)
			}
		}
	}
	const rebound = "Host: evil.example.com"
	ada.expect(t, 403, "POST", "/auth/login", `{"email":"ada@example.com","password":"a sentence of ada"}`, rebound, "Origin: http://evil.example.com")
	ada.expect(t, 403, "PATCH", "/auth/me", `{"name":"ada"}`, rebound, "Origin: http://evil.example.com", "Cookie: token="+ada.cookie(t, "token"))
	ada.expect(t, 403, "GET", "/auth/me", "", "Origin: https://evil.example.com")
	ada.expect(t, 403, "GET", "/auth/me", "", "Origin: null") // a sandboxed page, such as a machine's
	ada.expect(t, 403, "GET", "/auth/me", "", "Origin: https://evil.example.com", "Connection: Upgrade", "Upgrade: websocket")
}

func TestAttemptsAreLimited(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	b := h.browser(t)
	b.expect(t, 200, "POST", "/auth/register", account("ada"))
	wrong := `{"email":"ada@example.com","password":"a sentence of bob"}`
	for i := range 10 {
		unknown := b.expect(t, 401, "POST", "/auth/login", `{"email":"nobody@example.com","password":"a sentence of bob"}`)
		if known := b.expect(t, 401, "POST", "/auth/login", wrong); i == 0 && message(t, known) != message(t, unknown) {
			t.Errorf("an unknown address is told apart: %s, %s", known, unknown)
		}
	}
	if entries, err := h.store.AuditEntries(t.Context(), domain.AuditFilter{Route: "/auth/login", Limit: 9}); err != nil || len(entries) != 1 || entries[0].Status != 401 {
		t.Errorf("noted: %+v, %v", entries, err)
	}
	resp, text := b.send(t, "POST", "/auth/login", `{"email":" ADA@example.com","password":"a sentence of ada"}`)
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("after ten wrong ones: %d %s", resp.StatusCode, text)
	}
	for range 60 {
		resp, _ = b.send(t, "POST", "/auth/login", `{"email":"`+domain.NewID()+`@example.com","password":"x"}`)
		if resp.StatusCode == 429 {
			return
		}
	}
	t.Error("an address may try without end")
}

func message(t *testing.T, text string) string {
	t.Helper()
	var body struct{ Error string }
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	return body.Error
}

func TestSetupToken(t *testing.T) {
	t.Parallel()
	h := openHouse(t, func(c *signin.Config) { c.SetupToken = "the setup token of the tests" })
	b := h.browser(t)
	b.expect(t, 403, "POST", "/auth/register", account("ada"))
	wrong := strings.Replace(account("ada"), "{", `{"setup_token":"the setup token",`, 1)
	b.expect(t, 403, "POST", "/auth/register", wrong)
	right := strings.Replace(account("ada"), "{", `{"setup_token":"the setup token of the tests",`, 1)
	b.expect(t, 200, "POST", "/auth/register", right)
	if text := b.expect(t, 200, "GET", "/auth/me", ""); !strings.Contains(text, `"admin"`) {
		t.Errorf("the first: %s", text)
	}
	h.browser(t).expect(t, 200, "POST", "/auth/register", account("grace"))
}

func TestWithoutLocalAccounts(t *testing.T) {
	t.Parallel()
	h := openHouse(t, func(c *signin.Config) { c.Local = false })
	b := h.browser(t)
	b.expect(t, 403, "POST", "/auth/register", account("ada"))
	b.expect(t, 403, "POST", "/auth/login", `{"email":"ada@example.com","password":"a sentence of ada"}`)
	b.expect(t, 501, "GET", "/auth/google", "")
}
