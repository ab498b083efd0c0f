package api

import (
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A browser that opens a port forward is sent on to a host name that the forward has to
// itself, where that is set up: there its pages are of an origin of their own, and whole web
// applications work. It comes with a ticket, which becomes a cookie of that host alone.
const (
	visitCookie = "harvest_visit"
	fromCookie  = "harvest_from"      // where the browser came from
	cookiesKept = 30 * 24 * time.Hour // longer than the visit: one that has ended is begun again
	ticketsLife = time.Minute
	visitLife   = 12 * time.Hour
	enterPath   = "/.harvest/enter"
	thisMachine = "localhost" // browsers take every name under it for this machine
)

var forwardID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

var forwardedPath = regexp.MustCompile(`^/agents/[0-9A-Za-z-]+/[0-9a-z-]+$`)

var errOtherOrigin = domain.Errorf(domain.CodeForbidden, "another site's page may not reach this machine")

// forwardOf gives the id of the port forward whose own host name that is; "" for none.
func (s *Server) forwardOf(host string) string {
	id, rest, ok := strings.Cut(strings.ToLower(host), ".")
	if !ok || !forwardID.MatchString(id) {
		return ""
	}
	if bare(rest) == thisMachine || s.ForwardHost != "" && bare(rest) == bare(strings.ToLower(s.ForwardHost)) {
		return id
	}
	return ""
}

// bare gives a host without its port.
func bare(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// ownAddress gives the address of a port forward's own host name, for the browser of a request;
// "" where there is none.
func (s *Server) ownAddress(r *http.Request, id string) string {
	if s.ForwardHost != "" {
		return schemeOf(r) + "://" + id + "." + s.ForwardHost
	}
	name, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = r.Host
	}
	if !isLoopback(name) {
		return ""
	}
	if port != "" {
		port = ":" + port
	}
	return schemeOf(r) + "://" + id + "." + thisMachine + port
}

// navigates reports whether a browser is about to show the answer as a page.
func navigates(r *http.Request) bool {
	if r.Method != http.MethodGet || r.Header.Get("Upgrade") != "" {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// toOwnHost sends a browser that is signed in on to the port forward's own host name, with a
// ticket, and reports whether it did.
func (s *Server) toOwnHost(c *gin.Context, f domain.PortForward, rest string) bool {
	who := callerOf(c)
	var session []byte // the owner's browser has none
	if secret := cookieOf(c.Request, sessionCookie); secret != "" && who.UserID != domain.OwnerID {
		session = hashOf(secret)
	}
	to := s.ownAddress(c.Request, f.ID)
	if who.bearer || session == nil && who.UserID != domain.OwnerID || to == "" || !navigates(c.Request) {
		return false
	}
	ticket := rand.Text()
	if err := s.Forwards.NewForwardTicket(c.Request.Context(), hashOf(ticket), f.ID, who.UserID, session, ticketsLife); err != nil {
		s.fail(c, err)
		return true
	}
	if c.Request.URL.RawQuery != "" {
		rest += "?" + c.Request.URL.RawQuery
	}
	from := schemeOf(c.Request) + "://" + c.Request.Host + strings.TrimSuffix(domain.ForwardPath(f.AgentID, f.RouteName), "/")
	s.sendOn(c, to+enterPath+"?"+url.Values{"ticket": {ticket}, "to": {rest}, "from": {from}}.Encode())
	return true
}

// sendOn answers with a redirect that nobody keeps or tells others.
func (s *Server) sendOn(c *gin.Context, to string) {
	c.Header("Location", to)
	c.Header("Cache-Control", "no-store")
	c.Header("Referrer-Policy", "no-referrer")
	writeRaw(c, raw{}, http.StatusSeeOther)
}

func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// newOwnHosts answers on the host names of port forwards: nothing of the API is there.
func (s *Server) newOwnHosts() *gin.Engine {
	engine := gin.New()
	engine.UseEscapedPath, engine.UnescapePathValues = true, false
	engine.RedirectTrailingSlash = false
	_ = engine.SetTrustedProxies(nil) // none can be wrong
	engine.Use(s.locate, s.identify, s.logAccess, s.recoverPanic)
	engine.NoRoute(func(c *gin.Context) { s.fail(c, errNoRoute) })
	for _, method := range (route{method: everyMethod}).taken() {
		engine.Handle(method, "/*path", s.forwardedOwn)
	}
	return engine
}

// forwardedOwn answers on the host name of a port forward.
func (s *Server) forwardedOwn(c *gin.Context) {
	r := c.Request
	id := s.forwardOf(r.Host)
	if r.Method == http.MethodGet && r.URL.Path == enterPath {
		s.enter(c, id)
		return
	}
	f, who, err := s.Forwards.ForwardVisit(r.Context(), id, hashOf(cookieOf(r, visitCookie)))
	if err == nil {
		err = onlyItself(r)
	}
	if err == nil {
		var project domain.Project
		project, err = s.agentProject(r.Context(), f.AgentID, who)
		c.Set(projectKey, project)
	}
	if err != nil {
		if domain.CodeOf(err) != domain.CodeUnauthorized || !s.comeBack(c, r.URL.RequestURI()) {
			s.fail(c, err)
		}
		s.noteDenied(c, caller{Actor: who})
		return
	}
	still := func(r *http.Request) error {
		_, now, err := s.Forwards.ForwardVisit(r.Context(), id, hashOf(cookieOf(r, visitCookie)))
		if err == nil {
			_, err = s.agentProject(r.Context(), f.AgentID, now)
		}
		return refusal(err)
	}
	s.whileRight(c, caller{Actor: who}, still, func() { s.pass(c, &forwardWay{forward: f, rest: r.URL.EscapedPath()}) })
}

// comeBack sends a browser whose visit has ended to where it came from, which sends it on with a
// new ticket once it is signed in, or shows it a page; it reports whether it did.
func (s *Server) comeBack(c *gin.Context, to string) bool {
	r := c.Request
	if !navigates(r) {
		return false
	}
	from := cookieOf(r, fromCookie)
	if s.leadsHere(from) && cookieOf(r, visitCookie) != "" {
		s.sendOn(c, from+to)
		return true
	}
	s.writeSignInPage(c, http.StatusUnauthorized, signInView{Ended: true}) // a browser that keeps no cookies, too
	return true
}

// leadsHere reports whether an address, which a page of the target's may have put into a cookie,
// is that of a port forward of this server.
func (s *Server) leadsHere(from string) bool {
	u, err := url.Parse(from)
	if err != nil || from != u.Scheme+"://"+u.Host+u.EscapedPath() || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	public, err := url.Parse(s.PublicURL)
	if !(err == nil && u.Scheme == public.Scheme && strings.EqualFold(u.Host, public.Host)) && !isLoopback(u.Hostname()) {
		return false
	}
	return forwardedPath.MatchString(u.EscapedPath())
}

// isLoopback reports whether a host name means this machine.
func isLoopback(name string) bool {
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == thisMachine || ip != nil && ip.IsLoopback()
}

// enter makes of a ticket the cookie by which the browser is known here.
func (s *Server) enter(c *gin.Context, id string) {
	query := c.Request.URL.Query()
	visit := rand.Text()
	if err := s.Forwards.TakeForwardTicket(c.Request.Context(), id, hashOf(query.Get("ticket")), hashOf(visit), visitLife); err != nil {
		if domain.CodeOf(err) != domain.CodeUnauthorized || !s.comeBack(c, "/"+strings.TrimLeft(query.Get("to"), `/\`)) {
			s.fail(c, err)
		}
		s.noteDenied(c, caller{})
		return
	}
	kept := int(cookiesKept.Seconds())
	setCookie(c.Request, c.Writer.Header(), http.Cookie{Name: visitCookie, Value: visit, Path: "/", MaxAge: kept})
	setCookie(c.Request, c.Writer.Header(), http.Cookie{Name: fromCookie, Value: query.Get("from"), Path: "/", MaxAge: kept})
	s.sendOn(c, "/"+strings.TrimLeft(query.Get("to"), `/\`))
}

// onlyItself refuses what a page of another origin asks of a target, such as that of another
// port forward, whose host name is of the same site. Following a link is allowed.
func onlyItself(r *http.Request) error {
	if origin := r.Header.Get("Origin"); origin != "" {
		if sameOrigin(origin, r) {
			return nil
		}
		return errOtherOrigin
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	if navigates(r) && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return nil
	}
	return errOtherOrigin
}
