package domain

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// ActionStatus is the state of an action.
type ActionStatus string

// The states of an action: pending, then approved, rejected or expired; an approved one is
// applying while it runs, and ends as applied, failed or unknown.
const (
	ActionPending  ActionStatus = "pending"
	ActionApproved ActionStatus = "approved"
	ActionRejected ActionStatus = "rejected"
	ActionExpired  ActionStatus = "expired" // nobody decided in time, or its turn ended before it ran
	ActionApplying ActionStatus = "applying"
	ActionApplied  ActionStatus = "applied"
	ActionFailed   ActionStatus = "failed"
	ActionUnknown  ActionStatus = "unknown" // it was begun, and whether it took effect can't be known
)

// Known reports whether s is one of the states.
func (s ActionStatus) Known() bool {
	switch s {
	case ActionPending, ActionApproved, ActionRejected, ActionExpired, ActionApplying, ActionApplied, ActionFailed, ActionUnknown:
		return true
	}
	return false
}

// Action is a tool call that waits for a person's approval, or did.
type Action struct {
	ID             string          `json:"id"` // the idempotency key of what it does
	TurnID         string          `json:"turn_id"`
	CallID         string          `json:"call_id"`
	ConversationID string          `json:"conversation_id,omitempty"`
	ProjectID      string          `json:"project_id,omitempty"`
	Requester      string          `json:"requester"` // id of the person whose turn it is
	RequesterName  string          `json:"requester_name,omitempty"`
	Name           string          `json:"name"`  // the tool
	Input          json.RawMessage `json:"input"` // as the tool gets it
	Description    string          `json:"description"`
	Hash           string          `json:"hash"`            // see ActionHash
	Nonce          string          `json:"nonce,omitempty"` // while it is pending
	Status         ActionStatus    `json:"status"`
	CreatedAt      time.Time       `json:"created_at"`
	ExpiresAt      time.Time       `json:"expires_at"`
	DecidedBy      string          `json:"decided_by,omitempty"`      // id of the person
	DecidedByName  string          `json:"decided_by_name,omitempty"` // the person's name
	DecidedAt      *time.Time      `json:"decided_at,omitempty"`
	Reason         string          `json:"reason,omitempty"` // of the decision, as the person gave it
	Reported       bool            `json:"reported,omitempty"`
	Verified       bool            `json:"verified,omitempty"` // of a report: the server saw the call
	Outcome        string          `json:"outcome,omitempty"`  // what came of it
	EndedAt        *time.Time      `json:"ended_at,omitempty"`
	NeedsValue     bool            `json:"needs_value,omitempty"` // its approval must bring a secret's value
	Hostname       string          `json:"-"`                     // of the machine that it is about, as its event names it; "" for none
}

// AsksValue reports whether a person must give the value of the secret that the action saves:
// the model gave none, and asked for none to be generated.
func (a Action) AsksValue() bool {
	var in struct {
		Value    string `json:"value"` // of one that was given it says only that
		Generate bool   `json:"generate"`
	}
	return a.Name == ToolSaveSecret && (json.Unmarshal(a.Input, &in) != nil || in.Value == "" && !in.Generate)
}

// Event announces an action to those who can decide it.
func (a Action) Event() NewEvent {
	payload := map[string]any{
		"id": a.ID, "call_id": a.CallID, "name": a.Name, "input": a.Input, "description": a.Description,
		"nonce": a.Nonce, "hash": a.Hash, "expires_at": a.ExpiresAt, "needs_value": a.AsksValue(),
	}
	if a.Hostname != "" {
		payload["hostname"] = a.Hostname
	}
	if a.TurnID == "" { // of a turn it is who asks
		payload["requester"], payload["requester_name"] = a.Requester, a.RequesterName
	}
	e := NewPayload(EventConfirmAction, payload)
	e.CallID = a.CallID
	return e
}

// ActionQuery asks for actions, the newest first.
type ActionQuery struct {
	ProjectID      string // "": those of the person's own turns
	UserID         string
	Status         ActionStatus // "" for all, like all below
	ConversationID string
	Tool           string
	Before         string // the id of the action after which the page begins
	Limit          int    // 0 for the standard
}

