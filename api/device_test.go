package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/signin"
)

// terminal is a device that asks for a key.
type terminal struct {
	Code string `json:"device_code"`
	User string `json:"user_code"`
	Page string `json:"verification_uri_complete"`
}

func (h *house) terminal(t *testing.T) terminal {
	t.Helper()
	var d terminal
	text := h.browser(t).expect(t, 201, "POST", "/auth/device", `{"name":"laptop","scopes":["read","ask"],"expires_in_days":7}`)
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// look asks for the key.
func (h *house) look(t *testing.T, status int, d terminal) string {
	t.Helper()
	return h.browser(t).expect(t, status, "POST", "/auth/device/token", `{"device_code":"`+d.Code+`"}`)
}

// decide sends the form of the page.
func (b *browser) decide(t *testing.T, status int, code, decision string, headers ...string) string {
	t.Helper()
	form := url.Values{"user_code": {code}, "decision": {decision}}.Encode()
	return b.expect(t, status, "POST", "/auth/device/decide", form, append(headers, "Content-Type: application/x-www-form-urlencoded")...)
}

func TestATerminalGetsAKeyOnceSomebodyGrantsIt(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada := h.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	d := h.terminal(t)
	if text := h.look(t, 202, d); !strings.Contains(text, "waiting") {
		t.Errorf("before any decision: %s", text)
	}
	page := ada.expect(t, 200, "GET", d.Page, "", "Origin: ")
	for _, shown := range []string{d.User, "laptop", "read, ask", "7 days", "Grant"} {
		if !strings.Contains(page, shown) {
			t.Errorf("the page lacks %q: %s", shown, page)
		}
	}
	if strings.Contains(page, d.Code) {
		t.Error("the page shows what fetches the key")
	}
	sloppy := strings.ToLower(strings.ReplaceAll(d.User, "-", " "))
	ada.decide(t, 403, d.User, "grant", "Origin: https://evil.example")
	ada.decide(t, 200, sloppy, "grant")
	ada.decide(t, 404, d.User, "refuse")
	var key struct{ Key, Name string }
	if err := json.Unmarshal([]byte(h.look(t, 200, d)), &key); err != nil || key.Name != "laptop" {
		t.Fatalf("the key: %+v, %v", key, err)
	}
	nobody := h.browser(t)
	if me := nobody.expect(t, 200, "GET", "/auth/me", "", "Authorization: Bearer "+key.Key); !strings.Contains(me, "ada@example.com") {
		t.Errorf("the key is %s's", me)
	}
	nobody.expect(t, 403, "GET", "/auth/keys", "", "Authorization: Bearer "+key.Key) // it has not the scope
	h.look(t, 404, d)                                                                // fetched once
}

func TestATerminalThatIsRefused(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada := h.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	d := h.terminal(t)
	h.browser(t).decide(t, 401, d.User, "grant")
	ada.decide(t, 200, d.User, "refuse")
	ada.decide(t, 404, d.User, "grant")
	h.look(t, 403, d)
	if page := ada.expect(t, 404, "GET", "/auth/device?user_code=BBBB-BBBB", "", "Origin: "); !strings.Contains(page, "harvest login") {
		t.Errorf("a wrong code: %s", page)
	}
	h.look(t, 404, terminal{Code: "nonsense"})
	guesser := h.browser(t)
	guesser.expect(t, 200, "POST", "/auth/register", account("guesser"))
	for range 30 {
		guesser.expect(t, 404, "GET", "/auth/device?user_code=BBBB-BBBB", "", "Origin: ")
	}
	guesser.expect(t, 429, "GET", d.Page, "", "Origin: ")
}

// A key that may manage keys grants none that is good for more than itself.
func TestAKeyGrantsNoMoreThanItHas(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada := h.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	var made struct{ Key string }
	if err := json.Unmarshal([]byte(ada.expect(t, 201, "POST", "/auth/keys", `{"name":"k","scopes":["account","read"]}`)), &made); err != nil {
		t.Fatal(err)
	}
	d := h.terminal(t)
	h.browser(t).decide(t, 403, d.User, "grant", "Authorization: Bearer "+made.Key)
	h.look(t, 202, d)
}

var signInLink = regexp.MustCompile(`href="(/auth/oidc\?next=[^"]+)"`)

// Who is not signed in comes back to the page by way of the provider.
func TestThePageLeadsThroughTheProvider(t *testing.T) {
	t.Parallel()
	h, p, front := withProvider(t, func(c *signin.Config) { c.Local = false })
	p.open(front.server.URL + "/auth/oidc/callback")
	h.ready(t)
	d := h.terminal(t)
	ada := h.browser(t)
	link := signInLink.FindStringSubmatch(ada.expect(t, 200, "GET", d.Page, "", "Origin: "))
	if link == nil {
		t.Fatal("the page leads to no provider")
	}
	resp, text := ada.send(t, "GET", ada.signInBy(t, link[1], "ada"), "", "Origin: ")
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != d.Page {
		t.Fatalf("back at %d %s %s", resp.StatusCode, resp.Header.Get("Location"), text)
	}
	ada.decide(t, 200, d.User, "grant")
	h.look(t, 200, d)
	if page := ada.expect(t, 200, "GET", "/auth/device", "", "Origin: "); !strings.Contains(page, "Signed in as") {
		t.Errorf("without a code: %s", page)
	}
	for _, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "evil", "/%0a\t", "http:/x", "/" + strings.Repeat("x", 600)} {
		ada.expect(t, 400, "GET", "/auth/oidc?next="+url.QueryEscape(next), "", "Origin: ")
	}
}
