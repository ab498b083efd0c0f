package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The bounds of what is forwarded to machines. Bodies have none: they stream both ways.
const (
	forwardHead     = 30 * time.Second // for the head of an answer, once the request is sent
	forwardHeaders  = 256 << 10        // bytes of the head of an answer
	forwardIdle     = 90 * time.Second // for which a tunnel waits for the next request
	forwardKept     = 16               // idle tunnels to a port
	forwardTunnels  = 256              // tunnels to a port at once
	forwardBuffer   = 32 << 10
	forwardContinue = time.Second // for a target to refuse a body before it is sent
)

// forwards is how requests reach the ports of machines: HTTP over tunnels, which are kept for
// the next request.
type forwards struct {
	transport *http.Transport
	quiet     *log.Logger // clients that leave in mid-answer are nothing to log
}

// newForwards prepares it; where nothing is forwarded it is never asked.
func (s *Server) newForwards() *forwards {
	f := &forwards{quiet: log.New(io.Discard, "", 0), transport: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			agentID, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			n, err := strconv.Atoi(port)
			if err != nil {
				return nil, err
			}
			return s.Sessions.DialPort(ctx, agentID, n)
		},
		ResponseHeaderTimeout: forwardHead, MaxResponseHeaderBytes: forwardHeaders, ExpectContinueTimeout: forwardContinue,
		IdleConnTimeout: forwardIdle, MaxIdleConnsPerHost: forwardKept, MaxConnsPerHost: forwardTunnels,
		WriteBufferSize: forwardBuffer, ReadBufferSize: forwardBuffer,
		DisableCompression: true, // the target and the client settle that
	}}
	s.atDrain = append(s.atDrain, f.transport.CloseIdleConnections)
	return f
}

// forwarded answers ANY /agents/:agent_id/:route_name[/…]: what the service on the machine
// answers.
func (s *Server) forwarded(c *gin.Context) {
	// Neither the path nor the query is ours to judge: they are the target's, as they came.
	f, err := s.Forwards.Forwarded(c.Request.Context(), c.Param("agent_id"), c.Param("route_name"))
	if err != nil {
		s.fail(c, err)
		return
	}
	prefix := strings.TrimSuffix(domain.ForwardPath(f.AgentID, f.RouteName), "/")
	rest, ok := strings.CutPrefix(c.Request.URL.EscapedPath(), prefix)
	if !ok { // it is written in another way, such as with escapes: links would lead astray
		s.fail(c, domain.NotFound("there is no such route; it is %s/", prefix))
		return
	}
	if rest == "" && (c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead) {
		s.addSlash(c, prefix)
		return
	}
	if s.toOwnHost(c, f, rest) {
		return
	}
	s.pass(c, &forwardWay{forward: f, prefix: prefix, rest: "/" + strings.TrimPrefix(rest, "/")})
}

// pass answers with what the target answers.
func (s *Server) pass(c *gin.Context, way *forwardWay) {
	ctx := c.Request.Context()
	if c.GetHeader("Upgrade") != "" { // nobody else ends what is no longer HTTP as the server stops
		var cancel context.CancelFunc
		ctx, cancel = s.untilDrain(ctx)
		defer cancel()
	}
	c.Writer.Header().Del("X-Content-Type-Options") // comes with the answer
	c.Writer.Header()["Content-Type"] = nil         // likewise: what has none is not guessed here
	way.host = "127.0.0.1:" + strconv.Itoa(way.forward.Port)
	proxy := &httputil.ReverseProxy{
		Transport:      final{s.forwards.transport},
		FlushInterval:  -1, // what the target sends is passed on at once
		Rewrite:        way.rewrite,
		ModifyResponse: way.answer,
		ErrorHandler:   func(_ http.ResponseWriter, _ *http.Request, err error) { s.failForward(c, way.forward, err) },
		ErrorLog:       s.forwards.quiet,
	}
	proxy.ServeHTTP(c.Writer, c.Request.WithContext(ctx))
}

// addSlash sends a browser on to where relative links of the target's first page are right.
func (s *Server) addSlash(c *gin.Context, prefix string) {
	to := prefix + "/"
	if c.Request.URL.RawQuery != "" {
		to += "?" + c.Request.URL.RawQuery
	}
	c.Header("Location", to)
	c.Header("Cache-Control", "no-store")
	writeRaw(c, raw{}, http.StatusPermanentRedirect)
}

// failForward answers for a target that gives no answer.
func (s *Server) failForward(c *gin.Context, f domain.PortForward, err error) {
	var slow net.Error
	switch known := (*domain.Error)(nil); {
	case errors.As(err, &known):
	case errors.As(err, &slow) && slow.Timeout():
		err = domain.Wrap(domain.CodeTimeout, err, "the service on port %d of %s did not begin to answer in time; look whether it is busy or hangs", f.Port, f.Hostname)
	default:
		err = domain.Wrap(domain.CodeUpstream, err, "the service on port %d of %s %s", f.Port, f.Hostname, faultOf(err))
	}
	s.fail(c, err)
}

