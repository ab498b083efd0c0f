package lxd

import (
	"bytes"
	"context"
	"crypto/tls"
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

const (
	dialLimit = 10 * time.Second
	// requestLimit bounds a request that is not a wait.
	requestLimit = 30 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 32 << 20
)

// ClientConfig says how to reach a server.
type ClientConfig struct {
	Endpoint    string // https://host:port
	Certificate string // PEM, ours
	Key         string // PEM
	Trust       Trust
	Project     string        // of LXD; "": default
	Limit       time.Duration // of a request that is not a wait; 0: 30 s
}

// Client is an InstanceServer over the network. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	project string
	target  string // a member of the cluster; "" for none in particular
	limit   time.Duration
	http    *http.Client
	lost    func() // called where no answer comes; nil for nobody

	verifier *verifier
}

// NewClient builds a client; it connects with its first request. It is invalid where the
// identity or the authority can't be read.
func NewClient(c ClientConfig) (*Client, error) {
	base, err := url.Parse(c.Endpoint)
	if err != nil || base.Scheme != "https" || base.Host == "" {
		return nil, domain.Invalid("endpoint", "%q is not an address such as https://lxd.example.com:8443", c.Endpoint)
	}
	pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.Key))
	if err != nil {
		return nil, domain.Invalid("client_cert", "and client_key are not a certificate and its key in PEM: %s", err)
	}
	v, err := newVerifier(base.Hostname(), c.Trust)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: dialLimit, KeepAlive: dialLimit}).DialContext,
		TLSHandshakeTimeout:   dialLimit,
		IdleConnTimeout:       time.Minute,
		MaxIdleConnsPerHost:   8,
		ExpectContinueTimeout: time.Second,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
			InsecureSkipVerify: true, // the verifier judges instead: it knows pinned certificates as well
			VerifyConnection:   v.verify,
		},
	}
	limit := c.Limit
	if limit == 0 {
		limit = requestLimit
	}
	return &Client{base: base, project: c.Project, limit: limit, http: &http.Client{Transport: transport}, verifier: v}, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// answer is the envelope of everything that LXD says.
type answer struct {
	Type      string          `json:"type"` // sync, async or error
	Operation string          `json:"operation"`
	Error     string          `json:"error"`
	ErrorCode int             `json:"error_code"`
	Metadata  json.RawMessage `json:"metadata"`
}

// call is a request, and what it is for in words: "create the container web-1".
type call struct {
	doing  string
	method string
	path   []string // behind /1.0
	query  url.Values
	body   any
	limit  time.Duration // 0: the client's
	out    any           // for the metadata; nil for none
}

// address gives the address of a call, in the client's project of LXD.
func (c *Client) address(path []string, query url.Values) *url.URL {
	u := c.base.JoinPath("1.0")
	for _, part := range path {
		u = u.JoinPath(url.PathEscape(part))
	}
	q := url.Values{}
	for name, values := range query {
		q[name] = values
	}
	if c.project != "" {
		q.Set("project", c.project)
	}
	if c.target != "" {
		q.Set("target", c.target)
	}
	u.RawQuery = q.Encode()
	return u
}

// do sends a call and reads its answer.
func (c *Client) do(ctx context.Context, l call) (answer, error) {
	limit := l.limit
	if limit == 0 {
		limit = c.limit
	}
	ctx, stop := context.WithTimeoutCause(ctx, limit, errSilent)
	defer stop()
	var body io.Reader
	if l.body != nil {
		text, err := json.Marshal(l.body)
		if err != nil {
			return answer{}, fmt.Errorf("%s: %w", l.doing, err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, l.method, c.address(l.path, l.query).String(), body)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", l.doing, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.unreachable(ctx, l.doing, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return answer{}, c.unreachable(ctx, l.doing, err)
	}
	a, err := read(l.doing, resp.StatusCode, text)
	if err == nil && l.out != nil {
		if err = json.Unmarshal(a.Metadata, l.out); err != nil {
			err = domain.Errorf(domain.CodeUpstream, "LXD could not %s: its answer can't be read: %s", l.doing, err)
		}
	}
	return a, err
}

// read judges an answer.
func read(doing string, status int, text []byte) (answer, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || a.Type == "" {
		code := domain.CodeUpstream
		if status >= http.StatusInternalServerError { // of a proxy before a server that is away
			code = domain.CodeUnavailable
		}
		return answer{}, domain.Errorf(code, "LXD could not %s: it answered with status %d and no JSON of LXD's", doing, status)
	}
	if a.Type != "error" && status < http.StatusBadRequest {
		return a, nil
	}
	if a.ErrorCode != 0 {
		status = a.ErrorCode
	}
	return answer{}, refused(doing, status, a.Error)
}

// refusal is what LXD said no with; it is the cause of the domain error.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// refused is the error of a call that LXD refuses, in its own words.
func refused(doing string, status int, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		text = http.StatusText(status)
	}
	code := domain.CodeUpstream
	switch status {
	case http.StatusNotFound:
		code = domain.CodeNotFound
	case http.StatusServiceUnavailable:
		code = domain.CodeUnavailable // it starts, or stops
	case http.StatusInternalServerError:
		if memberAway(text) {
			code = domain.CodeUnavailable
		}
	}
	e := domain.Errorf(code, "LXD could not %s: %s (%d)", doing, text, status)
	e.Err = &refusal{status, text}
	return e
}

// memberAway reports whether a server of a cluster says that it does not reach another one. It
// takes some seconds before it counts that as offline.
func memberAway(text string) bool {
	return strings.Contains(text, "Unable to connect to:") || strings.Contains(text, "peer node ") && strings.HasSuffix(text, " is down")
}

// statusOf gives the status that LXD refused with; 0 where it did not.
func statusOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.status
	}
	return 0
}

// silence is why no answer came; it is the cause of the domain error.
type silence struct{ error }

func (s *silence) Unwrap() error { return s.error }

var errSilent = errors.New("it did not answer in time")

// unreachable is the error of a call that had no answer. An end of the caller's context is told
// as that.
func (c *Client) unreachable(ctx context.Context, doing string, err error) error {
	cause := context.Cause(ctx)
	if cause != nil && !errors.Is(cause, errSilent) {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	if cause != nil {
		err = cause
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address, which may hold the secret of a websocket
	}
	var wrong *wrongCertificate
	if errors.As(err, &wrong) {
		return domain.Wrap(domain.CodeUpstream, err, "LXD could not %s: %s", doing, err)
	}
	if c.lost != nil {
		c.lost()
	}
	return domain.Wrap(domain.CodeUnavailable, &silence{err}, "LXD could not %s: %s", doing, err)
}