// DecidedEvent tells that the action was decided, or that nobody did in time.
func (a Action) DecidedEvent() NewEvent {
	e := NewPayload(EventActionDecided, map[string]any{
		"id": a.ID, "call_id": a.CallID, "status": a.Status, "decided_by": a.DecidedBy, "name": a.DecidedByName, "reason": a.Reason,
	})
	e.CallID = a.CallID
	return e
}

// Decision is what a person decides about an action that is shown to them, or what an older
// client reports of one that it ran itself.
type Decision struct {
	ActionID string
	Status   ActionStatus // approved or rejected; of a report applied, rejected or failed
	Nonce    string       // of the action as the person saw it; not of a report
	Hash     string       // likewise
	Reason   string       // of a report: what came of it
	Reported bool
	// Value is what an approved save_secret saves; Generate asks for a random one instead. Both
	// are sealed, as Offer, before the decision is stored.
	Value    SecretValue
	Generate bool
	Offer    *SealedSecret
}

// Approvers says who may decide the actions of a project.
type Approvers string

// The rules of approval.
const (
	ApproveMembers Approvers = "members" // whoever may see the project
	ApproveAdmins  Approvers = "admins"
	ApproveOthers  Approvers = "others" // whoever may see it, but not the person whose turn it is
)

// The bounds of how long an action waits.
const (
	DefaultConfirmExpiry = 24 * time.Hour
	MinConfirmExpiry     = time.Minute
	MaxConfirmExpiry     = 30 * 24 * time.Hour
)

// ConfirmSettings is what holds for the actions of a project.
type ConfirmSettings struct {
	Approvers Approvers
	Expiry    time.Duration
	Asking    []string // tools that always ask, whatever their own policy
	Commands  CommandRules
}

// DefaultConfirmSettings holds where nobody has settled anything.
func DefaultConfirmSettings() ConfirmSettings {
	return ConfirmSettings{Approvers: ApproveMembers, Expiry: DefaultConfirmExpiry, Commands: CommandRules{Policy: CommandsChangesAsk}}
}

// MayDecide gives nil where a person who can see the action may also decide it.
func (c ConfirmSettings) MayDecide(who Actor, a Action) error {
	switch {
	case a.ProjectID == "" && who.UserID != a.Requester:
		return Errorf(CodeForbidden, "only the person whose question it was may decide this")
	case a.ProjectID == "":
		return nil
	case c.Approvers == ApproveAdmins && !who.Admin():
		return Errorf(CodeForbidden, "in this project only admins may decide actions")
	case c.Approvers == ApproveOthers && who.UserID == a.Requester:
		return Errorf(CodeForbidden, "in this project somebody else than the person who asked must decide")
	}
	return nil
}

// NewNonce gives a proof, good for one decision, that somebody has seen an action.
func NewNonce() string { return rand.Text() }

// ActionHash gives the SHA-256, in hex, of a tool's name and the canonical form of an input:
// without blanks, its fields sorted. What is no JSON is hashed as it is.
func ActionHash(tool string, input json.RawMessage) string {
	sum := sha256.New()
	sum.Write([]byte(tool))
	sum.Write([]byte{0})
	sum.Write(canonical(input))
	return hex.EncodeToString(sum.Sum(nil))
}

func canonical(input json.RawMessage) []byte {
	value, err := exactly(input)
	if err != nil {
		return input
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil {
		return input
	}
	return bytes.TrimSpace(out.Bytes())
}

// exactly decodes JSON and keeps its numbers as they are written.
func exactly(input json.RawMessage) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	err = dec.Decode(&value)
	return value, err
}

// Performance is that a person did by a route of the API what calls of a tool do that ask.
type Performance struct {
	UserID    string
	ProjectID string // "" outside projects
	Tool      string
	Inputs    []json.RawMessage // of the calls that do the same
}

// ActionClaim is the right to run or to settle the call of an action.
type ActionClaim struct {
	Action  Action
	Call    ToolCall
	Scope   Scope
	Claimed bool // false: nothing is to be done, for now or for good
	Barred  Bar  // what keeps the person out now whose turn it is
}

// Open reports whether the call has no outcome yet.
func (c ActionClaim) Open() bool { return c.Call.Status == CallPending || c.Call.Status == CallRunning }

// ActionEnd is how an action whose call was claimed ends.
type ActionEnd struct {
	Call   ToolCall // with its final status and its result
	Action Action   // with its final status, and what came of it as its Outcome
	Event  NewEvent // the tool_result
}
