package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
)

const route = "/agents/a1/web"

// forwarding is an API that forwards /agents/a1/web to a service of the test.
func forwarding(t *testing.T, service http.HandlerFunc) *fixture {
	t.Helper()
	f := start(t)
	f.target(t, "a1", "web", service)
	return f
}

// target runs a service and gives it a name on an agent.
func (f *fixture) target(t *testing.T, agent, name string, service http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(service)
	t.Cleanup(func() {
		f.server.Drain() // its idle tunnels
		server.CloseClientConnections()
		server.Close()
	})
	f.forwards.mu.Lock()
	defer f.forwards.mu.Unlock()
	f.forwards.made++
	id := fmt.Sprint("f", f.forwards.made)
	f.forwards.forwards[id] = domain.PortForward{ID: id, AgentID: agent, RouteName: name, Port: portOf(server), Hostname: "box"}
	return server
}

func portOf(s *httptest.Server) int { return s.Listener.Addr().(*net.TCPAddr).Port }

// fetch is call without the contract, which says nothing of what services answer.
func (f *fixture) fetch(t *testing.T, method, path string, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, f.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true, ExpectContinueTimeout: 5 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp, string(text)
}

// A service sees the request as it came, without what is between the client and us.
func TestForwardedRequest(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 1)
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		seen <- r
	})
	host := strings.TrimPrefix(f.url, "http://")
	f.fetch(t, http.MethodPatch, route+"/a%2Fb/c;d?x=1;y&z=%zz", strings.NewReader("body"),
		`Cookie: theirs={"a":1,"b":[ü]}; token=ours; session=ours;  session =ours;harvest_owner=ours; sign_in=ours; other=2; bare`,
		"X-Forwarded-For: 6.6.6.6", "X-Forwarded-User: root", "X-Harvest-Internal: 1", "Forwarded: for=6.6.6.6", "X-Real-Ip: 6.6.6.6", "X_Forwarded_User: root",
		"Origin: "+f.url, "Referer: "+f.url+route+"/page?q", "X-Theirs: kept", "Upgrade: h2c", "Connection: Upgrade")
	r := <-seen
	body, _ := io.ReadAll(r.Body)
	own := "127.0.0.1:" + strings.Split(r.Host, ":")[1]
	got := map[string]string{
		"line": r.Method + " " + r.RequestURI, "body": string(body), "cookie": r.Header.Get("Cookie"), "authorization": r.Header.Get("Authorization"),
		"host": r.Host, "origin": r.Header.Get("Origin"), "referer": r.Header.Get("Referer"), "theirs": r.Header.Get("X-Theirs"),
		"for": r.Header.Get("X-Forwarded-For"), "fhost": r.Header.Get("X-Forwarded-Host"), "proto": r.Header.Get("X-Forwarded-Proto"),
		"prefix": r.Header.Get("X-Forwarded-Prefix"), "user": r.Header.Get("X-Forwarded-User"), "internal": r.Header.Get("X-Harvest-Internal"),
		"forwarded": r.Header.Get("Forwarded"), "real": r.Header.Get("X-Real-Ip"), "upgrade": r.Header.Get("Upgrade"), "connection": r.Header.Get("Connection"),
		"underlined": r.Header.Get("X_forwarded_user"),
	}
	want := map[string]string{
		"line": "PATCH /a%2Fb/c;d?x=1;y&z=%zz", "body": "body", "cookie": `theirs={"a":1,"b":[ü]}; other=2; bare`, "authorization": "", "host": own,
		"origin": "http://" + own, "referer": "http://" + own + "/page", "theirs": "kept", "for": "127.0.0.1", "fhost": host, "proto": "http",
		"prefix": route, "user": "", "internal": "", "forwarded": "", "real": "", "upgrade": "", "connection": "", "underlined": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the service sees (-want +got):\n%s", diff)
	}
	f.fetch(t, http.MethodGet, route+"/", nil, "Origin: https://elsewhere.example.com", "Referer: "+f.url+"/projects/p1")
	if r := <-seen; r.Header.Get("Origin") != "https://elsewhere.example.com" || r.Header.Get("Referer") != "" {
		t.Errorf("another page is told as %v", r.Header)
	}
	f.fetch(t, http.MethodGet, route+"/", nil, "Referer: https://elsewhere.example.com"+route+"/page")
	if r := <-seen; r.Header.Get("Referer") != "https://elsewhere.example.com"+route+"/page" {
		t.Errorf("a page elsewhere is told as %q", r.Header.Get("Referer"))
	}
	f.fetch(t, http.MethodPost, route, strings.NewReader("form")) // a redirect would be asked for without it, or twice
	r = <-seen
	if body, _ := io.ReadAll(r.Body); r.Method+" "+r.RequestURI != "POST /" || string(body) != "form" {
		t.Errorf("a form without a slash comes as %s %s with %q", r.Method, r.RequestURI, body)
	}
}

