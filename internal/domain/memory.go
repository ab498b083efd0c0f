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
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	ProjectID string `json:"-"`
}

// Limits of a memory, in characters.
const (
	MaxMemoryTitle   = 200
	MaxMemoryContent = 4000
)