// faultOf says what a service did instead of answering. The HTTP client of Go tells the kinds
// apart by their text alone.
func faultOf(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "response headers exceeded"):
		return fmt.Sprintf("answers with headers of more than %d KiB, which is too much", forwardHeaders>>10)
	case strings.Contains(text, `malformed HTTP response "\x15\x03`): // an alert
		return "speaks TLS; forward a port on which it speaks plain HTTP"
	case strings.Contains(text, "malformed HTTP"):
		return "does not speak HTTP; only HTTP and WebSockets are forwarded"
	case strings.Contains(text, "switch protocol"):
		return "switches to a protocol that was not asked for"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(text, "server closed"), websocket.CloseStatus(err) != -1:
		return "closed the connection before it answered; look at its log"
	}
	return "does not answer as HTTP should; look at its log"
}

// forwardWay is a request on its way to a machine and back.
type forwardWay struct {
	forward domain.PortForward
	prefix  string // of the route, without a slash at its end; "" on a host name of its own
	rest    string // of the path, as it was escaped
	host    string // by which the target knows itself
}

// own reports whether the target has a host name to itself.
func (w *forwardWay) own() bool { return w.prefix == "" }

// rewrite makes a request the target's: it has nothing of ours, and says where it comes from.
func (w *forwardWay) rewrite(p *httputil.ProxyRequest) {
	in, out := p.In, p.Out
	path, err := url.PathUnescape(w.rest)
	if err != nil { // the router has read it
		path = w.rest
	}
	out.URL.Scheme, out.URL.Host = "http", net.JoinHostPort(w.forward.AgentID, strconv.Itoa(w.forward.Port))
	out.URL.Path, out.URL.RawPath = path, w.rest
	out.URL.RawQuery = in.URL.RawQuery // as it came: some targets have their own way to write it
	out.Host = w.host
	w.hideOurs(in, out)
	out.Header.Set("X-Forwarded-For", addressOf(in))
	out.Header.Set("X-Forwarded-Host", in.Host)
	if !w.own() {
		out.Header.Set("X-Forwarded-Prefix", w.prefix)
	}
	out.Header.Set("X-Forwarded-Proto", schemeOf(in))
}

// hideOurs takes out what is between the client and us: credentials, and what a proxy before us
// says of the client.
func (w *forwardWay) hideOurs(in, out *http.Request) {
	if !w.own() && slices.ContainsFunc(in.Header["Authorization"], bears) { // any of several
		out.Header.Del("Authorization")
	}
	dropCookies(out, w.hidden()...)
	for name := range out.Header { // the standard ones are gone already
		if betweenProxies(name) {
			delete(out.Header, name)
		}
	}
	if !websocketAsked(in) { // nothing else that a connection could become is known here
		out.Header.Del("Upgrade")
		out.Header.Del("Connection")
	}
	if origin := in.Header.Get("Origin"); origin != "" && sameOrigin(origin, in) {
		out.Header.Set("Origin", "http://"+w.host)
	}
	if referer, err := url.Parse(in.Header.Get("Referer")); err == nil && referer.Host == in.Host {
		if rest, ok := strings.CutPrefix(referer.EscapedPath(), w.prefix+"/"); ok {
			out.Header.Set("Referer", "http://"+w.host+"/"+rest)
		} else {
			out.Header.Del("Referer") // a page of ours: its address is nobody's business
		}
	}
}

// bears reports whether an Authorization is of the kind that keys of Harvest come in.
func bears(authorization string) bool {
	words := strings.Fields(authorization)
	return len(words) > 0 && strings.EqualFold(words[0], "Bearer")
}

// betweenProxies reports whether a header is one by which proxies tell of a client. Many programs
// take a "_" in its name for a "-".
func betweenProxies(name string) bool {
	name = http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	return strings.HasPrefix(name, "X-Forwarded-") || strings.HasPrefix(name, "X-Harvest-") || name == "X-Real-Ip" || name == "Forwarded"
}

// ourCookies are those under our own name that no other program may see, or set.
var ourCookies = []string{ownerCookie, tokenCookie, sessionCookie, stateCookie, visitCookie, fromCookie}

// hidden are the cookies that the target may not see, or set. On a host name of its own only
// the visit is ours: there a browser has none of the others, and "session" is what many programs
// call theirs.
func (w *forwardWay) hidden() []string {
	if w.own() {
		return []string{visitCookie, fromCookie}
	}
	return ourCookies
}

func schemeOf(r *http.Request) string {
	if overTLS(r) {
		return "https"
	}
	return "http"
}
