package domain

import "time"

// Project is a workspace that the people of a group share.
type Project struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	GroupID     string    `json:"group_id"` // "" once the group is gone: admins alone see it
	GroupName   string    `json:"group_name"`
	CreatedBy   string    `json:"created_by"`
	CreatedAt   time.Time `json:"created_at"`
}

// VisibleTo reports whether the project exists as far as a person may know.
func (p Project) VisibleTo(a Actor) bool { return a.MemberOf(p.GroupID) }
