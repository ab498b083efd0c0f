package lxd

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// firstPause and longestPause bound the time between two attempts to reach the server.
	firstPause   = time.Second
	longestPause = time.Minute
	// lookEvery is how often a server that was reached is looked at again.
	lookEvery = 30 * time.Second
	// reachPatience is how long somebody waits for a look that was asked for.
	reachPatience = 5 * time.Second
)

// Store keeps what must outlive a process.
type Store interface {
	// LXDIdentity gives the identity of this installation, and keeps the one that make gives
	// where there is none: whoever asks first, in whichever process, makes it.
	LXDIdentity(ctx context.Context, make func() (domain.LXDIdentity, error)) (domain.LXDIdentity, error)
	// LXDPin gives the fingerprint of the server's certificate at an address; "" for none.
	LXDPin(ctx context.Context, endpoint string) (string, error)
	// PinLXD keeps it.
	PinLXD(ctx context.Context, endpoint, fingerprint string) error
}

// Config says which server is used, and how.
type Config struct {
	Endpoint   string
	TrustToken string // one-time; "" for none
	// ClientCert and ClientKey are an identity managed by hand, as PEM; "" for Harvest's own.
	ClientCert, ClientKey string
	CACert                string // PEM
	Insecure              bool
	Project               string // of LXD
	Store                 Store
	Log                   zerolog.Logger
	// Pause is between two attempts at first; 0: a second. Tests shorten it.
	Pause time.Duration
}

// Door is the way to the configured server. It joins the server where it has to, tries again
// for as long as it takes, and tells what is in the way meanwhile. It is safe for concurrent
// use.
type Door struct {
	config Config
	look   chan struct{} // asks Run to try at once

	mu           sync.Mutex
	settled      chan struct{} // closed with the outcome of the next attempt
	server       *Client
	problem      error // why there is no server; nil where there is
	installation string
	certificate  string
	token        string // for the next attempt to join; "" for none
}

// NewDoor builds a door; Run opens it.
func NewDoor(c Config) *Door {
	if c.Pause == 0 {
		c.Pause = firstPause
	}
	return &Door{config: c, token: c.TrustToken, look: make(chan struct{}, 1), settled: make(chan struct{}), problem: domain.Errorf(domain.CodeUnavailable, "LXD at %s has not been reached yet", c.Endpoint)}
}

// Server gives the server, or the reason why there is none: unavailable.
func (d *Door) Server() (InstanceServer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.problem == nil {
		return d.server, nil
	}
	d.ask()
	return nil, d.problem
}

// ask has Run look at once.
func (d *Door) ask() {
	select {
	case d.look <- struct{}{}:
	default:
	}
}

// Reach gives what keeps the server from being used, nil for nothing. Where the door is shut it
// has somebody look at once, and waits for what that sees, for some seconds.
func (d *Door) Reach(ctx context.Context) error {
	d.mu.Lock()
	problem, settled := d.problem, d.settled
	d.mu.Unlock()
	if problem == nil {
		return nil
	}
	d.ask()
	timer := time.NewTimer(reachPatience)
	defer timer.Stop()
	select {
	case <-settled:
	case <-timer.C:
	case <-ctx.Done():
	}
	return d.Check(ctx)
}

// Join joins the server by a fresh trust token, without a restart: the other processes come in
// by the identity that all share. Errors: invalid for what is no token; conflict for an
// identity that is managed by hand; unavailable with what is in the way.
func (d *Door) Join(ctx context.Context, token string) error {
	if _, err := ParseToken(token); err != nil {
		return err
	}
	if d.config.ClientCert != "" {
		return domain.Errorf(domain.CodeConflict, "[lxd] client_cert is the identity of this server; add it on the LXD server with \"lxc config trust add FILE\"")
	}
	d.mu.Lock()
	d.token = token
	d.mu.Unlock()
	client, err := d.attempt(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.settle(client, err)
	return err
}

// Check gives what keeps the server from being used; nil for nothing. It waits for nobody.
func (d *Door) Check(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.problem
}

// Open reports whether the server can be used now.
func (d *Door) Open() bool { return d.Check(context.Background()) == nil }

// Installation gives the id that marks what this installation makes; "" until it is known.
func (d *Door) Installation() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.installation
}

// Run reaches the server, and looks after it, until ctx ends.
func (d *Door) Run(ctx context.Context) {
	pause := d.config.Pause
	for ctx.Err() == nil {
		client, err := d.attempt(ctx)
		if ctx.Err() != nil {
			break
		}
		wait := lookEvery
		if err != nil {
			wait = pause
			pause = min(2*pause, longestPause)
		} else {
			pause = d.config.Pause
		}
		select {
		case <-d.look: // this was the look, and the attempt itself may have asked for it
		default:
		}
		d.settle(client, err)
		d.rest(ctx, wait)
	}
	d.settle(nil, domain.Errorf(domain.CodeUnavailable, errStopping))
}

// rest waits for the time of the next attempt. Whoever finds the door shut, or gets no answer from
// the server behind it, may ask for an earlier one.
func (d *Door) rest(ctx context.Context, wait time.Duration) {
	pause(ctx, min(wait, firstPause))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-d.look:
	}
}

// settle takes the outcome of an attempt, and logs what has changed.
func (d *Door) settle(client *Client, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, first := d.problem, d.server == nil
	if client != nil {
		if d.server != nil && d.server != client {
			d.server.Close()
		}
		d.server = client
	}
	d.problem = err
	close(d.settled)
	d.settled = make(chan struct{})
	switch {
	case err == nil && (before != nil || first):
		d.config.Log.Info().Str("endpoint", d.config.Endpoint).Msg("lxd_ready")
	case err != nil && (before == nil || before.Error() != err.Error()) && domain.PublicMessage(err) != errStopping:
		d.config.Log.Warn().Str("endpoint", d.config.Endpoint).Str("error", domain.PublicMessage(err)).Msg("lxd_unavailable")
	}
}

const errStopping = "the server is stopping; try again"

// attempt reaches the server and joins it where it must, or finds it as it was left.
func (d *Door) attempt(ctx context.Context) (*Client, error) {
	d.mu.Lock()
	known := d.server
	d.mu.Unlock()
	if known != nil {
		if server, err := known.GetServer(ctx); err == nil && server.Auth == "trusted" {
			return known, nil
		}
	}
	client, err := d.join(ctx)
	if err == nil {
		client.lost = d.ask
		return client, nil
	}
	text := d.told(err)
	var away *silence
	if errors.As(err, &away) {
		err = away // what was asked does not matter: it was whether somebody is there
	}
	return nil, domain.Wrap(domain.CodeUnavailable, err, "LXD can't be used: %s", text)
}

// told gives the text of an error of an attempt for people.
func (d *Door) told(err error) string {
	var away *silence
	if errors.As(err, &away) {
		return "there is no answer at " + d.config.Endpoint + ": " + away.Error()
	}
	return Told(err)
}

// Told gives the text of an error for people, with the field of the configuration that is wrong.
func Told(err error) string {
	var e *domain.Error
	if errors.As(err, &e) && e.Field != "" {
		return "[lxd] " + e.Field + " " + e.Message
	}
	return domain.PublicMessage(err)
}
