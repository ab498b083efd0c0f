package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/peers"
)

const (
	// shutdownLimit is how long requests that run may take to end; open streams end at once.
	shutdownLimit = 5 * time.Second
	// forwardLimit bounds each step of a request to the port that only forwards.
	forwardLimit = 10 * time.Second
)

// halves say which parts of an assembly run in this process.
type halves struct {
	kind       string        // up, serve or worker
	listener   net.Listener  // of the API; nil for none
	agents     *agenthub.Hub // of the API
	sessions   *peers.Sessions
	token      string // the owner's
	temporalUI string // address behind /temporal/; "" for none
	worker     bool
	queues     []string // that the worker serves; none for all
	// ready is called once everything runs; its error ends it.
	ready func(ctx context.Context) error
}

// run runs the halves until ctx ends or one of them can't go on, and stops them in order:
// first no new requests, then no new work, then the connections that the work needed.
func (a *assembly) run(ctx context.Context, h halves) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	me := self(h.kind, a.keys)
	var nearby *peers.Listener
	if h.listener != nil {
		var err error
		if nearby, err = a.listenToPeers(); err != nil {
			return err
		}
		defer nearby.Close() // who serves it closes it first, where it came to that
		me.Peer = nearby.Peer()
	}
	if err := a.register(ctx, me); err != nil {
		return err
	}
	beneath, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	var base errgroup.Group
	base.Go(func() error { tidyMemory(beneath); return nil })
	base.Go(func() error { a.staySeen(beneath, me); return nil })
	base.Go(func() error { return a.watch(cancel, a.store.Serve(beneath)) })
	if h.listener != nil {
		h.agents = a.newHub(me.ID)
		h.sessions = a.newSessions(me.ID, h.agents)
		base.Go(func() error { return a.watch(cancel, nearby.Serve(beneath, h.sessions)) })
		base.Go(func() error { a.sweepSessions(beneath); return nil })
		base.Go(func() error { return a.watch(cancel, a.engine.Run(beneath)) })
		base.Go(func() error { return h.agents.Run(beneath) })
	}
	if a.lxd != nil {
		base.Go(func() error { a.lxd.Run(beneath); return nil })
	}
	if h.worker && looks(h.queues) {
		base.Go(func() error { a.keepLooking(beneath, a.newReader()); return nil })
	}
	if h.worker {
		base.Go(func() error { a.tidyMirrors(beneath); return nil })
		base.Go(func() error { a.artifacts.Render(beneath, a.renderFailed); return nil })
	}
	err := a.runAbove(ctx, cancel, h)
	if h.sessions != nil {
		h.sessions.Close() // they end as the API stops
	}
	release()
	return errors.Join(err, base.Wait())
}

// watch ends the rest when a part ends with an error.
func (a *assembly) watch(cancel context.CancelCauseFunc, err error) error {
	if err != nil {
		cancel(err)
	}
	return err
}

// runAbove runs what stands on the store and the engine.
func (a *assembly) runAbove(ctx context.Context, cancel context.CancelCauseFunc, h halves) error {
	if h.worker {
		w, err := a.newWorker(h.queues, func(err error) { cancel(errors.Join(errFatal, err)) })
		if err != nil {
			return err
		}
		if err := w.Start(); err != nil {
			return err
		}
		defer w.Stop()
	}
	if h.listener != nil {
		stop, err := a.serveAPI(h, cancel)
		if err != nil {
			return err
		}
		defer stop()
		a.engine.SyncConfigured(ctx, a.configured())
	}
	if h.ready != nil {
		if err := h.ready(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// serveAPI begins to answer requests, and gives the function that ends it.
func (a *assembly) serveAPI(h halves, cancel context.CancelCauseFunc) (stop func(), err error) {
	cfg := api.Config{
		Actions: a.engine,
		Turns:   a.engine, Ingests: a.engine, Projects: a.store, Conversations: a.store, Workspaces: a.engine, Skills: a.skills, Artifacts: a.artifacts, Memories: a.memories, Secrets: a.secrets, Agents: a.store, AgentHub: h.agents, Machines: a.engine, Sessions: h.sessions, Forwards: a.store, PublicURL: a.publicURL(), ForwardHost: a.forwardHost(), People: a.store, Auditor: a.store, Sources: a.code, Graph: a.graph,
		Providers: picker{a.chain}, Commands: a.engine, Describer: a.tools, Checks: a.checks(), Log: a.log,
		OwnerToken: h.token, Hosts: a.cfg.Server.Hosts, Proxies: a.cfg.Server.Proxies(),
		Codec: converter.NewPayloadCodecHTTPHandler(a.codec),
	}
	if h.temporalUI != "" {
		if cfg.TemporalUI, err = url.Parse(h.temporalUI); err != nil {
			return nil, domain.Invalid("temporal.ui_url", "%q is not an address", h.temporalUI)
		}
		cfg.UIOrigins = originsOf(cfg.TemporalUI)
	}
	endSignIn, err := a.signIn(&cfg)
	if err != nil {
		return nil, err
	}
	server, err := api.New(cfg)
	if err != nil {
		endSignIn()
		return nil, fmt.Errorf("set the API up: %w", err)
	}
	serving := server.HTTP()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := serving.Serve(h.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			cancel(fmt.Errorf("serve the API: %w", err))
		}
	}()
	return func() {
		limit, end := context.WithTimeout(context.Background(), shutdownLimit)
		defer end()
		if serving.Shutdown(limit) != nil {
			_ = serving.Close() // what did not end in time is cut off
		}
		<-done
		endSignIn()
	}, nil
}

// originsOf are the origins under which a browser may show the UI at the address.
func originsOf(u *url.URL) []string {
	origins := []string{u.Scheme + "://" + u.Host}
	if u.Hostname() == "127.0.0.1" {
		origins = append(origins, u.Scheme+"://localhost:"+u.Port())
	}
	return origins
}
