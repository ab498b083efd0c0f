package domain

import (
	"slices"
	"time"
)

// OwnerID is the user behind the owner token: an admin that nobody can sign in as.
const OwnerID = "owner"

// UserRole says what a person may do beyond the projects of their groups.
type UserRole string

// The roles.
const (
	UserAdmin   UserRole = "admin"   // everything
	UserRegular UserRole = "regular" // what the groups of the person share
)

// User is a person.
type User struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	Name      string    `json:"name"`
	Role      UserRole  `json:"role"`
	Provider  string    `json:"provider"` // how the person signed up: local, google, oidc; owner for the owner token
	CreatedAt time.Time `json:"created_at"`
	GroupIDs  []string  `json:"group_ids"`
	Disabled  bool      `json:"disabled"` // shut out; what the person made stays

	Last LastUsed `json:"-"`
}

// LastUsed is what a person chose last, so that clients can offer it again.
type LastUsed struct {
	ProjectID     string `json:"last_project_id"`
	LLMProviderID string `json:"last_llm_provider_id"`
	LLMModel      string `json:"last_llm_model"`
}

// NewUser is a person who signs up.
type NewUser struct {
	Email    string
	Name     string
	Provider string
	Password string // its hash; "" for none
	// Later refuses somebody who would be the first: forbidden.
	Later bool
	// Identity is who the person is elsewhere; the zero value for nobody.
	Identity Identity
}

// Identity is a person as a provider of sign-in knows them.
type Identity struct {
	Issuer  string // its address
	Subject string // never used anew by the issuer
}

// UserChange is what a person changes of themselves; nil leaves a field as it is.
type UserChange struct {
	Name, ProjectID, LLMProviderID, LLMModel *string
}

// Actor is who acts: a person as the database knows them at this moment, by whatever
// credentials. The zero value is nobody.
type Actor struct {
	UserID string
	Name   string
	Role   UserRole
	Groups []string   // ids
	KeyID  string     // the API key that it acts by; "" for none
	Scopes []KeyScope // of that key
}

// Allows reports whether the credentials are good for a scope: all but API keys are for all.
func (a Actor) Allows(s KeyScope) bool { return a.KeyID == "" || slices.Contains(a.Scopes, s) }

// Nobody reports whether a is nobody.
func (a Actor) Nobody() bool { return a.UserID == "" }

// Admin reports whether a may do everything.
func (a Actor) Admin() bool { return a.Role == UserAdmin }

// MemberOf reports whether a may see what the group shares.
func (a Actor) MemberOf(groupID string) bool {
	return a.Admin() || groupID != "" && slices.Contains(a.Groups, groupID)
}
