// Package client calls the API of a running Harvest. What it follows it follows through
// restarts of the server: it connects again and goes on after the last event it has.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Client is one server with the right to use it.
type Client struct {
	base     string
	token    string
	http     *http.Client
	patience time.Duration // how long an unreachable server is tried again

	// Waits is told why a call waits for the server, once for each reason; nil for nobody.
	Waits func(reason string)
}

// silently is the part of the patience that passes before anybody is told: a restart is no news.
const silently = 1.0 / 20

// DefaultPatience is how long a server that can't be reached is tried again: a restart
// fits in.
const DefaultPatience = time.Minute

// New gives a client of the server at base ("http://127.0.0.1:8080").
func New(base, token string, patience time.Duration) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // the server is on this machine, or named by its address
	if u, err := url.Parse(base); err == nil && !isLoopback(u.Hostname()) {
		transport.Proxy = http.ProxyFromEnvironment
	}
	transport.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	return &Client{base: strings.TrimRight(base, "/"), token: token, http: &http.Client{Transport: transport}, patience: patience}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Close frees idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call is one request.
type call struct {
	method string
	path   string
	body   any // rendered as JSON; nil for none
	header map[string]string
}

// unreachable marks errors after which the same call may be made again.
type unreachable struct{ error }

func (u unreachable) Unwrap() error { return u.error }

// do makes the call once. An answer that is not a success becomes a domain error.
func (c *Client) do(ctx context.Context, k call) (*http.Response, error) {
	var body io.Reader
	if k.body != nil {
		text, err := json.Marshal(k.body)
		if err != nil {
			return nil, fmt.Errorf("render the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, k.method, c.base+k.path, body)
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if k.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range k.header {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, unreachable{c.away(err)}
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, c.renewed(refusal(response))
}

// renewed says of a key that is not taken what gives another one.
func (c *Client) renewed(err error) error {
	if c.token == "" || domain.CodeOf(err) != domain.CodeUnauthorized {
		return err
	}
	return domain.Errorf(domain.CodeUnauthorized, "%s; a key ends when it expires, is removed or its person may no longer sign in: log in anew with harvest login %s, or set HARVEST_TOKEN to another key",
		domain.PublicMessage(err), c.base)
}

// away is the error of a server that can't be reached.
func (c *Client) away(err error) error {
	return domain.Wrap(domain.CodeUnavailable, err, "harvest can't be reached at %s; %s", c.base, c.remedy())
}

// remedy says what to do about a server that can't be reached.
func (c *Client) remedy() string {
	if u, err := url.Parse(c.base); err == nil && !isLoopback(u.Hostname()) {
		return "check the address, and that the server runs"
	}
	return "start it with: harvest up"
}

// refusal reads the envelope of an answer that is not a success.
func refusal(response *http.Response) error {
	var envelope struct {
		Error  string      `json:"error"`
		Code   domain.Code `json:"code"`
		Holder string      `json:"holder"`
		notReady
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // what there is of it will do
	broken := json.Unmarshal(text, &envelope) != nil
	if !broken && envelope.Status != "" && envelope.Error == "" {
		return unreachable{envelope.reason()}
	}
	if broken || envelope.Error == "" {
		return domain.Errorf(domain.CodeUpstream, "the server answered %s, which is not how harvest answers; check the address", response.Status)
	}
	err := &domain.Error{Code: envelope.Code, Message: envelope.Error, Holder: envelope.Holder}
	if response.StatusCode == http.StatusServiceUnavailable {
		return unreachable{err}
	}
	return err
}

// notReady is how a server says that it can't work now, and to its owner why.
type notReady struct {
	Status string `json:"status"`
	Checks []struct {
		Name  string `json:"name"`
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	} `json:"checks"`
}

func (n notReady) reason() error {
	var faults []string
	for _, check := range n.Checks {
		if !check.OK {
			faults = append(faults, check.Name+": "+check.Error)
		}
	}
	if len(faults) == 0 {
		faults = []string{n.Status}
	}
	return domain.Errorf(domain.CodeUnavailable, "harvest is not ready: %s", strings.Join(faults, "; "))
}

// again makes the call until the server can be reached, for as long as the patience lasts.
func (c *Client) again(ctx context.Context, k call) (*http.Response, error) {
	began, told := time.Now(), ""
	deadline := began.Add(c.patience)
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		response, err := c.do(ctx, k)
		var away unreachable
		if err == nil || !errors.As(err, &away) {
			return response, err
		}
		if time.Now().Add(wait).After(deadline) {
			return nil, away.error
		}
		if reason := domain.PublicMessage(err); c.Waits != nil && reason != told && time.Since(began).Seconds() > silently*c.patience.Seconds() {
			c.Waits(reason)
			told = reason
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// fetch makes the call and decodes the answer into out.
func (c *Client) fetch(ctx context.Context, k call, out any) error {
	response, err := c.again(ctx, k)
	return decode(k, response, err, out)
}

// once makes a call that must not be repeated, and decodes the answer into out.
func (c *Client) once(ctx context.Context, k call, out any) error {
	response, err := c.do(ctx, k)
	return decode(k, response, err, out)
}

// decode reads the answer of a call, unless it has failed.
func decode(k call, response *http.Response, err error, out any) error {
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", k.path, err)
	}
	return nil
}

// Ready reports whether the server and all that it depends on answer.
func (c *Client) Ready(ctx context.Context) error {
	response, err := c.do(ctx, call{method: http.MethodGet, path: "/ready"})
	if err != nil {
		return err
	}
	return response.Body.Close()
}
