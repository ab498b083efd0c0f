package signin

import (
	"context"
	"crypto/sha256"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	errNoPassword    = domain.Errorf(domain.CodeConflict, "this account has no password: it signs in by its provider")
	errOwner         = domain.Errorf(domain.CodeConflict, "the owner has no password, but a token: the file owner-token of the data folder")
	errWrongPassword = domain.Errorf(domain.CodeForbidden, "the current password is wrong")
)

// ChangePassword replaces a person's password by one of their own choice, and ends all their
// sessions but the one that they act by. Errors: forbidden for a wrong current password or
// where there are no local accounts, conflict for an account without a password, invalid,
// too_many.
func (s *Service) ChangePassword(ctx context.Context, c domain.PasswordChange) error {
	user, hash, err := s.passwordOf(ctx, c.UserID)
	if err != nil {
		return err
	}
	if hash == "" {
		return errNoPassword
	}
	if err := s.attempt(ctx, accountKey(user.Email), accountLimit); err != nil {
		return err
	}
	right, err := s.hasher.verify(ctx, hash, c.Current)
	if err != nil {
		return err
	}
	if !right {
		return errWrongPassword
	}
	claims, _ := s.sessions.read(c.Token) // the zero claims keep no session
	sum := sha256.Sum256([]byte(c.Session))
	return s.setPassword(ctx, user, c.Password, claims.Session, sum[:])
}

// ResetPassword gives a person a password that somebody else chose, and ends all their
// sessions. Errors: forbidden where there are no local accounts, not_found, invalid, conflict
// for a person without an e-mail address to sign in by.
func (s *Service) ResetPassword(ctx context.Context, userID, password string) error {
	user, _, err := s.passwordOf(ctx, userID)
	if err != nil {
		return err
	}
	return s.setPassword(ctx, user, password, "", nil)
}

// passwordOf gives a person with the hash of their password.
func (s *Service) passwordOf(ctx context.Context, userID string) (domain.User, string, error) {
	if !s.Local {
		return domain.User{}, "", errNotLocal
	}
	user, err := s.Store.User(ctx, userID)
	if err != nil {
		return user, "", err
	}
	if user.ID == domain.OwnerID {
		return user, "", errOwner
	}
	if user.Email == "" {
		return user, "", errNoPassword
	}
	return s.Store.UserByEmail(ctx, user.Email)
}

// setPassword sets a password, and ends all sessions of the person but one.
func (s *Service) setPassword(ctx context.Context, user domain.User, password, session string, secret []byte) error {
	if err := checkPassword(password, user.Email, user.Name); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	if err := s.Store.SetPassword(ctx, user.ID, hash, session, secret); err != nil {
		return err
	}
	return s.Store.ForgetAttempts(ctx, accountKey(user.Email), "")
}
