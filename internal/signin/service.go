package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	sessionLife    = 7 * 24 * time.Hour // since its last renewal
	sessionLongest = 30 * 24 * time.Hour
	maxName        = 200
	maxEmail       = 254 // RFC 5321

	attemptWindow  = 15 * time.Minute
	accountLimit   = 10 // attempts in a window; a sign-in that succeeds forgets them
	addressLimit   = 60
	registerPrefix = "register/"
)

// Store keeps people and their sessions; postgres.Store does.
type Store interface {
	CreateUser(ctx context.Context, n domain.NewUser) (domain.User, error)
	UserByEmail(ctx context.Context, email string) (u domain.User, password string, err error)
	UserByIdentity(ctx context.Context, i domain.Identity) (userID string, err error)
	LinkIdentity(ctx context.Context, i domain.Identity, userID string) error
	CreateSession(ctx context.Context, userID string, hash []byte, life time.Duration) (id string, err error)
	SessionActor(ctx context.Context, id, userID string) (domain.Actor, error)
	RenewSession(ctx context.Context, hash []byte, life, longest time.Duration) (id, userID string, err error)
	EndSession(ctx context.Context, id string, hash []byte) error
	CreateDevice(ctx context.Context, userCode string, hash []byte, d domain.NewDevice, life time.Duration) error
	Device(ctx context.Context, userCode string) (domain.Device, error)
	DecideDevice(ctx context.Context, d domain.DeviceDecision) error
	RedeemDevice(ctx context.Context, hash []byte) (key domain.APIKey, text string, err error)
	EndSessions(ctx context.Context, id string, hash []byte) error
	User(ctx context.Context, id string) (domain.User, error)
	SetPassword(ctx context.Context, userID, password, keepID string, keepHash []byte) error
	CountAttempt(ctx context.Context, subject string, window time.Duration) (count int, left time.Duration, err error)
	ForgetAttempts(ctx context.Context, account, address string) error
}

// Config sets a Service up.
type Config struct {
	Store      Store
	Secret     string // signs the tokens; at least 16 bytes
	Local      bool   // local accounts sign up and in
	SetupToken string // that the first person must give; "" for none
	Providers  []Provider
	Log        zerolog.Logger
	Now        func() time.Time // nil: the clock
}

// Service signs people up, in and out. It is safe for concurrent use.
type Service struct {
	Config
	hasher    *hasher
	sessions  signer[sessionClaims, *sessionClaims]
	states    signer[stateClaims, *stateClaims]
	providers []*provider
}

// New builds a service. Run must run beside it for its providers.
func New(cfg Config) (*Service, error) {
	if len(cfg.Secret) < 16 {
		return nil, errors.New("signin: the secret needs at least 16 bytes")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{Config: cfg, hasher: newHasher()}
	var err error
	if s.sessions, err = newSigner[sessionClaims](cfg.Secret, "session", cfg.Now); err != nil {
		return nil, err
	}
	if s.states, err = newSigner[stateClaims](cfg.Secret, "state", cfg.Now); err != nil {
		return nil, err
	}
	for _, p := range cfg.Providers {
		s.providers = append(s.providers, newProvider(p))
	}
	return s, nil
}

// LocalLogin reports whether local accounts can sign in.
func (s *Service) LocalLogin() bool { return s.Local }

var errNotLocal = domain.Errorf(domain.CodeForbidden, "this server has no local accounts; sign in by a provider")

// Register makes a local account and signs it in. Errors: invalid, conflict for a taken
// e-mail address, forbidden without the setup token or where there are no local accounts,
// too_many.
func (s *Service) Register(ctx context.Context, r domain.Registration) (domain.SignedIn, error) {
	if !s.Local {
		return domain.SignedIn{}, errNotLocal
	}
	email, err := checkEmail(r.Email)
	if err != nil {
		return domain.SignedIn{}, err
	}
	name, err := checkName(r.Name)
	if err != nil {
		return domain.SignedIn{}, err
	}
	if err := checkPassword(r.Password, email, name); err != nil {
		return domain.SignedIn{}, err
	}
	if err := s.attempt(ctx, registerPrefix+addressKey(r.Address), addressLimit); err != nil {
		return domain.SignedIn{}, err
	}
	hash, err := s.hasher.hash(ctx, r.Password)
	if err != nil {
		return domain.SignedIn{}, err
	}
	user, err := s.Store.CreateUser(ctx, domain.NewUser{
		Email: email, Name: name, Provider: "local", Password: hash, Later: !s.setUp(r.SetupToken),
	})
	if err != nil {
		return domain.SignedIn{}, err
	}
	return s.begin(ctx, user.ID)
}

// setUp reports whether somebody who gives the token may be the first.
func (s *Service) setUp(token string) bool {
	want, got := sha256.Sum256([]byte(s.SetupToken)), sha256.Sum256([]byte(token))
	return s.SetupToken == "" || subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

var errLogin = domain.Errorf(domain.CodeUnauthorized, "the e-mail address or the password is wrong")

// Login signs a local account in. Errors: unauthorized, the same for an unknown address and a
// wrong password; forbidden where there are no local accounts; too_many.
func (s *Service) Login(ctx context.Context, l domain.Login) (domain.SignedIn, error) {
	if !s.Local {
		return domain.SignedIn{}, errNotLocal
	}
	account, address := accountKey(l.Email), addressKey(l.Address)
	if err := s.attempt(ctx, address, addressLimit); err != nil {
		return domain.SignedIn{}, err
	}
	if err := s.attempt(ctx, account, accountLimit); err != nil {
		return domain.SignedIn{}, err
	}
	user, hash, err := s.Store.UserByEmail(ctx, l.Email)
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return domain.SignedIn{}, err
	}
	right, err := s.hasher.verify(ctx, hash, l.Password)
	if err != nil {
		return domain.SignedIn{}, err
	}
	if !right {
		return domain.SignedIn{}, errLogin
	}
	if err := s.Store.ForgetAttempts(ctx, account, address); err != nil {
		return domain.SignedIn{}, err
	}
	return s.begin(ctx, user.ID)
}

func (s *Service) attempt(ctx context.Context, subject string, limit int) error {
	count, left, err := s.Store.CountAttempt(ctx, subject, attemptWindow)
	if err != nil {
		return err
	}
	if count > limit {
		refused := domain.Errorf(domain.CodeTooMany, "too many attempts; try again in %d minutes", int(left.Minutes())+1)
		refused.Wait = left
		return refused
	}
	return nil
}

// accountKey names an account in the count of attempts, without keeping what was typed.
func accountKey(email string) string {
	return fmt.Sprintf("account/%x", sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(email)))))
}

