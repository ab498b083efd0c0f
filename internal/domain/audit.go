package domain

import "time"

// AuditEntry is a call that was refused, or that changed or removed something for others.
type AuditEntry struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	UserID    string    `json:"user_id"` // "": nobody
	UserName  string    `json:"user_name"`
	KeyID     string    `json:"key_id"` // the API key; "" for none
	Method    string    `json:"method"`
	Route     string    `json:"route"` // "/projects/:pid"
	Path      string    `json:"path"`
	ProjectID string    `json:"project_id"`
	Outcome   Outcome   `json:"outcome"`
	Status    int       `json:"status"` // of HTTP
	Address   string    `json:"address"`
	RequestID string    `json:"request_id"`
	Detail    string    `json:"detail"` // what else there is to tell: how long a console was open, and how it ended
}

// Outcome says how a call of an AuditEntry ended.
type Outcome string

// The outcomes.
const (
	OutcomeDenied Outcome = "denied" // by policy, or for want of credentials
	OutcomeDone   Outcome = "done"
	OutcomeFailed Outcome = "failed" // allowed, but not done
)

// AuditFilter narrows a list of entries; what is empty does not.
type AuditFilter struct {
	UserID    string
	Method    string
	Route     string
	ProjectID string
	Outcome   Outcome
	Since     time.Time
	Until     time.Time // exclusive
	Before    string    // the id of the last entry of the page before
	Limit     int       // at least 1
}
