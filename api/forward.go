package api

import (
	"net"
	"net/http"
	"strconv"
	"strings"
)

// ForwardToUI answers on a port of its own, the customary one of the Temporal UI, and sends
// browsers on to the same page under /temporal/ of the API at apiPort: there they are signed
// in, and payloads open. They keep the host name by which they came.
func ForwardToUI(apiPort int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "the Temporal UI is under /temporal/ of the API at port "+strconv.Itoa(apiPort), http.StatusMethodNotAllowed)
			return
		}
		target := *r.URL
		target.Scheme, target.Host, target.User = "http", net.JoinHostPort(localName(r.Host), strconv.Itoa(apiPort)), nil
		if rest := strings.TrimPrefix(r.URL.Path, "/temporal"); rest == r.URL.Path || rest != "" && rest[0] != '/' {
			target.Path, target.RawPath = "/temporal"+r.URL.Path, ""
			if r.URL.RawPath != "" {
				target.RawPath = "/temporal" + r.URL.RawPath
			}
		} else if rest == "" {
			target.Path, target.RawPath = "/temporal/", ""
		}
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, target.String(), http.StatusTemporaryRedirect)
	})
}

// localName gives the host of a Host header where it names this machine to itself, else
// 127.0.0.1: a name that somebody else chose is not repeated.
func localName(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		return host
	}
	return "127.0.0.1"
}
