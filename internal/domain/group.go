package domain

import "time"

// Group is a set of people who share projects.
type Group struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"created_at"`
	IsDefault   bool      `json:"is_default"` // new people become members
}
