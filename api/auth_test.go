package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/api"
	"go.temporal.io/sdk/converter"

	commonpb "go.temporal.io/api/common/v1"
)

func TestEveryRouteNeedsTheToken(t *testing.T) {
	t.Parallel()
	f := start(t, withTemporal(t, http.NotFoundHandler()))
	open := map[string]bool{"GET /health": true, "GET /ready": true, "GET /auth/config": true, "GET /openapi.yaml": true, "GET /auth/owner": true, "OPTIONS /temporal-codec/decode": true,
		"POST /auth/register": true, "POST /auth/login": true, "POST /auth/sign-in": true, "POST /auth/logout": true,
		"GET /auth/google": true, "GET /auth/google/callback": true, "GET /auth/oidc": true, "GET /auth/oidc/callback": true,
		"GET /auth/device": true, "POST /auth/device": true, "POST /auth/device/token": true,
		"GET /agents/:agent_id/install.sh": true, "GET /agents/binary/harvest-agent": true}
	routes := f.server.Routes()
	if len(routes) < 20 {
		t.Fatalf("only %d routes", len(routes))
	}
	for _, r := range routes {
		method, path, _ := strings.Cut(r, " ")
		path = strings.NewReplacer(":", "x", "*path", "x").Replace(path)
		for name, header := range map[string]string{"none": "Authorization: ", "wrong": "Authorization: Bearer " + token + "x", "empty": "Authorization: Bearer ",
			"other scheme": "Authorization: Basic " + token, "prefix": "Authorization: Bearer " + token[:10]} {
			resp, text := f.call(t, method, path, "{}", header)
			if open[r] && name == "none" {
				if resp.StatusCode == 401 && r != "GET /auth/owner" {
					t.Errorf("%s is closed: %s", r, text)
				}
				continue
			}
			if !open[r] && (resp.StatusCode != 401 || method != "HEAD" && failureOf(t, text).Code != "unauthorized" || resp.Header.Get("WWW-Authenticate") == "") {
				t.Errorf("%s with %s token: %d %s", r, name, resp.StatusCode, text)
			}
		}
	}
	if len(f.engine.requests) > 0 || len(f.engine.deleted) > 0 {
		t.Error("a refused call reached the engine")
	}
}

// No token that is nearly right is taken: every character counts, and none may follow.
func TestNearlyTheToken(t *testing.T) {
	t.Parallel()
	f := start(t)
	wrong := []string{token[:len(token)-1], token[1:], token + "0", token + token, strings.ToUpper(token), strings.Repeat("0", len(token))}
	for i := range token {
		for _, c := range "0aZ~" {
			if near := token[:i] + string(c) + token[i+1:]; near != token {
				wrong = append(wrong, near)
			}
		}
	}
	for _, near := range wrong {
		if near == token {
			continue
		}
		if resp, text := f.call(t, http.MethodGet, "/repositories", "", "Authorization: Bearer "+near); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q was taken for the token: %d %s", near, resp.StatusCode, text)
		}
	}
	if resp, text := f.call(t, http.MethodGet, "/repositories", "", "Authorization: Bearer "+token); resp.StatusCode != http.StatusOK {
		t.Errorf("the token itself: %d %s", resp.StatusCode, text)
	}
}

func TestNewRefusesBadConfigurations(t *testing.T) {
	t.Parallel()
	if _, err := api.New(api.Config{OwnerToken: "short"}); err == nil {
		t.Error("a short token was accepted")
	}
	if _, err := api.New(api.Config{OwnerToken: token}); err == nil {
		t.Error("missing ports were accepted")
	}
}

const uiOrigin = "http://127.0.0.1:8233"

// reversed is a codec whose decoding anyone can see.
type reversed struct{}

func (reversed) Encode(p []*commonpb.Payload) ([]*commonpb.Payload, error) { return p, nil }

func (reversed) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	for _, p := range payloads {
		p.Data = []byte("decoded " + string(p.Data))
	}
	return payloads, nil
}

func withTemporal(t *testing.T, ui http.Handler) func(*api.Config) {
	t.Helper()
	server := httptest.NewServer(ui)
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL + "/temporal")
	if err != nil {
		t.Fatal(err)
	}
	return func(c *api.Config) {
		c.TemporalUI, c.UIOrigins, c.Hosts = target, []string{uiOrigin}, []string{"harvest.example.com"}
		c.Codec = converter.NewPayloadCodecHTTPHandler(reversed{})
	}
}

