package api

import (
	"net"
	"net/http"
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
	"Nel", "Report-To", "Reporting-Endpoints", "Origin-Agent-Cluster", requestIDHeader,
}

// answer makes the target's answer one that is safe under our name.
func (w *forwardWay) answer(r *http.Response) error {
	for name := range r.Header {
		if strings.HasPrefix(name, "Access-Control-") || slices.Contains(ofTheHost, name) {
			r.Header.Del(name)
		}
	}
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
// route of ours, and are none that mean something to us.
func (w *forwardWay) scopeCookies(header http.Header) {
	lines := header["Set-Cookie"]
	header.Del("Set-Cookie")
	for _, line := range lines {
		cookie, err := http.ParseSetCookie(line)
		if err != nil || slices.ContainsFunc(ourCookies, func(name string) bool { return strings.EqualFold(name, cookie.Name) }) ||
			strings.HasPrefix(strings.ToLower(cookie.Name), "__host-") && !w.own() { // it must be the whole host's
			continue
		}
		cookie.Domain = ""
		if w.own() {
			header.Add("Set-Cookie", cookie.String())
			continue
		}
		path := strings.TrimLeft(cookie.Path, "/")
		if cookie.Path == w.prefix || strings.HasPrefix(cookie.Path, w.prefix+"/") {
			path = strings.TrimLeft(strings.TrimPrefix(cookie.Path, w.prefix), "/")
		}
		cookie.Path = w.prefix + "/" + path
		if text := cookie.String(); text != "" {
			header.Add("Set-Cookie", text)
		}
	}
}
