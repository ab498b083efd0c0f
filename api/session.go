package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The cookies of a browser that is signed in: the token is short-lived and says who it is, the
// session renews it. On the way to a provider and back the browser keeps the state.
const (
	tokenCookie   = "token"
	sessionCookie = "session"
	stateCookie   = "sign_in"
	stateLife     = 10 * time.Minute
)

func cookieOf(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

func hasSession(r *http.Request) bool {
	return cookieOf(r, tokenCookie) != "" || cookieOf(r, sessionCookie) != ""
}

// bySession gives who is signed in by the cookies of a request. One that changes something,
// opens a WebSocket, or that a script of another origin sends, must come from a page of ours.
func (s *Server) bySession(r *http.Request) (caller, error) {
	if s.SignIn == nil || !hasSession(r) {
		return caller{}, errNoToken
	}
	if err := s.comesFromUs(r); err != nil {
		return caller{}, err
	}
	who, fresh, err := s.SignIn.Session(r.Context(), cookieOf(r, tokenCookie), cookieOf(r, sessionCookie))
	return caller{Actor: who, fresh: fresh}, err
}

// comesFromUs refuses what changes something, opens a WebSocket or names an origin, where it is
// not from a page of ours.
func (s *Server) comesFromUs(r *http.Request) error {
	if safe(r.Method) && r.Header.Get("Upgrade") == "" && r.Header.Get("Origin") == "" {
		return nil
	}
	return s.ownPage(r)
}

// keepSignedIn gives a browser the cookies of a sign-in.
func keepSignedIn(r *http.Request, reply http.Header, in domain.SignedIn) {
	setCookie(r, reply, http.Cookie{Name: tokenCookie, Value: in.Token, Path: "/", MaxAge: int(in.TokenLife.Seconds())})
	if in.Session != "" {
		setCookie(r, reply, http.Cookie{Name: sessionCookie, Value: in.Session, Path: "/", MaxAge: int(in.SessionLife.Seconds())})
	}
	reply.Set("Cache-Control", "no-store")
}

// forget removes a cookie from the browser.
func forget(r *http.Request, reply http.Header, name, path string) {
	setCookie(r, reply, http.Cookie{Name: name, Path: path, MaxAge: -1})
}

// setCookie sets a cookie that no script reads, and that goes along when a link is followed
// to us, but not with what another site's page sends.
func setCookie(r *http.Request, reply http.Header, cookie http.Cookie) {
	cookie.HttpOnly, cookie.SameSite, cookie.Secure = true, http.SameSiteLaxMode, overTLS(r)
	reply.Add("Set-Cookie", cookie.String())
}

// overTLS reports whether the browser speaks https, to us or to the proxy before us. A proxy
// that says so falsely only makes the cookie stricter.
func overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

var errNoSignIn = domain.Errorf(domain.CodeForbidden, "nobody can sign in to this server: its configuration has no [auth] section")

// signer gives what signs people in, for a request from a page of ours.
func (s *Server) signer(r *http.Request) (SignIn, error) {
	if s.SignIn == nil {
		return nil, errNoSignIn
	}
	return s.SignIn, s.ownPage(r)
}

// authConfig answers GET /auth/config.
func (s *Server) authConfig(context.Context, request[none]) (AuthInfo, error) {
	info := s.Auth
	info.Features.LXD = s.Machines.MakesContainers()
	if s.SignIn == nil {
		return info, nil
	}
	info.LocalLogin = s.SignIn.LocalLogin()
	for _, way := range s.SignIn.Ways() {
		switch {
		case way.Provider == "oidc":
			info.OIDC, info.OIDCDisplayName = way.Fault == nil, way.DisplayName
		default:
			info.Google = way.Fault == nil
		}
		if way.Fault != nil {
			info.Unavailable = append(info.Unavailable, way.Provider)
		}
	}
	return info, nil
}

// registration is the body of POST /auth/register.
type registration struct {
	Email      string `json:"email"`
	Name       string `json:"name"`
	Password   string `json:"password"`
	SetupToken string `json:"setup_token"`
}

// register answers POST /auth/register.
func (s *Server) register(ctx context.Context, r request[registration]) (done, error) {
	signer, err := s.signer(r.http)
	if err != nil {
		return done{}, err
	}
	in, err := signer.Register(ctx, domain.Registration{
		Email: r.body.Email, Name: r.body.Name, Password: r.body.Password, SetupToken: r.body.SetupToken, Address: addressOf(r.http),
	})
	return enter(r.http, r.reply, in, err)
}

// credentials are the body of POST /auth/login.
type credentials struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

// login answers POST /auth/login.
func (s *Server) login(ctx context.Context, r request[credentials]) (done, error) {
	signer, err := s.signer(r.http)
	if err != nil {
		return done{}, err
	}
	in, err := signer.Login(ctx, domain.Login{Email: r.body.Email, Password: r.body.Password, Address: addressOf(r.http)})
	return enter(r.http, r.reply, in, err)
}

func enter(r *http.Request, reply http.Header, in domain.SignedIn, err error) (done, error) {
	if err != nil {
		return done{}, err
	}
	keepSignedIn(r, reply, in)
	return done{true}, nil
}

// logout answers POST /auth/logout. With ?all=true it ends every session of the person.
func (s *Server) logout(ctx context.Context, r request[none]) (done, error) {
	if s.SignIn == nil {
		return done{true}, nil
	}
	if err := s.ownPage(r.http); err != nil {
		return done{}, err
	}
	all, err := flag(r.query, "all")
	if err != nil {
		return done{}, err
	}
	if err := s.SignIn.Logout(ctx, cookieOf(r.http, tokenCookie), cookieOf(r.http, sessionCookie), all); err != nil {
		return done{}, err
	}
	forget(r.http, r.reply, tokenCookie, "/")
	forget(r.http, r.reply, sessionCookie, "/")
	return done{true}, nil
}
