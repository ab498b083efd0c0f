package client

import (
	"context"
	"net/http"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// NewKey is an API key to be made.
type NewKey struct {
	Name          string            `json:"name"`
	Scopes        []domain.KeyScope `json:"scopes"`
	ExpiresInDays int               `json:"expires_in_days"` // 0: never
}

// MadeKey is an API key with its text, which the server does not keep.
type MadeKey struct {
	domain.APIKey
	Key string `json:"key"`
}

// Person is who a client acts as.
type Person struct {
	ID    string          `json:"id"`
	Email string          `json:"email"`
	Name  string          `json:"name"`
	Role  domain.UserRole `json:"role"`
}

// Me gives who the client acts as.
func (c *Client) Me(ctx context.Context) (Person, error) {
	var me Person
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/auth/me"}, &me)
	return me, err
}

// Registration is a local account to be made.
type Registration struct {
	Email      string `json:"email"`
	Name       string `json:"name"`
	Password   string `json:"password"`
	SetupToken string `json:"setup_token,omitempty"` // of the server, where it asks the first person for one
}

// Register makes a local account, and a key that acts as it.
func (c *Client) Register(ctx context.Context, r Registration, n NewKey) (MadeKey, error) {
	return c.keyBySession(ctx, call{method: http.MethodPost, path: "/auth/register", body: r}, n)
}

// KeyByPassword signs in to a local account and makes an API key that acts as it.
func (c *Client) KeyByPassword(ctx context.Context, email, password string, n NewKey) (MadeKey, error) {
	return c.keyBySession(ctx, call{method: http.MethodPost, path: "/auth/login", body: map[string]string{"email": email, "password": password}}, n)
}

// keyBySession makes a key in the session that a call begins, and ends the session.
func (c *Client) keyBySession(ctx context.Context, begin call, n NewKey) (MadeKey, error) {
	var key MadeKey
	response, err := c.again(ctx, begin)
	if err != nil {
		return key, err
	}
	response.Body.Close()
	var cookies []string
	for _, cookie := range response.Cookies() {
		cookies = append(cookies, cookie.Name+"="+cookie.Value)
	}
	session := map[string]string{"Cookie": strings.Join(cookies, "; ")}
	err = c.fetch(ctx, call{method: http.MethodPost, path: "/auth/keys", body: n, header: session}, &key)
	if response, end := c.do(ctx, call{method: http.MethodPost, path: "/auth/logout", header: session}); end == nil {
		response.Body.Close() // a session that stays ends by itself
	}
	return key, err
}

// Keys lists the API keys of who the client acts as.
func (c *Client) Keys(ctx context.Context) ([]domain.APIKey, error) {
	var list []domain.APIKey
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/auth/keys"}, &list)
	return list, err
}

// CreateKey makes a key that acts as who the client acts as.
func (c *Client) CreateKey(ctx context.Context, n NewKey) (MadeKey, error) {
	var key MadeKey
	err := c.once(ctx, call{method: http.MethodPost, path: "/auth/keys", body: n}, &key)
	return key, err
}

// DeleteKey ends an API key of who the client acts as.
func (c *Client) DeleteKey(ctx context.Context, id string) error {
	return c.change(ctx, http.MethodDelete, "/auth/keys/"+segment(id), nil)
}

// ChangePassword changes the password of who the client acts as.
func (c *Client) ChangePassword(ctx context.Context, current, password string) error {
	return c.change(ctx, http.MethodPut, "/auth/password", map[string]string{"current": current, "password": password})
}
