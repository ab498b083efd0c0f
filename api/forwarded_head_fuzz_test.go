package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
)

// wire is a service on a machine that sees the bytes of requests, and answers with bytes.
type wire struct {
	listener net.Listener
	mu       sync.Mutex
	answer   []byte
	got      []*http.Request // with the body read
	bodies   [][]byte
}

// forwardingWire is an API that forwards /agents/a1/web to such a service.
func forwardingWire(t testing.TB) (*fixture, *wire) {
	t.Helper()
	f := start(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go w.serve(conn)
		}
	}()
	f.forwards.mu.Lock()
	defer f.forwards.mu.Unlock()
	f.forwards.forwards["f1"] = domain.PortForward{ID: "f1", AgentID: "a1", RouteName: "web", Port: listener.Addr().(*net.TCPAddr).Port, Hostname: "box"}
	return f, w
}

func (w *wire) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if r.Header.Get("Expect") != "" {
			_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // it came in part
		}
		w.mu.Lock()
		w.got, w.bodies = append(w.got, r), append(w.bodies, body)
		answer := w.answer
		w.mu.Unlock()
		if _, err := conn.Write(answer); err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 204")) {
			return // what an answer ends with is the end of the connection
		}
	}
}

// answers has the service answer so, and forget what it got.
func (w *wire) answers(answer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer, w.got, w.bodies = []byte(answer), nil, nil
}

// seen gives what came of one turn, with the bodies; what is late from another is none of it.
func (w *wire) seen(turn string) (got []*http.Request, bodies [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range w.got {
		if r.Header.Get("X-Turn") == turn {
			got, bodies = append(got, r), append(bodies, w.bodies[i])
		}
	}
	return got, bodies
}

// talk sends bytes to the API, and gives the first answer, which may be nil, with its body.
func talk(t *testing.T, f *fixture, method, text string) (*http.Response, []byte, error) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, text) }()
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, &http.Request{Method: method})
	for err == nil && resp.StatusCode == http.StatusContinue {
		resp, err = http.ReadResponse(in, &http.Request{Method: method})
	}
	if err != nil {
		return nil, nil, nil // the server said nothing that is HTTP, for it was asked nothing that is
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// framed gives the head and the body of a request or an answer in one of the ways that HTTP has for
// the length, or in one that it has not.
func framed(way byte, body []byte) (head, sent string, right bool) {
	chunked := fmt.Sprintf("%x;ext=1\r\n%s\r\n0\r\n", len(body), body)
	if len(body) == 0 {
		chunked = "0\r\n"
	}
	length := "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	switch way % 6 {
	case 0:
		return length, string(body), true
	case 1:
		return "Transfer-Encoding: chunked\r\n", chunked + "\r\n", true
	case 2:
		return "Transfer-Encoding: chunked\r\nTrailer: X-Sum, Set-Cookie, Content-Security-Policy\r\n",
			chunked + "X-Sum: 1\r\nSet-Cookie: session=theirs; Path=/\r\nContent-Security-Policy: sandbox allow-same-origin\r\nX-Late: 1\r\nAuthorization: Bearer late\r\n\r\n", true
	case 3:
		return length + "Transfer-Encoding: chunked\r\n", chunked + "\r\n", false
	case 4:
		return length + "Content-Length: " + strconv.Itoa(len(body)+1) + "\r\n", string(body), false
	}
	return "Transfer-Encoding: gzip, chunked\r\n", chunked + "\r\n", false
}

// whole reports whether a text is lines of a head, and nothing that ends it.
func whole(head string) bool {
	for line := range strings.SplitSeq(head, "\r\n") {
		if strings.ContainsAny(line, "\r\n") || line == "" && head != "" {
			return false
		}
	}
	return true
}

// frames are headers that say where a body ends, or whether there is one: these are written by the test.
var frames = []string{"Content-Length", "Transfer-Encoding", "Trailer", "Expect", "Connection", "Upgrade"}

// said gives the headers that a head has, where it is one.
func said(head string) (textproto.MIMEHeader, bool) {
	if head == "" {
		return textproto.MIMEHeader{}, true
	}
	header, err := textproto.NewReader(bufio.NewReader(strings.NewReader(head + "\r\n\r\n"))).ReadMIMEHeader()
	return header, err == nil && whole(head)
}

