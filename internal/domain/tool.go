package domain

import (
	"encoding/json"
	"time"
)

// Policy says whether a tool call must wait for a person's approval. It is data: it is
// read by an activity and recorded with the call, never decided by workflow code.
type Policy string

// The policies of a tool.
const (
	PolicyNever  Policy = "never_asks"
	PolicyAlways Policy = "always_asks"
	PolicyInput  Policy = "asks_for_input" // the tool judges each input
)

// Detail is something that a tool tells the person who decides a call: what the thing is that
// the call's input only names.
type Detail struct{ Name, Value string }

// Scope limits what the tools of a turn may see.
type Scope struct {
	TurnID    string `json:"turn_id"`
	CallID    string `json:"call_id,omitempty"` // the tool call that runs; with TurnID it names the call for ever
	UserID    string `json:"user_id"`
	ProjectID string `json:"project_id,omitempty"`
	// ActionID is set in the run of an approved action: the idempotency key of what it does.
	ActionID     string   `json:"action_id,omitempty"`
	Repositories []string `json:"repositories,omitempty"` // empty: all
	Versions     []string `json:"versions,omitempty"`     // empty: all
}

// AllowsRepository reports whether the scope covers the repository.
func (s Scope) AllowsRepository(repo string) bool { return allows(s.Repositories, repo) }

// AllowsVersion reports whether the scope covers the version.
func (s Scope) AllowsVersion(version string) bool { return allows(s.Versions, version) }

func allows(list []string, name string) bool {
	if len(list) == 0 {
		return true
	}
	for _, n := range list {
		if n == name {
			return true
		}
	}
	return false
}

// CallStatus is the state of a tool call.
type CallStatus string

// The states of a tool call. All but pending and running are final.
const (
	CallPending CallStatus = "pending"
	CallRunning CallStatus = "running"
	CallDone    CallStatus = "done"
	CallError   CallStatus = "error"
	CallDenied  CallStatus = "denied"
)

// ToolCall is a tool call that a model made in a turn.
type ToolCall struct {
	TurnID  string
	Round   int    // the model round that asked for it, from 0
	ID      string // unique in the turn
	Name    string
	Input   json.RawMessage
	Local   bool          // short, indexed and read-only: may run as a local activity
	Asks    bool          // must wait for approval
	Timeout time.Duration // the tool's time limit
	Status  CallStatus
	Attempt int // how often it was claimed
	Result  ToolResult
}

// ToolResult is what a tool gives back to the model.
type ToolResult struct {
	Text      string `json:"text"`                // for the model; bounded, and says where it was cut
	Preview   string `json:"preview,omitempty"`   // one short line for people; derived from Text where empty
	Error     bool   `json:"error,omitempty"`     // Text says what went wrong and what to do
	Truncated bool   `json:"truncated,omitempty"` // something was left out
	Unknown   bool   `json:"unknown,omitempty"`   // it was cut off, and may have done its work or not
	// Reveals is the handle of a secret whose value a model is to read with Text. The value stands
	// in the model's requests alone: nothing that is stored has it.
	Reveals string `json:"reveals,omitempty"`
}
