package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
)

// sandbox is what pages of a target may do: anything but be of our origin. Scripts in them have
// no cookies of ours, and what they ask of us comes from an origin that is refused.
const sandbox = "sandbox allow-scripts allow-forms allow-modals allow-popups allow-downloads allow-pointer-lock allow-presentation"

// ofTheHost are headers of an answer that would change more than the route: other pages of our
// host name, or what the browser keeps of them. Our own answer is in their place.
var ofTheHost = []string{
	"Strict-Transport-Security", "Public-Key-Pins", "Expect-Ct", "Clear-Site-Data", "Service-Worker-Allowed", "Alt-Svc",
	"Nel", "Report-To", "Reporting-Endpoints", "Origin-Agent-Cluster", "Accept-Ch", "Set-Login", "Activate-Storage-Access", "Use-As-Dictionary",
	"Secure-Session-Registration", "Sec-Session-Registration", requestIDHeader,
}

// final lets pass no answer but the last one: an informational one, such as early hints, would
// go to the client as the target wrote it.
type final struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f final) RoundTrip(r *http.Request) (*http.Response, error) {
	return f.RoundTripper.RoundTrip(r.WithContext(untraced{r.Context()}))
}

// untraced is a context in which nobody listens to how a request is doing.
type untraced struct{ context.Context }

// Value implements context.Context.
func (u untraced) Value(key any) any {
	value := u.Context.Value(key)
	if _, listens := value.(*httptrace.ClientTrace); listens {
		return nil
	}
	return value
}

// answer makes the target's answer one that is safe under our name.
func (w *forwardWay) answer(r *http.Response) error {
	onlyOfTheRoute(r.Header)
	w.tameTrailers(r)
	// One more policy besides the target's own: a browser holds to all of them. On whatever it
	// is, for not only HTML becomes a page.
	if !w.own() {
		r.Header.Add("Content-Security-Policy", sandbox)
	}
	w.scopeCookies(r.Header)
	for _, name := range []string{"Location", "Content-Location"} {
		if to := r.Header.Get(name); to != "" {
			r.Header.Set(name, w.here(to, r.Request.Header.Get("X-Forwarded-Host")))
		}
	}
	return nil
}

// onlyOfTheRoute takes out what is said of more than the route.
func onlyOfTheRoute(header http.Header) {
	for name := range header {
		if strings.HasPrefix(name, "Access-Control-") || slices.Contains(ofTheHost, name) {
			header.Del(name)
		}
	}
}

// tameTrailers lets nothing come behind the body that is judged in front of it: a proxy before us
// may join the two.
func (w *forwardWay) tameTrailers(r *http.Response) {
	if r.Body == nil || r.StatusCode == http.StatusSwitchingProtocols { // the connection itself
		return
	}
	tame := func() {
		onlyOfTheRoute(r.Trailer)
		for _, name := range []string{"Set-Cookie", "Content-Security-Policy", "Location", "Content-Location"} {
			r.Trailer.Del(name)
		}
	}
	tame() // what is announced
	r.Body = &endedBody{r.Body, tame}
}

// endedBody is a body that does something at its end.
type endedBody struct {
	io.ReadCloser
	atEnd func()
}

// Read implements io.Reader.
func (b *endedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.atEnd()
	}
	return n, err
}

// here gives an address of the target's own as one under the route; others stay.
func (w *forwardWay) here(address, ours string) string {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" {
		return address
	}
	own := u.Host == "" || strings.EqualFold(u.Host, ours) || w.ofTarget(u.Host)
	if !own || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return address
	}
	path := u.EscapedPath()
	if u.Host == "" && !strings.HasPrefix(path, "/") {
		return address // relative to the page
	}
	u.Scheme, u.Host, u.User = "", "", nil
	if path != w.prefix && !strings.HasPrefix(path, w.prefix+"/") { // a target that knows X-Forwarded-Prefix
		path = w.prefix + "/" + strings.TrimLeft(path, "/")
	}
	if path == "" {
		path = "/"
	}
	u.RawPath = path
	if u.Path, err = url.PathUnescape(path); err != nil {
		return address
	}
	return u.String()
}

// ofTarget reports whether a host is the target by one of the names it has for itself.
func (w *forwardWay) ofTarget(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "80"
	}
	_, own, _ := net.SplitHostPort(w.host)
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return port == own && (strings.EqualFold(name, "localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified()))
}

// scopeCookies keeps the target's cookies to the route, or to its host name: they go to no other target and to no
// route of ours, and are none that mean something to us. Else they stay as they are written.
func (w *forwardWay) scopeCookies(header http.Header) {
	lines := header["Set-Cookie"]
	header.Del("Set-Cookie")
	for _, line := range lines {
		cookie, attributes, _ := strings.Cut(line, ";")
		name, _, named := strings.Cut(cookie, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		// Browsers send a cookie without a name as its value alone, which could be "token=…".
		if !named || name == "" || slices.Contains(w.hidden(), name) ||
			strings.HasPrefix(name, "__host-") && !w.own() { // it must be the whole host's
			continue
		}
		header.Add("Set-Cookie", strings.TrimSpace(cookie)+w.scoped(attributes))
	}
}

// scoped gives the attributes of a cookie without a domain, and with the route's path.
func (w *forwardWay) scoped(attributes string) string {
	var kept strings.Builder
	path := ""
	for attribute := range strings.SplitSeq(attributes, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(attribute), "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "", "domain":
		case "path": // the last one counts
			path = strings.TrimSpace(value)
		default:
			kept.WriteString("; " + strings.TrimSpace(attribute))
		}
	}
	if !w.own() {
		rest, inside := strings.CutPrefix(path, w.prefix)
		if !inside || rest != "" && rest[0] != '/' {
			rest = path
		}
		path = w.prefix + "/" + strings.TrimLeft(rest, "/")
	}
	if path != "" {
		return "; Path=" + path + kept.String()
	}
	return kept.String()
}
