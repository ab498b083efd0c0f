package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Users lists everybody who signed up; for admins, as all of this file.
func (c *Client) Users(ctx context.Context) ([]domain.User, error) {
	var list []domain.User
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/admin/users"}, &list)
	return list, err
}

// SetRole changes what a person may do.
func (c *Client) SetRole(ctx context.Context, userID string, role domain.UserRole) error {
	return c.change(ctx, http.MethodPut, "/admin/users/"+segment(userID)+"/role", map[string]any{"role": role})
}

// SetDisabled shuts a person out, or lets them in again.
func (c *Client) SetDisabled(ctx context.Context, userID string, disabled bool) error {
	return c.change(ctx, http.MethodPut, "/admin/users/"+segment(userID)+"/disabled", map[string]any{"disabled": disabled})
}

// ResetPassword gives a person another password.
func (c *Client) ResetPassword(ctx context.Context, userID, password string) error {
	return c.change(ctx, http.MethodPut, "/admin/users/"+segment(userID)+"/password", map[string]string{"password": password})
}

// SetGroups says of which groups a person is a member.
func (c *Client) SetGroups(ctx context.Context, userID string, groupIDs []string) error {
	return c.change(ctx, http.MethodPut, "/admin/users/"+segment(userID)+"/groups", map[string]any{"group_ids": groupIDs})
}

// Groups lists all groups.
func (c *Client) Groups(ctx context.Context) ([]domain.Group, error) {
	var list []domain.Group
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/admin/groups"}, &list)
	return list, err
}

// CreateGroup makes a group.
func (c *Client) CreateGroup(ctx context.Context, name, description string) (domain.Group, error) {
	var g domain.Group
	err := c.once(ctx, call{method: http.MethodPost, path: "/admin/groups", body: map[string]string{"name": name, "description": description}}, &g)
	return g, err
}

// DeleteGroup removes a group.
func (c *Client) DeleteGroup(ctx context.Context, id string) error {
	return c.change(ctx, http.MethodDelete, "/admin/groups/"+segment(id), nil)
}

// SetDefaultGroup says whether new people become members of a group.
func (c *Client) SetDefaultGroup(ctx context.Context, id string, isDefault bool) error {
	return c.change(ctx, http.MethodPut, "/admin/groups/"+segment(id)+"/default", map[string]bool{"is_default": isDefault})
}

// AuditPage is a part of the audit, the newest entries first.
type AuditPage struct {
	Entries []domain.AuditEntry `json:"entries"`
	Next    string              `json:"next"` // as before of the next page; "" for none
}

// Audit lists what was refused and what was changed; query are the filters of GET /admin/audit.
func (c *Client) Audit(ctx context.Context, query url.Values) (AuditPage, error) {
	var page AuditPage
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/admin/audit?" + query.Encode()}, &page)
	return page, err
}

// change makes a call whose answer says nothing more.
func (c *Client) change(ctx context.Context, method, path string, body any) error {
	response, err := c.do(ctx, call{method: method, path: path, body: body})
	if err != nil {
		return err
	}
	return response.Body.Close()
}
