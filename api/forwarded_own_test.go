package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
)

// suite is an API with people and machines in a database, and a service on one of these.
type suite struct {
	*house
	forward domain.PortForward
	seen    chan *http.Request
}

func openSuite(t *testing.T, forwardHost string, changes ...func(*api.Config)) *suite {
	t.Helper()
	h := openHouse(t)
	s := &suite{house: h, seen: make(chan *http.Request, 16)}
	h.fixture = start(t, func(c *api.Config) {
		c.SignIn, c.People, c.Auditor, c.Projects, c.Forwards, c.ForwardHost = h.service, h.store, h.store, h.store, h.store, forwardHost
		for _, change := range changes {
			change(c)
		}
	})
	h.fixture.server.SetAccessEvery(50 * time.Millisecond)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.seen <- r
		if r.Header.Get("Upgrade") != "" {
			if conn, err := websocket.Accept(w, r, nil); err == nil {
				_ = conn.Write(r.Context(), websocket.MessageText, []byte("hello"))
				_ = conn.Close(websocket.StatusNormalClosure, "")
			}
			return
		}
		w.Header().Add("Set-Cookie", "sid=1; Path=/; Domain=localhost")
		w.Header().Add("Set-Cookie", "session=theirs; Path=/; HttpOnly")
		w.Header().Add("Set-Cookie", "harvest_visit=stolen; Path=/")
		w.Header().Add("Set-Cookie", "__Host-sid=2; Path=/; Secure")
		w.Header().Set("Location", "http://"+r.Host+"/next")
		_, _ = io.WriteString(w, "page "+r.RequestURI)
		if r.URL.Path == "/stream" {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(func() {
		h.fixture.server.Drain()
		service.CloseClientConnections()
		service.Close()
	})
	h.browser(t).expect(t, 200, "POST", "/auth/register", account("admin"))
	for _, sql := range []string{
		`insert into groups (id, name) values ('g', 'g'), ('other', 'other')`,
		`insert into projects (id, name, group_id, created_by) select 'p1', 'p', 'g', id from users limit 1`,
		`insert into agents (id, project_id, hostname, token_hash) values ('a1', 'p1', 'box', 'a1')`,
	} {
		if _, err := h.pool.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	s.forward, err = h.store.CreatePortForward(t.Context(), domain.PortForward{ProjectID: "p1", AgentID: "a1", Port: portOf(service), RouteName: "web"}, domain.Author{UserID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// member signs a person up who is of the group or not, in a browser that takes every host name
// for the server.
func (s *suite) member(t *testing.T, name, group string) *browser {
	t.Helper()
	b := s.browser(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.TrimPrefix(s.url, "http://")
	b.client = &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, at)
		}},
	}
	b.expect(t, 200, "POST", "/auth/register", account(name))
	if _, err := s.pool.Exec(t.Context(), `insert into memberships (user_id, group_id) select id, $1 from users where name = $2`, group, name); err != nil {
		t.Fatal(err)
	}
	return b
}

// get fetches an address as a browser does: a page, unless headers say otherwise.
func (b *browser) get(t *testing.T, address string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append([]string{"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-Site: none"}, headers...) {
		name, value, _ := strings.Cut(line, ": ")
		if req.Header.Set(name, value); value == "" {
			req.Header.Del(name)
		}
		if name == ":method" {
			req.Header.Del(name)
			req.Method = value
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
	return resp, string(text)
}

// open follows the redirects from a route to the service's page, and gives the origin of that.
func (s *suite) open(t *testing.T, b *browser) (origin string) {
	t.Helper()
	resp, text := b.get(t, s.url+route+"/a%2Fb?x=1")
	enter := resp.Header.Get("Location")
	if resp.StatusCode != http.StatusSeeOther || !strings.Contains(enter, "//"+s.forward.ID+".") || resp.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Fatalf("the route answers %d %s to %s", resp.StatusCode, text, enter)
	}
	resp, text = b.get(t, enter)
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/a%2Fb?x=1" {
		t.Fatalf("the ticket answers %d %s to %s", resp.StatusCode, text, resp.Header.Get("Location"))
	}
	cookie, err := http.ParseSetCookie(resp.Header.Get("Set-Cookie"))
	if lines := resp.Header.Values("Set-Cookie"); len(lines) != 2 || !strings.HasPrefix(lines[1], "harvest_from="+s.url+route+";") {
		t.Errorf("the cookies are %q", lines)
	}
	if err != nil || cookie.Domain != "" || cookie.Path != "/" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is %+v, %v", cookie, err)
	}
	if again, _ := s.browser(t).send(t, "GET", strings.Replace(enter, "http://"+strings.TrimPrefix(strings.Split(enter, "/.h")[0], "http://"), "", 1), "",
		"Host: "+strings.TrimPrefix(strings.Split(enter, "/.h")[0], "http://")); again.StatusCode != http.StatusUnauthorized {
		t.Errorf("the ticket is good again: %d", again.StatusCode)
	}
	u, err := url.Parse(enter)
	if err != nil {
		t.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}

// A port forward has a host name of its own, where its pages act as anyone on no other.
func TestForwardedOnItsOwnHost(t *testing.T) {
	t.Parallel()
	for _, forwardHost := range []string{"", "forwards.example.net"} {
		s := openSuite(t, forwardHost)
		ada := s.member(t, "ada", "g")
		origin := s.open(t, ada)
		if forwardHost != "" && origin != "http://"+s.forward.ID+"."+forwardHost {
			t.Errorf("it is at %s", origin)
		}
		resp, text := ada.get(t, origin+"/a%2Fb?x=1", "Authorization: Bearer theirs", "Cookie: theirs=1; session=theirs; token=2")
		seen := <-s.seen
		if text != "page /a%2Fb?x=1" || resp.Header.Get("Content-Security-Policy") != "" || resp.Header.Get("Location") != "/next" {
			t.Errorf("%q with %v", text, resp.Header)
		}
		if cookies := resp.Header.Values("Set-Cookie"); !slices.Equal(cookies, []string{"sid=1; Path=/", "session=theirs; Path=/; HttpOnly", "__Host-sid=2; Path=/; Secure"}) {
			t.Errorf("cookies are %q", cookies)
		}
		if seen.Header.Get("Cookie") != "theirs=1; session=theirs; token=2" || seen.Header.Get("Authorization") != "Bearer theirs" || seen.Header["X-Forwarded-Prefix"] != nil {
			t.Errorf("the service sees %v", seen.Header)
		}
		for name, c := range map[string]struct {
			status  int
			headers []string
		}{
			"its own script":     {200, []string{"Sec-Fetch-Mode: cors", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: empty"}},
			"its own form":       {200, []string{":method: POST", "Origin: " + origin, "Sec-Fetch-Site: same-origin"}},
			"a link":             {200, []string{"Sec-Fetch-Site: cross-site"}},
			"another forward's":  {403, []string{"Sec-Fetch-Mode: no-cors", "Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: script"}},
			"another site's":     {403, []string{"Sec-Fetch-Mode: cors", "Origin: https://evil.example.com", "Sec-Fetch-Site: cross-site"}},
			"a sandboxed page's": {403, []string{"Sec-Fetch-Mode: cors", "Origin: null", "Sec-Fetch-Site: cross-site"}},
			"a form elsewhere":   {403, []string{":method: POST", "Origin: https://evil.example.com"}},
			"our own page's":     {403, []string{":method: POST", "Origin: " + s.url}},
			"nobody's form":      {403, []string{":method: POST", "Sec-Fetch-Site: cross-site"}},
			"framed":             {403, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: iframe"}},
		} {
			if resp, text := ada.get(t, origin+"/x", c.headers...); resp.StatusCode != c.status {
				t.Errorf("%s: %d %s", name, resp.StatusCode, text)
			} else if c.status == 200 {
				<-s.seen
			}
		}
		s.sockets(t, ada, origin)
		s.stays(t, ada)
		s.streams(t, ada, origin)
		for _, path := range []string{"/auth/me", "/projects", "/health"} { // nothing of ours is there
			if _, text := ada.get(t, origin+path); text != "page "+path {
				t.Errorf("%s answers %s", path, text)
			}
			<-s.seen
		}
		s.ends(t, ada, origin)
	}
}

// sockets tries WebSockets of the service's own page and of others.
func (s *suite) sockets(t *testing.T, ada *browser, origin string) {
	t.Helper()
	for from, status := range map[string]int{origin: 101, "https://evil.example.com": 403, "null": 403, s.url: 403} {
		conn, resp, err := websocket.Dial(t.Context(), origin+"/ws", &websocket.DialOptions{HTTPClient: ada.client, HTTPHeader: http.Header{"Origin": {from}}})
		if resp == nil || resp.StatusCode != status {
			t.Fatalf("a WebSocket from %s: %v, %v", from, resp, err)
		}
		if err != nil {
			continue
		}
		<-s.seen
		if _, data, err := conn.Read(t.Context()); err != nil || string(data) != "hello" {
			t.Errorf("%q, %v", data, err)
		}
		_ = conn.CloseNow()
	}
}

// stays tries what is answered where it was asked for: only a page that a browser shows, of who is
// signed in there, has another host name.
func (s *suite) stays(t *testing.T, ada *browser) {
	t.Helper()
	for name, headers := range map[string][]string{
		"a form": {":method: POST", "Origin: " + s.url, "Sec-Fetch-Site: same-origin"}, "a key's": {"Authorization: Bearer " + token},
		"a script's": {"Sec-Fetch-Mode: cors"}, "a socket": {"Upgrade: other", "Origin: " + s.url, "Sec-Fetch-Site: same-origin"},
	} {
		if resp, text := ada.get(t, s.url+route+"/x", headers...); resp.StatusCode != http.StatusOK || text != "page /x" {
			t.Errorf("%s: %d to %s", name, resp.StatusCode, resp.Header.Get("Location"))
			continue
		}
		<-s.seen
	}
	for _, host := range []string{"harvest.localhost", s.forward.ID + ".evil.example.com", s.forward.ID + "x.localhost"} { // no forward's names
		if _, text := ada.get(t, "http://"+host+"/health"); strings.Contains(text, "visit has ended") || strings.HasPrefix(text, "page") {
			t.Errorf("%s answers %s", host, text)
		}
	}
}

// streams tries that an open answer ends once who reads it may no longer see the machine.
func (s *suite) streams(t *testing.T, ada *browser, origin string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, origin+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := ada.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-s.seen
	first := make([]byte, 4)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "page" {
		t.Fatalf("%q, %v", first, err)
	}
	if _, err := s.pool.Exec(t.Context(), `delete from memberships where user_id = (select id from users where name = 'ada')`); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the stream looks whole")
	}
	if _, err := s.pool.Exec(t.Context(), `insert into memberships (user_id, group_id) select id, 'g' from users where name = 'ada'`); err != nil {
		t.Fatal(err)
	}
}

// ends tries all that must end a visit, or keep one from beginning.
func (s *suite) ends(t *testing.T, ada *browser, origin string) {
	t.Helper()
	stranger := s.member(t, "stranger", "other")
	if resp, _ := stranger.get(t, s.url+route+"/"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a stranger gets a ticket: %d", resp.StatusCode)
	}
	if resp, _ := stranger.get(t, origin+"/"); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger visits: %d", resp.StatusCode)
	}
	other := strings.Replace(origin, s.forward.ID, domain.NewID(), 1)
	for _, visit := range ada.client.Jar.Cookies(must(url.Parse(origin))) {
		if resp, _ := ada.get(t, other+"/", fmt.Sprintf("Cookie: %s=%s", visit.Name, visit.Value)); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("the cookie %s opens another forward: %d", visit.Name, resp.StatusCode)
		}
	}
	if _, err := s.pool.Exec(t.Context(), `delete from memberships where user_id = (select id from users where name = 'ada')`); err != nil {
		t.Fatal(err)
	}
	if resp, _ := ada.get(t, origin+"/left"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("who left the group: %d", resp.StatusCode)
	}
	for _, who := range []struct{ name, path string }{{"", "/.harvest/enter"}, {"ada", "/left"}} { // a ticket that was used, and this
		var noted int
		if err := s.pool.QueryRow(t.Context(), `select count(*) from audit where outcome = 'denied' and user_name = $1 and path = $2`, who.name, who.path).Scan(&noted); err != nil || noted != 1 {
			t.Errorf("that %q was refused %s is noted %d times, %v", who.name, who.path, noted, err)
		}
	}
	if _, err := s.pool.Exec(t.Context(), `insert into memberships (user_id, group_id) select id, 'g' from users where name = 'ada'`); err != nil {
		t.Fatal(err)
	}
	if resp, _ := ada.get(t, origin+"/"); resp.StatusCode != http.StatusOK {
		t.Errorf("who is back: %d", resp.StatusCode)
	}
	<-s.seen
	s.ended(t, ada, origin)
	ada.expect(t, 200, "POST", "/auth/logout", "")
	if resp, _ := ada.get(t, origin+"/"); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != s.url+route+"/" {
		t.Errorf("who has signed out: %d to %s", resp.StatusCode, resp.Header.Get("Location"))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// ended tries what becomes of a browser whose visit is over: it goes back to where it came from,
// and to nowhere else.
func (s *suite) ended(t *testing.T, ada *browser, origin string) {
	t.Helper()
	const over = "Cookie: harvest_visit=over; harvest_from="
	plain := s.browser(t)
	plain.client = &http.Client{Transport: ada.client.Transport, CheckRedirect: ada.client.CheckRedirect}
	resp, text := plain.get(t, origin+"/a%2Fb?x=1", over+s.url+route)
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != s.url+route+"/a%2Fb?x=1" {
		t.Errorf("a visit that is over: %d %s to %s", resp.StatusCode, text, resp.Header.Get("Location"))
	}
	resp, text = plain.get(t, origin+"/.harvest/enter?ticket=used&to=%2Fa%3Fx", over+s.url+route)
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != s.url+route+"/a?x" {
		t.Errorf("a ticket that is used: %d %s to %s", resp.StatusCode, text, resp.Header.Get("Location"))
	}
	for _, from := range []string{"", "https://evil.example.com" + route, "http://u@127.0.0.1" + route, s.url + "/auth/logout", s.url + route + "/../x", s.url + route + "?", "//127.0.0.1" + route, "127.0.0.1",
		"ftp" + strings.TrimPrefix(s.url, "http") + route} {
		if resp, text := plain.get(t, origin+"/", over+from); resp.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "This visit has ended") {
			t.Errorf("from %q: %d to %s", from, resp.StatusCode, resp.Header.Get("Location"))
		}
	}
	if resp, text := plain.get(t, origin+"/", over+s.url+route, "Sec-Fetch-Mode: cors"); resp.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(text, `{"error"`) {
		t.Errorf("a script is told %d %s", resp.StatusCode, text)
	}
}

// Who has not signed in is led through a page to what was asked for, by a password or by the
// owner's link.
func TestForwardedAfterSigningIn(t *testing.T) {
	t.Parallel()
	s := openSuite(t, "")
	const page = "Accept: text/html"
	form := func(b *browser, next, email, word string, headers ...string) (*http.Response, string) {
		t.Helper()
		body := url.Values{"next": {next}, "email": {email}, "password": {word}}.Encode()
		return b.send(t, "POST", "/auth/sign-in", body, append([]string{"Content-Type: application/x-www-form-urlencoded"}, headers...)...)
	}
	ada := s.member(t, "ada", "g")
	ada.expect(t, 200, "POST", "/auth/logout", "")
	resp, text := ada.get(t, s.url+route+"/a%2Fb?x=1&y=<", page)
	if resp.StatusCode != http.StatusUnauthorized || !strings.Contains(text, `name="next" value="`+route+`/a%2Fb?x=1&amp;y=&lt;"`) || !strings.Contains(text, `action="/auth/sign-in"`) {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	if _, text := ada.get(t, s.url+route+"/x", "Accept: */*"); !strings.HasPrefix(text, `{"error"`) {
		t.Errorf("a script is told %s", text)
	}
	if resp, text := form(ada, route+"/", `"><b>@x`, "wrong"); resp.StatusCode != http.StatusUnauthorized || !strings.Contains(text, `role="alert"`) || strings.Contains(text, "<b>") {
		t.Errorf("a wrong password: %d %s", resp.StatusCode, text)
	}
	credentials := struct{ Email, Password string }{}
	if err := json.Unmarshal([]byte(account("ada")), &credentials); err != nil {
		t.Fatal(err)
	}
	for next, want := range map[string]string{"//evil.example.com": "/auth/device", "https://evil.example.com": "/auth/device", "": "/auth/device", route + "/a%2Fb?x=1": route + "/a%2Fb?x=1"} {
		if resp, text := form(ada, next, credentials.Email, credentials.Password, "Origin: "+s.url); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != want {
			t.Errorf("on to %q: %d %s to %s", next, resp.StatusCode, text, resp.Header.Get("Location"))
		}
	}
	for _, from := range []string{"Origin: https://evil.example.com", "Origin: null"} {
		if resp, _ := form(s.browser(t), "/", credentials.Email, credentials.Password, from); resp.StatusCode != http.StatusForbidden || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("signed in by another site's page: %d (%s)", resp.StatusCode, from)
		}
	}
	s.open(t, ada)
	s.owner(t, page)
}

// owner tries the link of the owner, who has no session.
func (s *suite) owner(t *testing.T, page string) {
	t.Helper()
	owner := s.member(t, "nobody", "other")
	owner.expect(t, 200, "POST", "/auth/logout", "")
	if resp, _ := owner.get(t, api.SignInURL(s.url, token, time.Now())); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("the link: %d", resp.StatusCode)
	}
	origin := s.open(t, owner)
	if resp, text := owner.get(t, origin+"/x"); resp.StatusCode != http.StatusOK || text != "page /x" {
		t.Errorf("the owner's browser: %d %s", resp.StatusCode, text)
	}
	<-s.seen
	for name, headers := range map[string][]string{
		"another site's script": {"Origin: https://evil.example.com", "Sec-Fetch-Mode: cors"}, "a sandboxed page's": {"Origin: null", "Sec-Fetch-Mode: cors"},
		"a form of it": {":method: POST", "Origin: null"}, "a form of nobody's": {":method: POST", "Sec-Fetch-Site: cross-site"},
	} {
		if resp, text := owner.get(t, s.url+route+"/x", append(headers, "Accept: */*")...); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
	if resp, text := owner.get(t, s.url+"/projects", page); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the link opens the API: %d %s", resp.StatusCode, text)
	}
}