// A key in one of several Authorizations stays here; what a service asks for itself comes to it.
func TestForwardedAuthorization(t *testing.T) {
	t.Parallel()
	seen := make(chan []string, 1)
	f := forwarding(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header["Authorization"] })
	link, _ := f.call(t, "GET", strings.TrimPrefix(api.SignInURL(f.url, token, time.Now()), f.url), "", "Authorization: ")
	var cookie string
	for _, c := range link.Cookies() {
		if c.Path == "/agents" {
			cookie = c.Name + "=" + c.Value
		}
	}
	for _, c := range []struct{ sent, want []string }{
		{[]string{"Basic eDp5"}, []string{"Basic eDp5"}},
		{[]string{"Basic eDp5", "Bearer " + token}, nil},
		{[]string{" bearer\t" + token}, nil},
		{[]string{"Bearer"}, nil},
	} {
		req, err := http.NewRequest(http.MethodGet, f.url+route+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Authorization"], req.Header["Cookie"] = c.sent, []string{cookie}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%q: %d", c.sent, resp.StatusCode)
		}
		if got := <-seen; !slices.Equal(got, c.want) {
			t.Errorf("of %q comes %q", c.sent, got)
		}
	}
}

// What a service answers is kept to its route.
func TestForwardedAnswer(t *testing.T) {
	t.Parallel()
	answers := http.Header{}
	status := http.StatusOK
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		for name, values := range answers {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
	})
	f.forwards.mu.Lock()
	port := f.forwards.forwards["f1"].Port
	f.forwards.mu.Unlock()
	answers = http.Header{
		"Set-Cookie": {
			"sid=1; Path=/; Domain=example.com; HttpOnly", "deep=2; Path=/app", "none=3", "token=stolen; Path=/", "Session=stolen", "harvest_owner=x",
			"__Host-x=1; Path=/; Secure", "known=4; Path=" + route + "/app", "sibling=5; Path=" + route + "2", "up=6; Path=/../..", "token=ours", "=token=ours", "  =token=ours", "\tTOKEN =x",
			`json={"a":1,"b":"ü"}; path=/; PATH=/j; Domain=a; domain=b; Partitioned; SameSite=None; Secure; Max-Age=5`,
		},
		"Strict-Transport-Security": {"max-age=1"}, "Clear-Site-Data": {`"*"`}, "Service-Worker-Allowed": {"/"}, "Alt-Svc": {"h3"},
		"Access-Control-Allow-Origin": {"*"}, "Access-Control-Allow-Credentials": {"true"}, "X-Request-Id": {"theirs"}, "Nel": {"{}"}, "Report-To": {"{}"},
		"Content-Security-Policy": {"default-src 'self'"}, "X-Theirs": {"kept"}, "X-Frame-Options": {"DENY"},
	}
	resp, _ := f.fetch(t, http.MethodGet, route+"/", nil)
	want := []string{
		"sid=1; Path=" + route + "/; HttpOnly", "deep=2; Path=" + route + "/app", "none=3; Path=" + route + "/",
		"known=4; Path=" + route + "/app", "sibling=5; Path=" + route + route + "2", "up=6; Path=" + route + "/../..",
		`json={"a":1,"b":"ü"}; Path=` + route + `/j; Partitioned; SameSite=None; Secure; Max-Age=5`,
	}
	if diff := cmp.Diff(want, resp.Header.Values("Set-Cookie")); diff != "" {
		t.Errorf("cookies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"default-src 'self'", api.Sandbox}, resp.Header.Values("Content-Security-Policy")); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	for _, name := range []string{"Strict-Transport-Security", "Clear-Site-Data", "Service-Worker-Allowed", "Alt-Svc", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Nel", "Report-To"} {
		if got := resp.Header.Values(name); got != nil {
			t.Errorf("%s is passed on as %q", name, got)
		}
	}
	if ids := resp.Header.Values("X-Request-Id"); len(ids) != 1 || ids[0] == "theirs" || resp.Header.Get("X-Theirs") != "kept" || resp.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("passed on: %v", resp.Header)
	}
	answers, status = http.Header{}, http.StatusFound
	for to, want := range map[string]string{
		"/login?next=%2Fa": route + "/login?next=%2Fa",
		"next":             "next",
		"?page=2":          "?page=2",
		"#top":             "#top",
		fmt.Sprintf("http://127.0.0.1:%d/x#y", port):   route + "/x#y",
		fmt.Sprintf("http://localhost:%d", port):       route + "/",
		fmt.Sprintf("http://0.0.0.0:%d/x", port):       route + "/x",
		fmt.Sprintf("//[::1]:%d/a%%2Fb", port):         route + "/a%2Fb",
		"http://localhost:1/x":                         "http://localhost:1/x",
		"https://elsewhere.example.com/x":              "https://elsewhere.example.com/x",
		f.url + "/x":                                   route + "/x",
		f.url + route + "/x":                           route + "/x",
		route + "/x":                                   route + "/x",
		"//evil.example.com/x":                         "//evil.example.com/x",
		"/\\evil.example.com":                          route + "/%5Cevil.example.com",
		"javascript:alert(1)":                          "javascript:alert(1)",
		fmt.Sprintf("ftp://127.0.0.1:%d/x", port):      fmt.Sprintf("ftp://127.0.0.1:%d/x", port),
		fmt.Sprintf("http://u:p@127.0.0.1:%d/x", port): route + "/x",
	} {
		answers = http.Header{"Location": {to}}
		if resp, _ := f.fetch(t, http.MethodGet, route+"/", nil); resp.Header.Get("Location") != want {
			t.Errorf("a redirect to %s leads to %s, want %s", to, resp.Header.Get("Location"), want)
		}
	}
	if resp, _ := f.fetch(t, http.MethodGet, route+"?q=1", nil); resp.StatusCode != http.StatusPermanentRedirect || resp.Header.Get("Location") != route+"/?q=1" {
		t.Errorf("without a slash: %d to %s", resp.StatusCode, resp.Header.Get("Location"))
	}
}