// addressKey names an address: of IPv6 its /64, which is what one subscriber has.
func addressKey(address string) string {
	address, _, _ = strings.Cut(address, "%") // the zone of a link-local address
	if ip := net.ParseIP(address); ip != nil && ip.To4() == nil {
		address = ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return "address/" + address
}

func checkEmail(text string) (string, error) {
	text = strings.TrimSpace(text)
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || len(text) > maxEmail || !utf8.ValidString(text) {
		return "", domain.Invalid("email", "must be an e-mail address, such as ada@example.com")
	}
	return text, nil
}

func checkName(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || utf8.RuneCountInString(text) > maxName || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", domain.Invalid("name", "must have 1 to %d characters", maxName)
	}
	return text, nil
}

// begin begins a session.
func (s *Service) begin(ctx context.Context, userID string) (domain.SignedIn, error) {
	secret := rand.Text()
	sum := sha256.Sum256([]byte(secret))
	id, err := s.Store.CreateSession(ctx, userID, sum[:], sessionLife)
	if err != nil {
		return domain.SignedIn{}, err
	}
	token, err := s.token(id, userID)
	return domain.SignedIn{Token: token, TokenLife: tokenLife, Session: secret, SessionLife: sessionLongest}, err
}

func (s *Service) token(session, userID string) (string, error) {
	claims := &sessionClaims{RegisteredClaims: s.sessions.registered(tokenLife), Session: session}
	claims.Subject = userID
	return s.sessions.sign(claims)
}

// Session gives who is signed in by a browser's token, or by what renews it where the token
// is used up: then fresh is the next one. What the person may do is read from the store each
// time. Errors: unauthorized.
func (s *Service) Session(ctx context.Context, token, session string) (who domain.Actor, fresh *domain.SignedIn, err error) {
	if claims, err := s.sessions.read(token); err == nil {
		who, err = s.Store.SessionActor(ctx, claims.Session, claims.Subject)
		return who, nil, err
	}
	if session == "" {
		return who, nil, errToken
	}
	sum := sha256.Sum256([]byte(session))
	id, userID, err := s.Store.RenewSession(ctx, sum[:], sessionLife, sessionLongest)
	if err != nil {
		return who, nil, err
	}
	if who, err = s.Store.SessionActor(ctx, id, userID); err != nil {
		return who, nil, err
	}
	next, err := s.token(id, userID)
	return who, &domain.SignedIn{Token: next, TokenLife: tokenLife}, err
}

// Logout ends a browser's session, or with all every session of its person, on every server
// at once. There need be none.
func (s *Service) Logout(ctx context.Context, token, session string, all bool) error {
	claims, err := s.sessions.read(token)
	if err != nil && session == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(session))
	if all {
		return s.Store.EndSessions(ctx, claims.Session, sum[:])
	}
	return s.Store.EndSession(ctx, claims.Session, sum[:])
}
