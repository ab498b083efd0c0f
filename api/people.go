package api

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxGroupName        = 100 // characters
	maxGroupDescription = 10_000
	maxGroups           = 1000
)

// users answers GET /admin/users.
func (s *Server) users(ctx context.Context, _ request[none]) ([]domain.User, error) {
	list, err := listing(s.People.Users(ctx))
	for i := range list {
		list[i].GroupIDs = listed(list[i].GroupIDs)
	}
	return list, err
}

// roleChange is the body of PUT /admin/users/:id/role.
type roleChange struct {
	Role domain.UserRole `json:"role"`
}

func (b *roleChange) validate() error {
	if b.Role != domain.UserAdmin && b.Role != domain.UserRegular {
		return domain.Invalid("role", "must be %s or %s", domain.UserAdmin, domain.UserRegular)
	}
	return nil
}

// setRole answers PUT /admin/users/:id/role.
func (s *Server) setRole(ctx context.Context, r request[roleChange]) (done, error) {
	return done{true}, s.People.SetRole(ctx, r.path["id"], r.body.Role)
}

// disabling is the body of PUT /admin/users/:id/disabled.
type disabling struct {
	Disabled *bool `json:"disabled"`
}

func (b *disabling) validate() error {
	if b.Disabled == nil {
		return domain.Invalid("disabled", "must be true or false")
	}
	return nil
}

// setDisabled answers PUT /admin/users/:id/disabled.
func (s *Server) setDisabled(ctx context.Context, r request[disabling]) (done, error) {
	return done{true}, s.People.SetDisabled(ctx, r.path["id"], *r.body.Disabled)
}

// groupsChange is the body of PUT /admin/users/:id/groups.
type groupsChange struct {
	GroupIDs []string `json:"group_ids"`
}

func (b *groupsChange) validate() error {
	if b.GroupIDs == nil || len(b.GroupIDs) > maxGroups {
		return domain.Invalid("group_ids", "must be the list of all groups of the person")
	}
	for _, id := range b.GroupIDs {
		if err := validName("group_ids", id); err != nil {
			return err
		}
	}
	return nil
}

// setGroups answers PUT /admin/users/:id/groups.
func (s *Server) setGroups(ctx context.Context, r request[groupsChange]) (done, error) {
	return done{true}, s.People.SetGroups(ctx, r.path["id"], r.body.GroupIDs)
}

// allGroups answers GET /admin/groups.
func (s *Server) allGroups(ctx context.Context, _ request[none]) ([]domain.Group, error) {
	return listing(s.Projects.Groups(ctx, ""))
}

// newGroup is the body of POST /admin/groups.
type newGroup struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func (b *newGroup) validate() error {
	if b.Name = strings.TrimSpace(b.Name); b.Name == "" || utf8.RuneCountInString(b.Name) > maxGroupName || !plainText(b.Name) {
		return domain.Invalid("name", "must have 1 to %d characters", maxGroupName)
	}
	if utf8.RuneCountInString(b.Description) > maxGroupDescription || !plainText(b.Description) {
		return domain.Invalid("description", "must be a text of at most %d characters", maxGroupDescription)
	}
	return nil
}

// createGroup answers POST /admin/groups.
func (s *Server) createGroup(ctx context.Context, r request[newGroup]) (domain.Group, error) {
	return s.People.CreateGroup(ctx, r.body.Name, r.body.Description)
}

// deleteGroup answers DELETE /admin/groups/:id.
func (s *Server) deleteGroup(ctx context.Context, r request[none]) (done, error) {
	return done{true}, s.People.DeleteGroup(ctx, r.path["id"])
}

// defaultGroup is the body of PUT /admin/groups/:id/default.
type defaultGroup struct {
	IsDefault *bool `json:"is_default"`
}

func (b *defaultGroup) validate() error {
	if b.IsDefault == nil {
		return domain.Invalid("is_default", "must be true or false")
	}
	return nil
}

// setDefaultGroup answers PUT /admin/groups/:id/default.
func (s *Server) setDefaultGroup(ctx context.Context, r request[defaultGroup]) (done, error) {
	return done{true}, s.People.SetDefaultGroup(ctx, r.path["id"], *r.body.IsDefault)
}