// signIn follows a sign-in link and gives the cookies, as header lines, that it sets.
func (f *fixture) signIn(t *testing.T) (temporal, codec string) {
	t.Helper()
	link := api.SignInURL(f.url, token, time.Now())
	if strings.Contains(link, token) {
		t.Error("the link holds the token")
	}
	resp, text := f.call(t, "GET", strings.TrimPrefix(link, f.url), "", "Authorization: ")
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/temporal/" {
		t.Fatalf("sign-in: %d %s", resp.StatusCode, text)
	}
	for _, c := range resp.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, token) {
			t.Errorf("cookie %v", c)
		}
		switch c.Path {
		case "/temporal":
			temporal = "Cookie: other=1; token=a; session=b; sign_in=c; " + c.Name + "=" + c.Value
		case "/temporal-codec":
			codec = "Cookie: " + c.Name + "=" + c.Value
		}
	}
	return temporal, codec
}

func TestSignInLinks(t *testing.T) {
	t.Parallel()
	f := start(t, withTemporal(t, http.NotFoundHandler()))
	for name, link := range map[string]string{
		"expired":      api.SignInURL("", token, time.Now().Add(-13*time.Hour)),
		"other token":  api.SignInURL("", token+"x", time.Now()),
		"none":         "/auth/owner",
		"garbage":      "/auth/owner?ticket=1.2.3",
		"never ending": "/auth/owner?ticket=99999999999.00",
	} {
		if resp, text := f.call(t, "GET", link, "", "Authorization: "); resp.StatusCode != 401 || len(resp.Cookies()) > 0 {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
	link := api.SignInURL("", token, time.Now())
	if resp, _ := f.call(t, "GET", link, "", "Host: evil.example.com"); resp.StatusCode != 403 {
		t.Errorf("sign-in under another name: %d", resp.StatusCode)
	}
	if resp, _ := f.call(t, "GET", link, "", "Host: harvest.example.com:8080"); resp.StatusCode != 303 {
		t.Errorf("sign-in under a listed name: %d", resp.StatusCode)
	}
	// A ticket is not a session.
	_, ticket, _ := strings.Cut(link, "ticket=")
	if resp, _ := f.call(t, "GET", "/temporal/", "", "Authorization: ", "Cookie: harvest_owner="+ticket); resp.StatusCode != 401 {
		t.Errorf("ticket as a cookie: %d", resp.StatusCode)
	}
}

func TestTemporalPages(t *testing.T) {
	t.Parallel()
	type seen struct{ path, query, cookie, auth, origin, referer string }
	requests := make(chan seen, 10)
	f := start(t, withTemporal(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- seen{r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("Cookie"), r.Header.Get("Authorization"), r.Header.Get("Origin"), r.Header.Get("Referer")}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.WriteHeader(http.StatusTeapot)
	})))
	cookie, _ := f.signIn(t)
	own := "Origin: " + f.url
	resp, _ := f.call(t, "POST", "/temporal/api/turn%2F1/x?q=1", "{}", "Authorization: ", cookie, own, "Referer: "+f.url+"/temporal/")
	if resp.StatusCode != http.StatusTeapot || resp.Header.Get("Access-Control-Allow-Origin") != "" || resp.Header.Get("Content-Security-Policy") == "" {
		t.Fatalf("proxied: %d %v", resp.StatusCode, resp.Header)
	}
	if got := <-requests; got != (seen{path: "/temporal/api/turn%2F1/x", query: "q=1", cookie: "other=1"}) {
		t.Errorf("the UI saw %+v", got)
	}
	cases := []struct {
		name   string
		method string
		status int
		header []string
	}{
		{"bearer", "GET", 418, nil},
		{"cookie", "GET", 418, []string{"Authorization: ", cookie}},
		{"own page", "GET", 418, []string{"Authorization: ", cookie, "Sec-Fetch-Site: same-origin"}},
		{"followed link", "GET", 418, []string{"Authorization: ", cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}},
		{"no cookie", "GET", 401, []string{"Authorization: "}},
		{"changed cookie", "GET", 401, []string{"Authorization: ", cookie + "0"}},
		{"other origin", "POST", 403, []string{"Authorization: ", cookie, "Origin: http://127.0.0.1:3000"}},
		{"other origin with the token", "POST", 403, []string{"Origin: https://evil.example.com"}},
		{"null origin", "GET", 403, []string{"Authorization: ", cookie, "Origin: null"}},
		{"UI's own origin", "POST", 403, []string{"Authorization: ", cookie, "Origin: " + uiOrigin}},
		{"framed", "GET", 403, []string{"Authorization: ", cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"}},
		{"embedded", "GET", 403, []string{"Authorization: ", cookie, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"}},
		{"posted form", "POST", 403, []string{"Authorization: ", cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}},
		{"rebound name", "GET", 403, []string{"Authorization: ", cookie, "Host: rebound.example.com"}},
		{"rebound name with its origin", "GET", 403, []string{"Authorization: ", cookie, "Host: rebound.example.com", "Origin: http://rebound.example.com"}},
		{"listed name", "GET", 418, []string{"Authorization: ", cookie, "Host: harvest.example.com"}},
		{"localhost", "GET", 418, []string{"Authorization: ", cookie, "Host: localhost:1"}},
		{"ipv6", "GET", 418, []string{"Authorization: ", cookie, "Host: [::1]:1"}},
	}
	for _, c := range cases {
		resp, text := f.call(t, c.method, "/temporal/x", "", c.header...)
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, resp.StatusCode, text, c.status)
		}
		select {
		case <-requests:
			if c.status != 418 {
				t.Errorf("%s: passed on", c.name)
			}
		default:
		}
	}
	// The cookie opens nothing else.
	if resp, _ := f.call(t, "GET", "/repositories", "", "Authorization: ", cookie); resp.StatusCode != 401 {
		t.Errorf("cookie on another route: %d", resp.StatusCode)
	}
}

func TestTemporalDown(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *api.Config) { c.TemporalUI = &url.URL{Scheme: "http", Host: "127.0.0.1:1"} })
	resp, text := f.call(t, "GET", "/temporal/", "")
	if resp.StatusCode != 502 || failureOf(t, text).Code != "upstream" || strings.Contains(text, "127.0.0.1") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if resp, _ := f.call(t, "POST", "/temporal-codec/decode", "{}"); resp.StatusCode != 404 {
		t.Errorf("codec without keys: %d", resp.StatusCode)
	}
}

