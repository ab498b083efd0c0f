package signin

import (
	"crypto/hkdf"
	"crypto/sha256"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	issuer    = "harvest"
	tokenLife = 10 * time.Minute
)

var errToken = domain.Errorf(domain.CodeUnauthorized, "sign in again")

// signer signs claims for one purpose: what is signed for one opens nothing of another.
type signer[C jwt.Claims] struct {
	key     []byte
	purpose string
	now     func() time.Time
}

func newSigner[C jwt.Claims](secret, purpose string, now func() time.Time) (signer[C], error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "harvest "+purpose, sha256.Size)
	return signer[C]{key, purpose, now}, err
}

func (s signer[C]) registered(life time.Duration) jwt.RegisteredClaims {
	now := s.now()
	return jwt.RegisteredClaims{
		Issuer: issuer, Audience: jwt.ClaimStrings{s.purpose},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life)),
	}
}

func (s signer[C]) sign(claims C) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(s.key)
}

// read checks a token and puts what it says into claims.
func (s signer[C]) read(token string, claims C) error {
	_, err := jwt.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return s.key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer), jwt.WithAudience(s.purpose),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(s.now))
	if err != nil {
		return domain.Wrap(domain.CodeUnauthorized, err, "%s", errToken.Message)
	}
	return nil
}

// sessionClaims are what the cookie of a signed-in browser says.
type sessionClaims struct {
	jwt.RegisteredClaims        // Subject is the person
	Session              string `json:"sid"`
}

// stateClaims are what a browser keeps on the way to a provider and back.
type stateClaims struct {
	jwt.RegisteredClaims
	Provider string `json:"provider"`
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`       // of PKCE
	Link     string `json:"link,omitempty"` // the person who links the identity
	Setup    bool   `json:"setup,omitempty"`
	Next     string `json:"next,omitempty"` // the page to go on to
}
