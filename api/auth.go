package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

// A sign-in link is good for ticketLife; the cookie that it sets for sessionLife.
const (
	ticketLife  = 12 * time.Hour
	sessionLife = 7 * 24 * time.Hour
	ownerCookie = "harvest_owner"
)

var (
	errNoToken  = domain.Errorf(domain.CodeUnauthorized, "give the owner token as a bearer token; it is in the file owner-token of the data folder")
	errBadToken = domain.Errorf(domain.CodeUnauthorized, "the owner token is wrong; it is in the file owner-token of the data folder")
	errTicket   = domain.Errorf(domain.CodeUnauthorized, "the sign-in link is wrong or older than %d hours; print a new one with: harvest ui", int(ticketLife.Hours()))
)

// caller is who sent a request; the zero value is nobody.
type caller struct {
	domain.Actor
	bearer bool // by a token, not by a cookie
}

// theOwner is who has the owner token.
func theOwner(bearer bool) caller {
	return caller{domain.Actor{UserID: domain.OwnerID, Name: domain.OwnerID, Role: domain.UserAdmin}, bearer}
}

const callerKey = "caller"

func callerOf(c *gin.Context) caller {
	who, _ := c.Value(callerKey).(caller)
	return who
}

// authorize lets a request pass that meets the route's policy.
func (s *Server) authorize(policy access) gin.HandlerFunc {
	return func(c *gin.Context) {
		who, err := s.identifyCaller(c.Request, policy)
		if err != nil && policy == browser && domain.CodeOf(err) == domain.CodeUnauthorized && forPeople(c.Request) {
			s.askToSignIn(c)
			return
		}
		if err != nil {
			s.fail(c, err)
			return
		}
		c.Set(callerKey, who)
		if err := s.admit(c, policy, who); err != nil {
			s.fail(c, err)
			return
		}
		c.Next()
	}
}

var errAdmin = domain.Errorf(domain.CodeForbidden, "only admins may do this")

// admit checks what the policy says of a caller whose credentials are right. The project that
// a path names is loaded here, once, for the handler.
func (s *Server) admit(c *gin.Context, policy access, who caller) error {
	switch policy {
	case admin, browser:
		if !who.Admin() {
			return errAdmin
		}
	case member:
		project, err := s.Projects.Project(c.Request.Context(), c.Param("pid"))
		if err != nil {
			return err
		}
		if !project.VisibleTo(who.Actor) { // as if it did not exist
			return domain.NotFound("there is no project %q", c.Param("pid"))
		}
		c.Set(projectKey, project)
	}
	return nil
}

const projectKey = "project"

// projectOf gives the project that the path names, where the route's policy is member.
func projectOf(c *gin.Context) domain.Project {
	project, _ := c.Value(projectKey).(domain.Project)
	return project
}

func (s *Server) identifyCaller(r *http.Request, policy access) (caller, error) {
	if policy == public {
		return caller{}, nil
	}
	if policy == browser {
		if err := s.ownPage(r); err != nil {
			return caller{}, err
		}
	}
	token, given := bearerToken(r)
	switch {
	case given && s.token.matches(token):
		return theOwner(true), nil
	case given:
		return caller{}, errBadToken
	case policy == probe:
		return caller{}, nil
	case policy == browser:
		return s.signedIn(r)
	}
	return caller{}, errNoToken
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

// signedIn reads the cookie of a sign-in link.
func (s *Server) signedIn(r *http.Request) (caller, error) {
	cookie, err := r.Cookie(ownerCookie)
	if err != nil || !s.token.verify("session", cookie.Value, s.now()) {
		return caller{}, domain.Errorf(domain.CodeUnauthorized, "open a sign-in link, which harvest ui prints, or give the owner token as a bearer token")
	}
	return theOwner(false), nil
}

// tokenCheck knows the owner token by its digest, and signs with a key drawn from it.
type tokenCheck struct {
	digest [sha256.Size]byte
	key    []byte
}

func newTokenCheck(token string) tokenCheck {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("harvest sign-in"))
	return tokenCheck{digest: sha256.Sum256([]byte(token)), key: mac.Sum(nil)}
}

// matches compares in a time that does not depend on either token.
func (t tokenCheck) matches(token string) bool {
	got := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], t.digest[:]) == 1
}

// sign makes a proof of purpose that ends at a time: "unix seconds.signature".
func (t tokenCheck) sign(purpose string, until time.Time) string {
	end := strconv.FormatInt(until.Unix(), 10)
	mac := hmac.New(sha256.New, t.key)
	mac.Write([]byte(purpose + "." + end))
	return end + "." + hex.EncodeToString(mac.Sum(nil))
}

func (t tokenCheck) verify(purpose, proof string, now time.Time) bool {
	end, _, _ := strings.Cut(proof, ".")
	seconds, err := strconv.ParseInt(end, 10, 64)
	if err != nil || now.Unix() >= seconds {
		return false
	}
	return hmac.Equal([]byte(proof), []byte(t.sign(purpose, time.Unix(seconds, 0))))
}

func (s *Server) authConfig(context.Context, request[none]) (AuthInfo, error) { return s.Auth, nil }
