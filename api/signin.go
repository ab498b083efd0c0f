package api

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/harvest-engine/harvest/internal/domain"
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
	for _, path := range []string{"/temporal", CodecPath, "/agents"} { // sent nowhere else
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
var signInText string

var signInPage = template.Must(template.New("sign in").Parse(signInText))

// signInView is what the page shows.
type signInView struct {
	Ways  []wayIn
	Local bool   // local accounts sign in by the form
	Owner bool   // a sign-in link is a way, too
	Next  string // where to go on; "" for nowhere
	Email string // that was typed
	Fault string // why that did not work
	Ended bool   // a visit on another host name, where nobody can sign in
}

// forPeople reports whether a browser asks for a page to show, and not for data.
func forPeople(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// askToSignIn answers a browser that has no session with a page on which it gets one, and that
// leads back.
func (s *Server) askToSignIn(c *gin.Context) {
	c.Header("WWW-Authenticate", "Bearer")
	s.writeSignInPage(c, http.StatusUnauthorized, s.waysIn(c.Request.URL.RequestURI()))
}

// waysIn gives the ways to sign in that lead on to a page of this server.
func (s *Server) waysIn(next string) signInView {
	if !ownPath(next) {
		next = ""
	}
	view := signInView{Owner: true, Next: next}
	if s.SignIn != nil {
		view.Local, view.Ways = s.SignIn.LocalLogin(), s.waysTo(next)
	}
	return view
}

// signInByForm answers POST /auth/sign-in, the form of that page.
func (s *Server) signInByForm(c *gin.Context) {
	signer, err := s.signer(c.Request)
	if err != nil {
		s.fail(c, err)
		return
	}
	view := s.waysIn(c.PostForm("next"))
	in, err := signer.Login(c.Request.Context(), domain.Login{Email: c.PostForm("email"), Password: c.PostForm("password"), Address: addressOf(c.Request)})
	if err != nil {
		status, _ := describe(err)
		view.Email, view.Fault = c.PostForm("email"), domain.PublicMessage(err)
		s.writeSignInPage(c, status, view)
		return
	}
	keepSignedIn(c.Request, c.Writer.Header(), in)
	if view.Next == "" {
		view.Next = devicePath
	}
	s.sendOn(c, view.Next)
}

// writeSignInPage writes the page, which no other page may frame and which loads nothing. Its
// form may lead on to other host names: browsers hold a redirect behind it to form-action.
func (s *Server) writeSignInPage(c *gin.Context, status int, view signInView) {
	var page bytes.Buffer
	if err := signInPage.Execute(&page, view); err != nil {
		s.fail(c, err)
		return
	}
	c.Abort()
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
	c.Header("Referrer-Policy", "same-origin") // without any, the form would come from nowhere
	c.Header("Content-Type", "text/html; charset=utf-8")
	writeRaw(c, raw{json: page.Bytes()}, status)
}
