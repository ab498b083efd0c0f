package client

import (
	"context"
	"net/http"

	"github.com/harvest-engine/harvest/internal/domain"
)

func secretsPath(projectID string, under ...string) string {
	path := "/projects/" + segment(projectID) + "/secrets"
	for _, part := range under {
		path += "/" + segment(part)
	}
	return path
}

// Secrets lists a project's secrets by name, without values.
func (c *Client) Secrets(ctx context.Context, projectID string) ([]domain.Secret, error) {
	var list []domain.Secret
	err := c.fetch(ctx, call{method: http.MethodGet, path: secretsPath(projectID)}, &list)
	return list, err
}

// SaveSecret saves a value as the newest version, or with generate a random one. The call is
// made once: a version that was saved though its answer was lost is in the list.
func (c *Client) SaveSecret(ctx context.Context, projectID, name string, value domain.SecretValue, generate bool) (domain.Secret, error) {
	var saved domain.Secret
	body := map[string]any{"name": name, "generate": generate}
	if !generate {
		body["value"] = value.Reveal()
	}
	err := c.once(ctx, call{method: http.MethodPost, path: secretsPath(projectID), body: body}, &saved)
	return saved, err
}

// DeleteSecret removes a secret with all its versions.
func (c *Client) DeleteSecret(ctx context.Context, projectID, name string) error {
	return c.change(ctx, http.MethodDelete, secretsPath(projectID, name), nil)
}

// PermitSecret says whether models may see the value of a secret; for admins.
func (c *Client) PermitSecret(ctx context.Context, projectID, name string, revealable bool) error {
	return c.change(ctx, http.MethodPut, secretsPath(projectID, name, "reveal"), map[string]any{"revealable": revealable})
}

// RotateSecrets seals all that is kept sealed with an old key with the active one; for admins.
// It may be repeated.
func (c *Client) RotateSecrets(ctx context.Context) (domain.Resealed, error) {
	var done domain.Resealed
	err := c.once(ctx, call{method: http.MethodPost, path: "/admin/secrets/rotate"}, &done)
	return done, err
}
