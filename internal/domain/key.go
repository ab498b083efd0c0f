package domain

import (
	"slices"
	"time"
)

// KeyScope is what an API key may be used for, beyond which its person's role still rules.
type KeyScope string

// The scopes of API keys.
const (
	ScopeRead    KeyScope = "read"    // see what the person may see
	ScopeAsk     KeyScope = "ask"     // ask questions, and stop the answers
	ScopeWrite   KeyScope = "write"   // change what the person may change
	ScopeApprove KeyScope = "approve" // decide actions that wait for a person
	ScopeAccount KeyScope = "account" // manage the person's own keys and settings
	ScopeAdmin   KeyScope = "admin"   // the routes of admins
)

// KeyScopes are all scopes, from the least.
func KeyScopes() []KeyScope {
	return []KeyScope{ScopeRead, ScopeAsk, ScopeWrite, ScopeApprove, ScopeAccount, ScopeAdmin}
}

// Known reports whether there is such a scope.
func (s KeyScope) Known() bool { return slices.Contains(KeyScopes(), s) }

// APIKey lets a program act as a person. The key itself is shown once, when it is made.
type APIKey struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"` // how the key begins, to tell keys apart
	Scopes     []KeyScope `json:"scopes"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"`   // nil: never
	LastUsedAt *time.Time `json:"last_used_at"` // to the minute; nil: never
}

// NewAPIKey is a key to be made.
type NewAPIKey struct {
	UserID    string
	Name      string
	Scopes    []KeyScope
	ExpiresAt *time.Time // nil: never
}
