package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	stateLife     = 10 * time.Minute
	providerLimit = 15 * time.Second // for a provider to answer
	retryFirst    = time.Second
	retryLongest  = time.Minute
)

// GoogleIssuer is the address by which Google is known.
const GoogleIssuer = "https://accounts.google.com"

// Provider is a service that signs people in by OpenID Connect.
type Provider struct {
	Name         string // google or oidc: as in its routes
	DisplayName  string
	Issuer       string
	ClientID     string
	ClientSecret string
	RedirectURI  string
}

// provider is a Provider that may still have to be discovered.
type provider struct {
	Provider
	client *http.Client

	mu    sync.Mutex
	found *oidc.Provider
	fault error
}

func newProvider(p Provider) *provider {
	return &provider{
		Provider: p, client: &http.Client{Timeout: providerLimit},
		fault: domain.Errorf(domain.CodeUnavailable, "the sign-in provider %s has not answered yet; try again", p.Issuer),
	}
}

// Run discovers the providers, again and again until each has answered or ctx ends.
func (s *Service) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, p := range s.providers {
		all.Go(func() { s.discover(ctx, p) })
	}
	all.Wait()
}

func (s *Service) discover(ctx context.Context, p *provider) {
	for wait := retryFirst; ; wait = min(2*wait, retryLongest) {
		// The keys are fetched later too, by the same context's client.
		found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.Issuer)
		if err == nil {
			p.set(found, nil)
			s.Log.Info().Str("provider", p.Name).Str("issuer", p.Issuer).Msg("sign_in_provider_found")
			return
		}
		p.set(nil, domain.Wrap(domain.CodeUnavailable, err, "the sign-in provider %s does not answer; try again", p.Issuer))
		s.Log.Warn().Str("provider", p.Name).Str("issuer", p.Issuer).Err(err).Msg("sign_in_provider_away")
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

func (p *provider) set(found *oidc.Provider, fault error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found, p.fault = found, fault
}

func (p *provider) ready() (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found, p.fault
}

func (p *provider) oauth(found *oidc.Provider) oauth2.Config {
	return oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, RedirectURL: p.RedirectURI,
		Endpoint: found.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}
}

// Ways lists the providers, with what keeps one from working now.
func (s *Service) Ways() []domain.SignInWay {
	ways := make([]domain.SignInWay, 0, len(s.providers))
	for _, p := range s.providers {
		_, fault := p.ready()
		ways = append(ways, domain.SignInWay{Provider: p.Name, DisplayName: p.DisplayName, Fault: fault})
	}
	return ways
}

func (s *Service) provider(name string) (*provider, *oidc.Provider, error) {
	for _, p := range s.providers {
		if p.Name == name {
			found, err := p.ready()
			return p, found, err
		}
	}
	return nil, nil, domain.Errorf(domain.CodeNotConfigured, "this server is not set up to sign people in by %s", name)
}

// Begin gives where to send a browser to sign in by a provider, and what it must keep until
// it comes back. Errors: not_configured, unavailable.
func (s *Service) Begin(_ context.Context, start domain.SignInStart) (address, keep string, err error) {
	p, found, err := s.provider(start.Provider)
	if err != nil {
		return "", "", err
	}
	claims := &stateClaims{
		RegisteredClaims: s.states.registered(stateLife),
		Provider:         p.Name, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Link: start.UserID, Setup: s.setUp(start.SetupToken), Next: start.Next,
	}
	if keep, err = s.states.sign(claims); err != nil {
		return "", "", err
	}
	oauth := p.oauth(found)
	return oauth.AuthCodeURL(claims.State, oidc.Nonce(claims.Nonce), oauth2.S256ChallengeOption(claims.Verifier)), keep, nil
}

