package domain

import "time"

// Revision is one version of a skill or of an artifact. Versions count from 1, and none is
// ever changed: what restores an earlier one is a new one.
type Revision struct {
	Version      int       `json:"version"`
	Title        string    `json:"title"`
	Content      string    `json:"content,omitempty"` // left out in lists
	Author       string    `json:"author"`            // a person's id
	TurnID       string    `json:"turn_id,omitempty"` // the turn whose tool wrote it; "" where a person did
	RestoredFrom int       `json:"restored_from,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
}

// Author is who writes a revision, and by what.
type Author struct {
	UserID string
	TurnID string // "" where the person writes directly
	CallID string // the tool call, which makes a repeated write harmless; "" likewise
}

// Key names the write that a tool call is, for ever; "" for a person's own.
func (a Author) Key() string {
	if a.TurnID == "" || a.CallID == "" {
		return ""
	}
	return a.TurnID + "/" + a.CallID
}

// Difference is what changed between two versions.
type Difference struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Diff string `json:"diff"` // unified; of a bundle a part for each file; "" where nothing changed
}

// StaleVersion refuses a change that builds on another version than the newest: a conflict,
// which names both. kind is what was to be changed.
func StaleVersion(kind string, built, newest int) *Error {
	return Errorf(CodeConflict, "the %s has version %d now, and this change builds on version %d: load it again", kind, newest, built)
}
