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

// claimsOf are claims that can be read into.
type claimsOf[T any] interface {
	*T
	jwt.Claims
}

// signer signs claims for one purpose: what is signed for one opens nothing of another.
type signer[T any, C claimsOf[T]] struct {
	key     []byte
	purpose string
	now     func() time.Time
}

func newSigner[T any, C claimsOf[T]](secret, purpose string, now func() time.Time) (signer[T, C], error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "harvest "+purpose, sha256.Size)
	return signer[T, C]{key, purpose, now}, err
}

func (s signer[T, C]) registered(life time.Duration) jwt.RegisteredClaims {
	now := s.now()
	return jwt.RegisteredClaims{
		Issuer: issuer, Audience: jwt.ClaimStrings{s.purpose},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life)),
	}
}

func (s signer[T, C]) sign(claims C) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(s.key)
}

// read checks a token and gives what it says; of one that is not good, nothing.
func (s signer[T, C]) read(token string) (claims T, err error) {
	_, err = jwt.ParseWithClaims(token, C(&claims), func(*jwt.Token) (any, error) { return s.key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer), jwt.WithAudience(s.purpose),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(s.now))
	if err != nil {
		var nothing T // the parser reads before it checks
		return nothing, domain.Wrap(domain.CodeUnauthorized, err, "%s", errToken.Message)
	}
	return claims, nil
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