// Finish signs in who comes back from a provider: the person of that identity, the person who
// set out to link it, or somebody new. An e-mail address finds nobody. Errors: invalid for a
// state that is not the browser's own, upstream, conflict, forbidden without the setup token.
func (s *Service) Finish(ctx context.Context, end domain.SignInEnd) (domain.SignedIn, error) {
	p, found, err := s.provider(end.Provider)
	if err != nil {
		return domain.SignedIn{}, err
	}
	claims, err := s.states.read(end.Kept)
	if err != nil || claims.Provider != p.Name ||
		subtle.ConstantTimeCompare([]byte(claims.State), []byte(end.State)) != 1 {
		return domain.SignedIn{}, domain.Invalid("state", "does not belong to this browser, or is older than %d minutes; sign in again", int(stateLife.Minutes()))
	}
	if claims.Link != end.UserID && claims.Link != "" {
		return domain.SignedIn{}, domain.Errorf(domain.CodeUnauthorized, "you are no longer signed in as who set out to link this identity")
	}
	if end.Code == "" {
		return domain.SignedIn{}, domain.Invalid("code", "is missing; sign in again")
	}
	person, err := p.redeem(ctx, found, end.Code, &claims)
	if err != nil {
		return domain.SignedIn{}, err
	}
	userID, err := s.recognize(ctx, p, person, &claims)
	if err != nil {
		return domain.SignedIn{}, err
	}
	in, err := s.begin(ctx, userID)
	in.Next = claims.Next
	return in, err
}

// profile is what a provider says of a person.
type profile struct {
	identity      domain.Identity
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"` // some providers leave it out where it is false
	Name          string `json:"name"`
	Username      string `json:"preferred_username"`
}

// redeem exchanges a code for what the provider says of the person.
func (p *provider) redeem(ctx context.Context, found *oidc.Provider, code string, claims *stateClaims) (profile, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	oauth := p.oauth(found)
	var person profile
	token, err := oauth.Exchange(ctx, code, oauth2.VerifierOption(claims.Verifier))
	if err != nil {
		return person, domain.Wrap(domain.CodeUpstream, err, "the sign-in provider did not take the code; sign in again")
	}
	text, _ := token.Extra("id_token").(string)
	id, err := found.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, text)
	if err != nil {
		return person, domain.Wrap(domain.CodeUpstream, err, "the sign-in provider's answer is not valid")
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(claims.Nonce)) != 1 || id.Subject == "" {
		return person, domain.Errorf(domain.CodeUpstream, "the sign-in provider's answer is not to this sign-in")
	}
	if err := id.Claims(&person); err != nil {
		return person, domain.Wrap(domain.CodeUpstream, err, "the sign-in provider's answer can't be read")
	}
	if person.Email == "" || person.Name == "" { // many providers say these only when asked
		info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil || info.Subject != id.Subject {
			return person, domain.Wrap(domain.CodeUpstream, err, "the sign-in provider does not say who you are")
		}
		if err := info.Claims(&person); err != nil {
			return person, domain.Wrap(domain.CodeUpstream, err, "the sign-in provider's answer can't be read")
		}
	}
	person.identity = domain.Identity{Issuer: id.Issuer, Subject: id.Subject}
	return person, nil
}

// recognize gives the person of an identity.
func (s *Service) recognize(ctx context.Context, p *provider, person profile, claims *stateClaims) (userID string, err error) {
	if claims.Link != "" {
		return claims.Link, s.Store.LinkIdentity(ctx, person.identity, claims.Link)
	}
	userID, err = s.Store.UserByIdentity(ctx, person.identity)
	if err == nil || domain.CodeOf(err) != domain.CodeNotFound {
		return userID, err
	}
	email := person.Email
	if !person.EmailVerified {
		email = "" // anybody could say so, shut its owner out, and be taken for them
	}
	if email, err = checkEmail(email); err != nil {
		email = ""
	}
	user, err := s.Store.CreateUser(ctx, domain.NewUser{
		Email: email, Name: person.called(), Provider: p.Name, Identity: person.identity, Later: !claims.Setup,
	})
	if domain.CodeOf(err) == domain.CodeConflict {
		err = domain.Wrap(domain.CodeConflict, err,
			"there is an account with this e-mail address already; sign in to it, and link this identity by /auth/%s?link=true", p.Name)
	}
	return user.ID, err
}

// called is a name for the person.
func (p profile) called() string {
	for _, text := range []string{p.Name, p.Username, strings.Split(p.Email, "@")[0], p.identity.Subject} {
		if name, err := checkName(text); err == nil {
			return name
		}
	}
	return "somebody"
}
