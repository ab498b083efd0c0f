package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// RouteAccess is who may call a route, by its policy.
type RouteAccess struct {
	Method, Path, Who string
	Scope             domain.KeyScope // that a key needs
	Public            bool            // nobody's credentials are looked at
}

// Access lists who may call which route.
func (s *Server) Access() (list []RouteAccess) {
	for _, r := range s.routes() {
		for _, method := range r.methods() {
			list = append(list, RouteAccess{method, r.path, string(r.access.who), r.access.scopeFor(method), r.access == public})
		}
	}
	return list
}

// Unruled gives what a route without a policy leads to.
func (s *Server) Unruled() error {
	return ruled(append(s.routes(), route{method: http.MethodGet, path: "/unruled"}))
}

// Routes lists "METHOD path" of every route.
func (s *Server) Routes() []string {
	var list []string
	for _, r := range s.routes() {
		for _, method := range r.methods() {
			list = append(list, method+" "+r.path)
		}
	}
	return list
}

// SetKeepAlive changes how often idle streams show a sign of life.
func (s *Server) SetKeepAlive(every time.Duration) { s.keepAlive = every }

// SetClock replaces the clock.
func (s *Server) SetClock(now func() time.Time) { s.now = now }

// SetSendLimit changes how long a client may take to accept what is sent.
func (s *Server) SetSendLimit(limit time.Duration) { s.sendLimit = limit }

// SetAccessEvery changes how often the callers of open requests are looked at again.
func (s *Server) SetAccessEvery(every time.Duration) { s.accessEvery = every }

// SetForwardHead changes how long a service on a machine may take to begin its answer.
func (s *Server) SetForwardHead(limit time.Duration) {
	s.forwards.transport.ResponseHeaderTimeout = limit
}

// Sandbox is the policy of the pages of machines.
const Sandbox = sandbox

// ForwardAnswer makes an answer that a port forward under prefix gives safe under our name, for a
// request that came to the host ours.
func ForwardAnswer(prefix string, port int, ours string, header http.Header) error {
	way := forwardWay{prefix: prefix, host: "127.0.0.1:" + strconv.Itoa(port)}
	request := &http.Request{Header: http.Header{"X-Forwarded-Host": {ours}}}
	return way.answer(&http.Response{Header: header, Request: request})
}

// OfTheHost are headers by which a machine's answer would change more than its route.
var OfTheHost = ofTheHost

// OurCookies are the names of cookies that no other program may see, or set.
var OurCookies = ourCookies
