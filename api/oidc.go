package api

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

var errNoProvider = domain.Errorf(domain.CodeNotConfigured, "this server is not set up for this way to sign in")

// beginSignIn sends a browser to a provider. With ?link=true the identity that comes back is
// added to the account that is signed in.
func (s *Server) beginSignIn(provider string) gin.HandlerFunc {
	return func(c *gin.Context) {
		address, keep, err := s.beginAt(c, provider)
		if err != nil {
			s.fail(c, err)
			return
		}
		setCookie(c.Request, c.Writer.Header(), http.Cookie{Name: stateCookie, Value: keep, Path: "/auth/", MaxAge: int(stateLife.Seconds())})
		c.Header("Cache-Control", "no-store")
		c.Redirect(http.StatusSeeOther, address)
	}
}

func (s *Server) beginAt(c *gin.Context, provider string) (address, keep string, err error) {
	if s.SignIn == nil {
		return "", "", errNoProvider
	}
	if err := s.knownHost(c.Request); err != nil {
		return "", "", err
	}
	start := domain.SignInStart{Provider: provider, SetupToken: c.Query("setup_token"), Next: c.Query("next")}
	if start.Next != "" && !ownPath(start.Next) {
		return "", "", domain.Invalid("next", "must be a path of this server")
	}
	link, err := flag(c.Request.URL.Query(), "link")
	if err != nil {
		return "", "", err
	}
	if link {
		if site := c.GetHeader("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
			return "", "", errOrigin // another site's page may not link its own identity to the account
		}
		who, err := s.bySession(c.Request)
		if err != nil {
			return "", "", err
		}
		start.UserID = who.UserID
	}
	return s.SignIn.Begin(c.Request.Context(), start)
}

// finishSignIn signs in a browser that comes back from a provider.
func (s *Server) finishSignIn(provider string) gin.HandlerFunc {
	return func(c *gin.Context) {
		in, err := s.finishAt(c, provider)
		forget(c.Request, c.Writer.Header(), stateCookie, "/auth/") // it is good for one try
		if err != nil {
			s.fail(c, err)
			return
		}
		keepSignedIn(c.Request, c.Writer.Header(), in)
		c.Header("Referrer-Policy", "no-referrer")
		if in.Next == "" {
			in.Next = devicePath
		}
		c.Redirect(http.StatusSeeOther, in.Next)
	}
}

func (s *Server) finishAt(c *gin.Context, provider string) (domain.SignedIn, error) {
	if s.SignIn == nil {
		return domain.SignedIn{}, errNoProvider
	}
	if c.Query("error") != "" && c.Query("state") != "" {
		return domain.SignedIn{}, domain.Errorf(domain.CodeUpstream, "the sign-in provider refused; sign in again")
	}
	who, err := s.bySession(c.Request)
	if err != nil && domain.CodeOf(err) != domain.CodeUnauthorized {
		return domain.SignedIn{}, err
	}
	return s.SignIn.Finish(c.Request.Context(), domain.SignInEnd{
		Provider: provider, Kept: cookieOf(c.Request, stateCookie), State: c.Query("state"), Code: c.Query("code"), UserID: who.UserID,
	})
}

const maxNext = 500

// ownPath reports whether text is a path of this server, which leads a browser nowhere else.
func ownPath(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= maxNext && u.Scheme == "" && u.Host == "" && u.User == nil &&
		strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") && !strings.ContainsAny(text, "\\\r\n\t")
}