// Whatever a client sends, the target sees neither the key nor the session by which it came, nothing
// that only proxies may say, and the body to the byte.
func FuzzForwardedRequest(f *testing.F) {
	for _, seed := range []struct{ method, path, head string }{
		{"GET", "/", ""},
		{"POST", "/a%2Fb/../c;d?x=%zz&y", "Cookie: a=b; session=ours"},
		{"PUT", "//x/./..%2f%2e%2e/", "Cookie: session=ours\r\nCookie: token=ours; theirs=1"},
		{"PROPFIND", "/%41?", "Authorization: Bearer " + token},
		{"POST", "/?ticket=1#", "Authorization: Basic eDp5\r\nX-Theirs: 1"},
		{"POST", "/x", "authorization: bearer " + token + "\r\nExpect: 100-continue"},
		{"GET", "/x", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings, Authorization"},
		{"GET", "/x", "Upgrade: websocket\r\nConnection: keep-alive, Upgrade"},
		{"PATCH", "/x", "X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6\r\nX-Harvest-Internal: 1\r\nX_Forwarded_User: root"},
		{"POST", "/x", "Cookie: \"a\"=b;session =ours;\tsession=ours; Session=x;harvest_owner"},
		{"DELETE", "/\\..\\x", "Referer: http://h/agents/a1/web/y?secret\r\nOrigin: null"},
		{"HEAD", "/é\u202e", "Proxy-Authorization: Bearer " + token + "\r\nTE: trailers\r\nKeep-Alive: 1"},
	} {
		for way := range byte(6) {
			f.Add(seed.method, seed.path, seed.head, []byte("a body\x00\xff\r\n0\r\n\r\n"), way)
		}
	}
	server, target := forwardingWire(f)
	host := strings.TrimPrefix(server.url, "http://")
	turns := 0
	f.Fuzz(func(t *testing.T, method, path, head string, body []byte, way byte) {
		header, ok := said(head)
		if !ok || strings.ContainsAny(method+path, " \r\n\x00") || !strings.HasPrefix(path, "/") || strings.Contains(path, token) {
			return
		}
		target.answers("HTTP/1.1 204 No Content\r\n\r\n")
		turns++
		turn := strconv.Itoa(turns)
		length, sent, right := framed(way, body)
		if head != "" {
			head += "\r\n"
		}
		_, _, _ = talk(t, server, method, method+" "+route+path+" HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer "+token+"\r\nCookie: session=ours; token=ours\r\nX-Turn: "+turn+"\r\n"+length+head+"\r\n"+sent)
		got, bodies := target.seen(turn)
		if len(got) > 1 || len(got) == 1 && way%6 == 4 {
			t.Fatalf("%d requests came of one", len(got))
		}
		for i, r := range got {
			expectNothingOfOurs(t, r)
			reframed := slices.ContainsFunc(frames, func(name string) bool { return header[name] != nil })
			if right && !reframed && !bytes.Equal(bodies[i], body) {
				t.Errorf("of the body %q came %q", body, bodies[i])
			}
			if r.Method != method || !strings.HasPrefix(r.RequestURI, "/") {
				t.Errorf("%s %s came as %s %s", method, path, r.Method, r.RequestURI)
			}
		}
	})
}

// expectNothingOfOurs looks into a request as a target sees it.
func expectNothingOfOurs(t *testing.T, r *http.Request) {
	t.Helper()
	for name, values := range r.Header {
		if (name == "Authorization" || name == "Proxy-Authorization") && strings.Contains(strings.Join(values, " "), token) {
			t.Errorf("the key comes as %s: %q", name, values)
		}
		said := strings.ReplaceAll(name, "_", "-")
		if ours := http.CanonicalHeaderKey(said); strings.HasPrefix(ours, "X-Harvest-") || ours == "Forwarded" || ours == "X-Real-Ip" ||
			strings.HasPrefix(ours, "X-Forwarded-") && !slices.Contains([]string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Prefix", "X-Forwarded-Proto"}, name) {
			t.Errorf("a proxy's word comes: %s: %q", name, values)
		}
	}
	for _, name := range api.OurCookies {
		if cookie, err := r.Cookie(name); err == nil {
			t.Errorf("the cookie %s comes of %q", cookie, r.Header["Cookie"])
		}
	}
	if r.Header.Get("X-Forwarded-For") != "127.0.0.1" || r.Header.Get("X-Forwarded-Prefix") != route || !strings.HasPrefix(r.Host, "127.0.0.1:") {
		t.Errorf("it is told of as %s %v", r.Host, r.Header)
	}
	for name := range r.Trailer {
		if name == "Authorization" || name == "Cookie" {
			t.Errorf("behind the body comes %v", r.Trailer)
		}
	}
}

// Whatever a target answers, no cookie of it goes beyond its route, its pages are sandboxed, it says
// nothing for the whole host, behind the body neither, and the body comes to the byte.
func FuzzForwardedWire(f *testing.F) {
	for _, head := range []string{
		"", "Content-Type: text/html\r\nSet-Cookie: a=b; Path=/", "Set-Cookie: session=x\r\nset-cookie:token=y;path=/\r\nSET-COOKIE: =session=z",
		"Content-Security-Policy: sandbox allow-same-origin allow-scripts\r\nContent-Security-Policy-Report-Only: x", "Access-Control-Allow-Origin: *\r\naccess-control-allow-credentials: true",
		"Location: //evil.example/\r\nContent-Location: /x", "Connection: Content-Security-Policy, X-Sum", "Set-Cookie: a=b;\tPath=/;\tDomain=x", "Upgrade: h2c\r\nConnection: upgrade",
		"Content-Encoding: gzip", "X-Content-Type-Options: nosniff\r\nContent-Type:", "Clear-Site-Data: \"*\"\r\nService-Worker-Allowed: /\r\nSet-Login: logged-out\r\nAccept-CH: Sec-CH-UA",
		"Link: </x>; rel=preload\r\nRefresh: 0; url=/", "Use-As-Dictionary: match=\"/*\"\r\nActivate-Storage-Access: load\r\nSecure-Session-Registration: (ES256)",
	} {
		for way := range byte(6) {
			f.Add(200, head, []byte("<p>\x00\xff\r\n0\r\n\r\n"), way)
		}
		f.Add(103, head, []byte("x"), byte(0))
		f.Add(101, head, []byte("x"), byte(0))
		f.Add(304, head, []byte(""), byte(0))
		f.Add(404, head, []byte(""), byte(1))
	}
	server, target := forwardingWire(f)
	host := strings.TrimPrefix(server.url, "http://")
	f.Fuzz(func(t *testing.T, status int, head string, body []byte, way byte) {
		header, ok := said(head)
		if !ok || status < 100 || status > 999 {
			return
		}
		length, sent, right := framed(way, body)
		if head != "" {
			head += "\r\n"
		}
		target.answers("HTTP/1.1 " + strconv.Itoa(status) + " So\r\n" + length + head + "\r\n" + sent)
		resp, came, err := talk(t, server, "GET", "GET "+route+"/ HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer "+token+"\r\nTE: trailers\r\n\r\n")
		if resp == nil {
			t.Fatal("there is no answer")
		}
		expectTame(t, resp)
		reframed := slices.ContainsFunc(frames, func(name string) bool { return header[name] != nil })
		if bare := status < 200 || status == 204 || status == 304; right && !reframed && !bare && (err != nil || resp.StatusCode != status || !bytes.Equal(came, body)) {
			t.Errorf("of %d %q came %d %q, %v", status, body, resp.StatusCode, came, err)
		}
	})
}

// expectTame looks into an answer as a browser sees it: a target's, or that there is none.
func expectTame(t *testing.T, resp *http.Response) {
	t.Helper()
	for _, header := range []http.Header{resp.Header, resp.Trailer} {
		for _, line := range header["Set-Cookie"] {
			name, rest, _ := strings.Cut(line, "=")
			ours := slices.ContainsFunc(api.OurCookies, func(ours string) bool { return strings.EqualFold(ours, strings.TrimSpace(name)) })
			if ours || !strings.Contains(rest, "; Path="+route+"/") || strings.Contains(strings.ToLower(rest), "domain=") && strings.Contains(strings.ToLower(rest), "; domain=") {
				t.Errorf("a cookie is set by %q", line)
			}
		}
		for _, name := range api.OfTheHost {
			if len(header[name]) > 0 && name != "X-Request-Id" {
				t.Errorf("it says %s: %q", name, header[name])
			}
		}
		for name := range header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("it says %s", name)
			}
		}
	}
	if len(resp.Header["X-Request-Id"]) != 1 {
		t.Errorf("its id is %q", resp.Header["X-Request-Id"])
	}
	if policies := resp.Trailer["Content-Security-Policy"]; policies != nil {
		t.Errorf("behind the body come the policies %q", policies)
	}
	policies := resp.Header["Content-Security-Policy"]
	if resp.StatusCode != http.StatusBadGateway && (len(policies) == 0 || policies[len(policies)-1] != api.Sandbox) {
		t.Errorf("the policies are %q", policies)
	}
}
