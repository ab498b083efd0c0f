package api

import (
	"encoding/json"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// actionStep is an action in an answer's chain, as it stands now.
type actionStep struct {
	Type          string          `json:"type"`
	ID            string          `json:"id"`
	CallID        string          `json:"call_id,omitempty"`
	Name          string          `json:"name"`
	Input         json.RawMessage `json:"input"`
	Description   string          `json:"description"`
	Hostname      string          `json:"hostname,omitempty"` // of the machine that it is about
	Status        string          `json:"status"`
	Steps         []string        `json:"steps"`
	ResultText    string          `json:"result_text"`
	Nonce         string          `json:"nonce,omitempty"` // while it is pending
	Hash          string          `json:"hash,omitempty"`
	ExpiresAt     *time.Time      `json:"expires_at,omitempty"`
	DecidedBy     string          `json:"decided_by,omitempty"`
	DecidedByName string          `json:"decided_by_name,omitempty"`
	DecidedAt     *time.Time      `json:"decided_at,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Reported      bool            `json:"reported,omitempty"`
	Verified      bool            `json:"verified,omitempty"`
}

func actionStepOf(e domain.ChainEntry, input json.RawMessage) actionStep {
	step := actionStep{
		Type: e.Type, ID: e.ID, Name: e.Name, Input: input, Description: e.Description, Hostname: e.Hostname, Status: e.Status, Steps: e.Steps, ResultText: e.ResultText,
	}
	if a := e.Action; a != nil {
		step.CallID, step.Nonce, step.Hash, step.ExpiresAt = a.CallID, a.Nonce, a.Hash, &a.ExpiresAt
		step.DecidedBy, step.DecidedByName, step.DecidedAt, step.Reason = a.DecidedBy, a.DecidedByName, a.DecidedAt, a.Reason
		step.Reported, step.Verified = a.Reported, a.Verified
	}
	return step
}

// waitingAction is an action as clients of personal conversations know it.
type waitingAction struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Input       json.RawMessage `json:"input"`
	Description string          `json:"description"`
}

// firstWaiting gives the first action that nobody has decided, or nil.
func firstWaiting(chain []domain.ChainEntry) *waitingAction {
	for _, e := range chain {
		if e.Type == domain.ChainAction && e.Status == string(domain.ActionPending) {
			return &waitingAction{e.ID, e.Name, e.Input, e.Description}
		}
	}
	return nil
}
