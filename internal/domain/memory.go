package domain

import "time"

// Memory is a short note of a project, which later turns are offered where it fits their
// question.
type Memory struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Content   string    `json:"content,omitempty"` // left out in lists
	CreatedBy string    `json:"created_by"`
	TurnID    string    `json:"turn_id,omitempty"` // the turn that it comes from; "" where a person wrote it
	Version   int       `json:"version"`           // counts its changes, from 1
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	ProjectID string `json:"-"`
}

// MemoryChange is what becomes of a memory; nil leaves a part as it is.
type MemoryChange struct {
	Title   *string
	Content *string
	Version int // that the change builds on; 0 for whichever is the newest
}

// Limits of a memory, in characters.
const (
	MaxMemoryTitle   = 200
	MaxMemoryContent = 4000
)
