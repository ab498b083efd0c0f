package domain

import "time"

// Skill is a playbook that models load when a task calls for it: Markdown under a YAML front
// matter which repeats name and description.
type Skill struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"` // small letters, digits and hyphens
	Description string    `json:"description"`
	Content     string    `json:"content,omitempty"` // with the front matter; left out in lists
	Scope       string    `json:"scope"`             // SkillGlobal or SkillProject
	Version     int       `json:"version"`
	CreatedBy   string    `json:"created_by"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`

	ProjectID string `json:"-"` // "" for a global one
}

// The scopes of a skill.
const (
	SkillGlobal  = "global"  // every project's, and every personal conversation's
	SkillProject = "project" // one project's; it shadows a global one of its name
)

// SkillChange is what becomes of a skill; nil leaves a part as it is.
type SkillChange struct {
	Name        *string
	Description *string
	Content     *string
	Version     int // that the change builds on; 0 for whichever is the newest
}
