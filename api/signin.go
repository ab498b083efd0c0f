package api

import (
	_ "embed"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// SignInURL makes the link that signs a browser in to the pages under /temporal/. base is
// the API's address ("http://127.0.0.1:8080"). The link does not hold the token.
func SignInURL(base, ownerToken string, now time.Time) string {
	ticket := newTokenCheck(ownerToken).sign("ticket", now.Add(ticketLife))
	return strings.TrimRight(base, "/") + "/auth/owner?ticket=" + url.QueryEscape(ticket)
}

// signIn answers a sign-in link: it sets the cookie and goes on to the Temporal pages.
func (s *Server) signIn(c *gin.Context) {
	if err := s.knownHost(c.Request); err != nil {
		s.fail(c, err)
		return
	}
	if !s.token.verify("ticket", c.Query("ticket"), s.now()) {
		s.fail(c, errTicket)
		return
	}
	until := s.now().Add(sessionLife)
	for _, path := range []string{"/temporal", CodecPath} { // sent nowhere else
		http.SetCookie(c.Writer, &http.Cookie{
			Name: ownerCookie, Value: s.token.sign("session", until), Path: path, Expires: until,
			HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.Request.TLS != nil,
		})
	}
	c.Header("Referrer-Policy", "no-referrer")
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, "/temporal/")
}

//go:embed signin.html
var signInPage []byte

// forPeople reports whether a browser asks for a page to show, and not for data.
func forPeople(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// askToSignIn answers a browser that has no session with a page that says how to get one.
func (s *Server) askToSignIn(c *gin.Context) {
	c.Abort()
	c.Header("WWW-Authenticate", "Bearer")
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	c.Header("Content-Type", "text/html; charset=utf-8")
	writeRaw(c, raw{json: signInPage}, http.StatusUnauthorized)
}