// What a service does not say of its answer nobody says for it, and the server's own name is known in
// whatever case.
func TestForwardedAnswerSaysNothingMore(t *testing.T) {
	t.Parallel()
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = io.WriteString(w, "<html>")
	})
	resp, _ := f.fetch(t, http.MethodGet, route+"/", nil)
	for _, name := range []string{"Content-Type", "X-Content-Type-Options"} {
		if said := resp.Header.Values(name); said != nil {
			t.Errorf("it says %s %q", name, said)
		}
	}
	header := http.Header{"Location": {"https://HARVEST.example:8000/x"}}
	if err := api.ForwardAnswer(route, 3000, "harvest.example:8000", header); err != nil || header.Get("Location") != route+"/x" {
		t.Errorf("%v, %v", header, err)
	}
}

// What a service sends behind a body sets nothing either.
func TestForwardedTrailers(t *testing.T) {
	t.Parallel()
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum, Set-Cookie")
		_, _ = io.WriteString(w, "page")
		w.Header().Set("X-Sum", "1")
		w.Header().Set("Set-Cookie", "session=theirs; Path=/")
		w.Header().Set(http.TrailerPrefix+"Clear-Site-Data", `"*"`)
		w.Header().Set(http.TrailerPrefix+"Content-Security-Policy", "sandbox allow-same-origin")
		w.Header().Set(http.TrailerPrefix+"X-Late", "2")
	})
	resp, text := f.fetch(t, http.MethodGet, route+"/", nil)
	if diff := cmp.Diff(http.Header{"X-Sum": {"1"}, "X-Late": {"2"}}, resp.Trailer); diff != "" || text != "page" {
		t.Errorf("behind %q comes (-want +got):\n%s", text, diff)
	}
}