// Payloads open for the owner on the UI's own page; any other page or caller is refused.
func TestPayloadsOpenForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	f := start(t, withTemporal(t, http.NotFoundHandler()))
	_, cookie := f.signIn(t)
	const body = `{"payloads":[{"metadata":{"encoding":"YQ=="},"data":"c2VjcmV0"}]}`
	const opened = "ZGVjb2RlZCBzZWNyZXQ=" // "decoded secret"
	cases := []struct {
		name   string
		status int
		allow  string
		header []string
	}{
		{"owner with the token", 200, "", nil},
		{"page under /temporal/", 200, "", []string{"Authorization: ", cookie, "Origin: " + f.url}},
		{"page of the UI's own port", 200, uiOrigin, []string{"Authorization: ", cookie, "Origin: " + uiOrigin}},
		{"nobody", 401, "", []string{"Authorization: "}},
		{"nobody on the UI's page", 401, "", []string{"Authorization: ", "Origin: " + uiOrigin}},
		{"wrong token", 401, "", []string{"Authorization: Bearer x"}},
		{"wrong token beside the cookie", 401, "", []string{"Authorization: Bearer x", cookie}},
		{"other page", 403, "", []string{"Authorization: ", cookie, "Origin: https://evil.example.com"}},
		{"other port", 403, "", []string{"Authorization: ", cookie, "Origin: http://127.0.0.1:9999"}},
		{"other page with the token", 403, "", []string{"Origin: https://evil.example.com"}},
		{"page without an origin", 403, "", []string{"Authorization: ", cookie, "Origin: null"}},
		{"other site by fetch metadata", 403, "", []string{"Authorization: ", cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}},
		{"rebound name", 403, "", []string{"Authorization: ", cookie, "Host: evil.example.com", "Origin: http://evil.example.com"}},
	}
	for _, c := range cases {
		resp, text := f.call(t, "POST", "/temporal-codec/decode", body, append(c.header, "Content-Type: application/json")...)
		if resp.StatusCode != c.status || strings.Contains(text, opened) != (c.status == 200) {
			t.Errorf("%s: %d %s, want %d", c.name, resp.StatusCode, text, c.status)
		}
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != c.allow {
			t.Errorf("%s: allows origin %q, want %q", c.name, got, c.allow)
		}
	}
	if resp, text := f.call(t, "POST", "/temporal-codec/encode", body); resp.StatusCode != 404 {
		t.Errorf("encode: %d %s", resp.StatusCode, text)
	}
	for origin, status := range map[string]int{uiOrigin: 204, "https://evil.example.com": 403} {
		resp, _ := f.call(t, "OPTIONS", "/temporal-codec/decode", "", "Authorization: ", "Origin: "+origin)
		if resp.StatusCode != status || (resp.Header.Get("Access-Control-Allow-Origin") == origin) != (status == 204) {
			t.Errorf("preflight from %s: %d %v", origin, resp.StatusCode, resp.Header)
		}
	}
}
