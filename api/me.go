package api

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxPersonName = 200 // characters
	maxLastUsed   = 200 // bytes
	maxKeyName    = 100 // characters
	maxKeyDays    = 3650
)

// self is the answer of GET /auth/me.
type self struct {
	ID    string          `json:"id"`
	Email string          `json:"email"`
	Name  string          `json:"name"`
	Role  domain.UserRole `json:"role"`
	domain.LastUsed
}

// me answers GET /auth/me.
func (s *Server) me(ctx context.Context, r request[none]) (self, error) {
	u, err := s.People.User(ctx, r.caller.UserID)
	return self{u.ID, u.Email, u.Name, u.Role, u.Last}, err
}

// selfChange is the body of PATCH /auth/me.
type selfChange struct {
	Name          *string `json:"name"`
	ProjectID     *string `json:"last_project_id"`
	LLMProviderID *string `json:"last_llm_provider_id"`
	LLMModel      *string `json:"last_llm_model"`
}

func (b *selfChange) validate() error {
	if b.Name != nil {
		if *b.Name = strings.TrimSpace(*b.Name); *b.Name == "" || utf8.RuneCountInString(*b.Name) > maxPersonName || !plainText(*b.Name) {
			return domain.Invalid("name", "must have 1 to %d characters", maxPersonName)
		}
	}
	for field, value := range map[string]*string{"last_project_id": b.ProjectID, "last_llm_provider_id": b.LLMProviderID, "last_llm_model": b.LLMModel} {
		if value != nil && (len(*value) > maxLastUsed || !plainText(*value)) {
			return domain.Invalid(field, "must be a text of at most %d bytes", maxLastUsed)
		}
	}
	return nil
}

// changeMe answers PATCH /auth/me.
func (s *Server) changeMe(ctx context.Context, r request[selfChange]) (done, error) {
	return done{true}, s.People.UpdateUser(ctx, r.caller.UserID, domain.UserChange(r.body))
}

// keys answers GET /auth/keys.
func (s *Server) keys(ctx context.Context, r request[none]) ([]domain.APIKey, error) {
	return listing(s.People.Keys(ctx, r.caller.UserID))
}

// newKey is the body of POST /auth/keys.
type newKey struct {
	Name          string            `json:"name"`
	Scopes        []domain.KeyScope `json:"scopes"`
	ExpiresInDays int               `json:"expires_in_days"` // 0: never
}

func (b *newKey) validate() error {
	if b.Name = strings.TrimSpace(b.Name); b.Name == "" || utf8.RuneCountInString(b.Name) > maxKeyName || !plainText(b.Name) {
		return domain.Invalid("name", "must have 1 to %d characters", maxKeyName)
	}
	if b.Scopes == nil {
		b.Scopes = []domain.KeyScope{domain.ScopeRead, domain.ScopeAsk, domain.ScopeWrite}
	}
	if len(b.Scopes) == 0 || len(b.Scopes) > len(domain.KeyScopes()) {
		return domain.Invalid("scopes", "must name what the key is good for: %s", scopeNames())
	}
	for _, scope := range b.Scopes {
		if !scope.Known() {
			return domain.Invalid("scopes", "there is no scope %q; there are %s", scope, scopeNames())
		}
	}
	if b.ExpiresInDays < 0 || b.ExpiresInDays > maxKeyDays {
		return domain.Invalid("expires_in_days", "must be 1 to %d, or 0 for never", maxKeyDays)
	}
	return nil
}

func scopeNames() string {
	var names []string
	for _, scope := range domain.KeyScopes() {
		names = append(names, string(scope))
	}
	return strings.Join(names, ", ")
}

// madeKey is the answer of POST /auth/keys.
type madeKey struct {
	domain.APIKey
	Key string `json:"key"` // shown this once
}

// createKey answers POST /auth/keys. A key makes keys that are good for no more than itself.
func (s *Server) createKey(ctx context.Context, r request[newKey]) (madeKey, error) {
	for _, scope := range r.body.Scopes {
		if !r.caller.Allows(scope) {
			return madeKey{}, domain.Errorf(domain.CodeForbidden, "this API key is not good for %q itself", scope)
		}
	}
	n := domain.NewAPIKey{UserID: r.caller.UserID, Name: r.body.Name, Scopes: r.body.Scopes}
	if days := r.body.ExpiresInDays; days > 0 {
		until := s.now().Add(time.Duration(days) * 24 * time.Hour).UTC()
		n.ExpiresAt = &until
	}
	key, text, err := s.People.CreateKey(ctx, n)
	r.reply.Set("Cache-Control", "no-store")
	return madeKey{key, text}, err
}

// deleteKey answers DELETE /auth/keys/:id.
func (s *Server) deleteKey(ctx context.Context, r request[none]) (done, error) {
	return done{true}, s.People.DeleteKey(ctx, r.caller.UserID, r.path["id"])
}
