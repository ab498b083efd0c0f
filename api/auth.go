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
	errNoToken  = domain.Errorf(domain.CodeUnauthorized, "sign in, or give an API key or the owner token as a bearer token; the owner token is in the file owner-token of the data folder")
	errBadToken = domain.Errorf(domain.CodeUnauthorized, "the bearer token is neither an API key that is good nor the owner token, which is in the file owner-token of the data folder")
	errTicket   = domain.Errorf(domain.CodeUnauthorized, "the sign-in link is wrong or older than %d hours; print a new one with: harvest ui", int(ticketLife.Hours()))
	errAdmin    = domain.Errorf(domain.CodeForbidden, "only admins may do this")
)

// caller is who sent a request; the zero value is nobody.
type caller struct {
	domain.Actor
	bearer bool             // by a token, not by a cookie
	fresh  *domain.SignedIn // what the browser is to keep from now on; nil: what it has
}

// theOwner is who has the owner token.
func theOwner(bearer bool) caller {
	return caller{Actor: domain.Actor{UserID: domain.OwnerID, Name: domain.OwnerID, Role: domain.UserAdmin}, bearer: bearer}
}

const callerKey = "caller"

func callerOf(c *gin.Context) caller {
	who, _ := c.Value(callerKey).(caller)
	return who
}

// authorize lets a request pass that meets the route's policy, and goes on to meet it: one
// that takes long is ended when the access of its caller ends.
func (s *Server) authorize(policy access) gin.HandlerFunc {
	if policy.who == machines || policy.who == joiners {
		return s.authorizeAgent(policy)
	}
	return func(c *gin.Context) {
		who, err := s.identifyCaller(c.Request, policy)
		if err != nil && policy.page() && domain.CodeOf(err) == domain.CodeUnauthorized && forPeople(c.Request) {
			s.askToSignIn(c)
			s.noteDenied(c, who)
			return
		}
		if err == nil {
			c.Set(callerKey, who)
			err = s.admit(c, policy, who)
		}
		if err != nil {
			s.fail(c, err)
			s.noteDenied(c, who)
			return
		}
		if who.fresh != nil {
			keepSignedIn(c.Request, c.Writer.Header(), *who.fresh)
		}
		if policy == public {
			c.Next()
			s.noteRefused(c, who)
			return
		}
		s.whileAllowed(c, policy, who)
		s.noteDone(c, policy, who)
	}
}

// admit checks what the policy says of a caller whose credentials are right. The project that
// a path names is loaded here, once, for the handler.
func (s *Server) admit(c *gin.Context, policy access, who caller) error {
	if policy.who == followers {
		policy.who = anyPerson // the handler loads the turn and judges it, as is done again while it is followed
	}
	project, err := s.allow(c.Request.Context(), policy, who, c.Request.Method, policy.subject(c))
	c.Set(projectKey, project)
	return err
}

// allow checks what the policy says of a project or an artifact of that id, and gives the
// project that it is about.
func (s *Server) allow(ctx context.Context, policy access, who caller, method, id string) (domain.Project, error) {
	if scope := policy.scopeFor(method); !who.Allows(scope) {
		return domain.Project{}, domain.Errorf(domain.CodeForbidden, "this API key is not good for %q; make one that is", scope)
	}
	switch policy.who {
	case admins:
		if !who.Admin() {
			return domain.Project{}, errAdmin
		}
	case members:
		return s.visibleProject(ctx, id, who.Actor)
	case stewards:
		project, err := s.visibleProject(ctx, id, who.Actor)
		if err == nil && !who.Admin() {
			err = errAdmin
		}
		return project, err
	case sharers:
		return s.artifactProject(ctx, id, who.Actor)
	case visitors:
		return s.agentProject(ctx, id, who.Actor)
	case followers:
		_, err := s.ownTurn(ctx, who, id)
		return domain.Project{}, err
	}
	return domain.Project{}, nil
}

// visibleProject gives a project that a person may see; any other does not exist.
func (s *Server) visibleProject(ctx context.Context, id string, who domain.Actor) (domain.Project, error) {
	project, err := s.Projects.Project(ctx, id)
	if err == nil && !project.VisibleTo(who) {
		return domain.Project{}, domain.NotFound("there is no project %q", id)
	}
	return project, err
}

// artifactProject gives the project of an artifact that a person may see; any other artifact
// does not exist.
func (s *Server) artifactProject(ctx context.Context, id string, who domain.Actor) (domain.Project, error) {
	missing := domain.NotFound("there is no artifact %q", id)
	pid, err := s.Artifacts.ProjectOf(ctx, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.Project{}, missing
	}
	if err != nil {
		return domain.Project{}, err
	}
	project, err := s.visibleProject(ctx, pid, who)
	if domain.CodeOf(err) == domain.CodeNotFound {
		err = missing
	}
	return project, err
}

// agentProject gives the project of an agent that a person may see; any other agent does not
// exist.
func (s *Server) agentProject(ctx context.Context, id string, who domain.Actor) (domain.Project, error) {
	pid, _, err := s.Forwards.AgentPlace(ctx, id)
	if err != nil {
		return domain.Project{}, err
	}
	project, err := s.visibleProject(ctx, pid, who)
	if domain.CodeOf(err) == domain.CodeNotFound {
		err = domain.NotFound("there is no agent %q", id)
	}
	return project, err
}

const projectKey = "project"

// projectOf gives the project that the path names, where the route's policy is member, or
// that of the artifact, where it is shared.
func projectOf(c *gin.Context) domain.Project {
	project, _ := c.Value(projectKey).(domain.Project)
	return project
}

// identifyCaller finds out who sends a request, by a bearer token or by the cookies of a
// browser that is signed in; of the latter nothing is taken that another site's page sends.
func (s *Server) identifyCaller(r *http.Request, policy access) (caller, error) {
	if policy == public {
		return caller{}, nil
	}
	if policy == browser {
		if err := s.ownPage(r); err != nil {
			return caller{}, err
		}
	}
	if token, given := bearerToken(r); given {
		return s.byToken(r.Context(), token)
	}
	who, err := s.bySession(r)
	switch {
	case err == nil || domain.CodeOf(err) != domain.CodeUnauthorized:
		return who, err
	case policy == probe:
		return caller{}, nil
	case policy == browser:
		return s.byLink(r)
	case policy == visitor && cookieOf(r, ownerCookie) != "" && s.comesFromUs(r) == nil:
		return s.byLink(r)
	}
	return caller{}, err
}

func (s *Server) byToken(ctx context.Context, token string) (caller, error) {
	if s.token.matches(token) {
		return theOwner(true), nil
	}
	who, err := s.People.KeyActor(ctx, token)
	if domain.CodeOf(err) == domain.CodeUnauthorized {
		err = errBadToken
	}
	return caller{Actor: who, bearer: true}, err
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

// byLink reads the cookie of a sign-in link.
func (s *Server) byLink(r *http.Request) (caller, error) {
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
