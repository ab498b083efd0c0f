// Package uplink is the agent's side of its connections to the server: the event stream,
// and what is posted.
package uplink

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Options say how to reach the server.
type Options struct {
	Server    string        // the address of the API
	CACert    string        // a PEM file with further authorities; "" for none
	Token     func() string // asked for each request
	UserAgent string
	DeadAfter time.Duration // without a byte on the event stream
}

// Client speaks with the server.
type Client struct {
	base     *url.URL
	opts     Options
	events   *http.Client
	posts    *http.Client
	sessions *http.Client
	tls      *tls.Config
}

// New makes a client; nothing is connected yet.
func New(opts Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(opts.Server, "/"))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if opts.CACert != "" {
		if config.RootCAs, err = roots(opts.CACert); err != nil {
			return nil, err
		}
	}
	c := &Client{base: base, opts: opts, tls: config}
	c.events = &http.Client{Transport: c.transport(stuckPost), CheckRedirect: noRedirect}
	c.posts = &http.Client{Transport: c.transport(stuckPost), CheckRedirect: noRedirect}
	c.sessions = &http.Client{Transport: c.transport(stuckSession), CheckRedirect: noRedirect}
	return c, nil
}

func roots(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read ca_cert: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca_cert %s holds no certificate in PEM", path)
	}
	return pool, nil
}

func noRedirect(request *http.Request, via []*http.Request) error { return http.ErrUseLastResponse }

// StatusError is an answer other than 200.
type StatusError struct {
	Status  int
	Message string        // of the server
	Code    string        // of the server's errors, such as not_found; "" of what stands before it
	Wait    time.Duration // that the server asks for; 0 where it does not
}

// Error tells the status, and what the server says.
func (e *StatusError) Error() string {
	text := strconv.Itoa(e.Status) + " " + http.StatusText(e.Status)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Status gives the status of an answer that was an error; 0 where there was no answer.
func Status(err error) int {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status
	}
	return 0
}

// NotFound reports whether the server itself says that it has no such thing, and not a proxy
// before it.
func NotFound(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Status == http.StatusNotFound && status.Code == "not_found"
}

// Refused reports whether the server itself will not take what was posted, whatever its own
// state: a server that fails, or a proxy that answers for it, may take it later.
func Refused(err error) bool {
	var status *StatusError
	if !errors.As(err, &status) || status.Status < 400 || status.Status >= 500 {
		return false
	}
	return status.Code != "" || status.Status == http.StatusRequestEntityTooLarge
}

// ErrStrange reports an answer that is no server's of ours, such as a proxy's login page.
var ErrStrange = errors.New("the answer is not of a Harvest server")

const (
	maxAnswer = 64 << 10
	postLimit = 90 * time.Second // for a post, beside what a slow line needs
	slowest   = 8 << 10          // bytes in a second, of a line that is waited for
)

// Post posts a body as JSON and reads the answer into out. An empty answer leaves out as it is.
func (c *Client) Post(ctx context.Context, path string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, postLimit+time.Duration(len(text)/slowest)*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	c.authorize(request.Header)
	response, err := c.posts.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return statusError(response, answer)
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%w: %w", ErrStrange, err)
	}
	return nil
}

// Forget drops connections that nothing runs on: what they lead to may be gone.
func (c *Client) Forget() { c.posts.CloseIdleConnections() }

func (c *Client) authorize(header http.Header) {
	header.Set("Authorization", "Bearer "+c.opts.Token())
	header.Set("User-Agent", c.opts.UserAgent)
}

func statusError(response *http.Response, body []byte) error {
	failed := &StatusError{Status: response.StatusCode}
	var envelope struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}
	if json.Unmarshal(body, &envelope) == nil {
		failed.Message, failed.Code = cut(envelope.Error), envelope.Code
	}
	if to := response.Header.Get("Location"); to != "" && failed.Message == "" {
		failed.Message = "the server is at another address now; set server_url by " + cut(to)
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 && seconds <= 3600 {
		failed.Wait = time.Duration(seconds) * time.Second
	}
	return failed
}

func cut(text string) string {
	const most = 500
	if len(text) > most {
		text = text[:most] + " …"
	}
	return strings.ToValidUTF8(text, "?")
}

// Wait gives how long the server asks to wait before the next attempt; 0 where it does not.
func Wait(err error) time.Duration {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Wait
	}
	return 0
}
