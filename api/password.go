package api

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// passwordChange is the body of PUT /auth/password.
type passwordChange struct {
	Current  string `json:"current"`
	Password string `json:"password"`
}

// changePassword answers PUT /auth/password.
func (s *Server) changePassword(ctx context.Context, r request[passwordChange]) (done, error) {
	if s.SignIn == nil {
		return done{}, errNoProvider
	}
	change := domain.PasswordChange{UserID: r.caller.UserID, Current: r.body.Current, Password: r.body.Password}
	if !r.caller.bearer {
		change.Token, change.Session = cookieOf(r.http, tokenCookie), cookieOf(r.http, sessionCookie)
	}
	return done{true}, s.SignIn.ChangePassword(ctx, change)
}

// passwordReset is the body of PUT /admin/users/:id/password.
type passwordReset struct {
	Password string `json:"password"`
}

// resetPassword answers PUT /admin/users/:id/password.
func (s *Server) resetPassword(ctx context.Context, r request[passwordReset]) (done, error) {
	if s.SignIn == nil {
		return done{}, errNoProvider
	}
	return done{true}, s.SignIn.ResetPassword(ctx, r.path["id"], r.body.Password)
}