// What can't be forwarded is told by its status.
func TestForwardedRefusals(t *testing.T) {
	t.Parallel()
	slow := make(chan struct{})
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-slow
		case "/huge":
			w.Header().Set("X-Huge", strings.Repeat("x", 300<<10))
		case "/raw":
			conn, _, _ := http.NewResponseController(w).Hijack()
			text, _ := url.QueryUnescape(r.URL.RawQuery)
			_, _ = io.WriteString(conn, text)
			conn.Close()
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		}
	})
	defer close(slow)
	f.server.SetForwardHead(200 * time.Millisecond)
	f.forwards.mu.Lock()
	f.forwards.forwards["f9"] = domain.PortForward{ID: "f9", AgentID: "a1", RouteName: "closed", Port: 1, Hostname: "box"}
	f.forwards.forwards["f8"] = domain.PortForward{ID: "f8", AgentID: "b1", RouteName: "web", Port: 1, Hostname: "other"}
	f.forwards.mu.Unlock()
	stranger := "Authorization: Bearer " + f.people.join("stranger", domain.UserRegular, []string{"blue"}, domain.KeyScopes()...)
	reader := "Authorization: Bearer " + f.people.join("reader", domain.UserRegular, []string{"red"}, domain.ScopeRead)
	upgrade := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-Websocket-Version: 13", "Sec-Websocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	check := func(method, path string, status int, says string, headers ...string) {
		t.Helper()
		resp, text := f.fetch(t, method, path, nil, headers...)
		if resp.StatusCode != status || !strings.Contains(text, says) {
			t.Errorf("%s %s: %d %s, want %d %s", method, path, resp.StatusCode, text, status, says)
		}
	}
	check("GET", route+"/slow", 504, "did not begin to answer in time")
	check("GET", route+"/huge", 502, "answers with headers of more than 256 KiB")
	for answer, says := range map[string]string{
		"": "closed the connection before it answered", "HTTP/1.1 200 OK\r\nX-A: 1\r\n": "closed the connection before it answered",
		"SSH-2.0-OpenSSH_9.2\r\n": "does not speak HTTP", "HTTP/1.1 99 No\r\n\r\n": "does not speak HTTP",
		"\x15\x03\x01\x00\x02\x02\x46":                                                      "speaks TLS",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n":                 "does not answer as HTTP should",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n": "that was not asked for",
	} {
		check("GET", route+"/raw?"+url.QueryEscape(answer), 502, says)
	}
	check("GET", "/agents/a1/closed/", 502, "nothing answers on port 1 of box")
	check("GET", "/agents/a1/closed/", 502, "nothing answers on port 1 of box", upgrade...)
	check("GET", "/agents/a1/none/", 404, "no port forward")
	check("GET", "/agents/none/web/", 404, "no agent")
	check("GET", "/agents/a1/none/", 404, "no port forward", upgrade...)
	check("GET", "/agents/a1/w%65b/", 404, "no port forward")
	check("POST", "/agents/a1/install.sh", 404, "no port forward")
	check("GET", route+"/", 401, "", "Authorization: Bearer wrong")
	check("POST", route+"/", 403, "not good for", reader)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "MKCOL", "LOCK", "REPORT", "PURGE", "QUERY"} {
		check(method, route+"/x", 404, "", stranger)
		check(method, route+"/x", 200, "")
	}
	check("TRACE", route+"/x", 405, "does not take that method")
	check("PROPFIND", "/projects", 405, "does not take that method")
	check("GET", route+"/x", 404, "no agent", append(upgrade, stranger)...)
	f.sessions.mu.Lock()
	f.sessions.away = true
	f.sessions.mu.Unlock()
	f.server.Drain() // and its idle tunnels
	check("GET", route+"/x", 502, "box is not connected")
}

// An open stream ends when its reader may no longer see the machine.
func TestForwardedStreamEndsWithAccess(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	})
	key := f.people.join("member", domain.UserRegular, []string{"red"}, domain.KeyScopes()...)
	req, err := http.NewRequest(http.MethodGet, f.url+route+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := f.people.SetGroups(t.Context(), "member", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(lines); err == nil {
		t.Error("the stream looks whole")
	}
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Error("the service goes on")
	}
}

// WebSockets pass both ways, by cookie from our own pages alone, and end with the server.
func TestForwardedWebSocket(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var origin string
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		origin = r.Header.Get("Origin")
		mu.Unlock()
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"echo"}})
		if err != nil {
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(-1)
		for {
			kind, data, err := conn.Read(r.Context())
			if err != nil || conn.Write(r.Context(), kind, data) != nil {
				return
			}
		}
	})
	conn, _, err := websocket.Dial(t.Context(), f.url+route+"/ws", &websocket.DialOptions{
		Subprotocols: []string{"echo"}, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}, "Origin": {f.url}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	if conn.Subprotocol() != "echo" {
		t.Errorf("the protocol is %q", conn.Subprotocol())
	}
	for _, size := range []int{0, 1, 70_000, 1 << 20} {
		text := strings.Repeat("x", size)
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		kind, data, err := conn.Read(t.Context())
		if err != nil || kind != websocket.MessageText || string(data) != text {
			t.Errorf("%d bytes come back as %v of %d, %v", size, kind, len(data), err)
		}
	}
	mu.Lock()
	if !strings.HasPrefix(origin, "http://127.0.0.1:") || origin == f.url {
		t.Errorf("the service hears of the origin %q", origin)
	}
	mu.Unlock()
	f.server.Drain()
	if _, _, err := conn.Read(t.Context()); err == nil {
		t.Error("it outlives the server")
	}
}

// Informational answers of a service stay with it: nothing judges what they set.
func TestForwardedEarlyHints(t *testing.T) {
	t.Parallel()
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "session=theirs; Path=/")
		w.Header().Set("Link", "</x>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "page")
	})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		t.Errorf("it is told %d with %v", code, header)
		return nil
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+route+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); string(text) != "page" || err != nil || resp.Header.Get("X-Request-Id") == "" || resp.Header["Set-Cookie"] != nil {
		t.Errorf("%q with %v, %v", text, resp.Header, err)
	}
}
