package client

import (
	"context"
	"net/http"
	"time"
)

// Device is a sign-in that somebody grants in a browser.
type Device struct {
	Code     string `json:"device_code"`
	UserCode string `json:"user_code"`
	Page     string `json:"verification_uri_complete"` // a path on the server
	Life     int    `json:"expires_in"`                // seconds
	Interval int    `json:"interval"`                  // seconds
}

// LocalLogin reports whether the server has accounts with passwords.
func (c *Client) LocalLogin(ctx context.Context) (bool, error) {
	var config struct {
		Local bool `json:"local_login"`
	}
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/auth/config"}, &config)
	return config.Local, err
}

// BeginDevice asks for a key that somebody is to grant in a browser.
func (c *Client) BeginDevice(ctx context.Context, n NewKey) (Device, error) {
	var d Device
	err := c.fetch(ctx, call{method: http.MethodPost, path: "/auth/device", body: n}, &d)
	return d, err
}

// KeyOfDevice waits until somebody grants the key: forbidden where they refuse it, not_found
// where nobody did in time.
func (c *Client) KeyOfDevice(ctx context.Context, d Device) (MadeKey, error) {
	for {
		var key MadeKey
		err := c.fetch(ctx, call{method: http.MethodPost, path: "/auth/device/token", body: map[string]string{"device_code": d.Code}}, &key)
		if err != nil || key.Key != "" {
			return key, err
		}
		select {
		case <-ctx.Done():
			return key, ctx.Err()
		case <-time.After(time.Duration(d.Interval) * time.Second):
		}
	}
}
