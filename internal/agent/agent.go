// Package agent is the daemon on a machine: it holds the connection to the server, runs the
// commands that come by it, each under a shim, and posts what they write and how they end.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/procs"
	"github.com/harvest-engine/harvest/internal/agent/session"
	"github.com/harvest-engine/harvest/internal/agent/settings"
	"github.com/harvest-engine/harvest/internal/agent/shim"
	"github.com/harvest-engine/harvest/internal/agent/uplink"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// Config is what an agent needs.
type Config struct {
	Settings *settings.File
	Version  string
	Env      []string // "NAME=value": the environment of commands, before their own variables
	Log      *slog.Logger
	// Errs is where shims write what they can't write down, as their own crash.
	Errs *os.File
	// Uninstall removes the agent from its machine, once all that it runs is ended.
	Uninstall func() error
	// DeadAfter is how long nothing may come from the server; agentwire.DeadAfter where it is 0.
	DeadAfter time.Duration
	// PingEvery is the time between pings; agentwire.PingEvery where it is 0.
	PingEvery time.Duration
	// GoodAfter is how long a connection must have lasted so that the next waits begin anew;
	// agentwire.GoodAfter where it is 0.
	GoodAfter time.Duration
}

// Agent is the daemon.
type Agent struct {
	cfg     Config
	client  *uplink.Client
	journal *journal.Journal
	hello   uplink.Hello
	outbox  *outbox
	host    *session.Host
	slots   chan struct{}
	work    sync.WaitGroup
	greeted atomic.Bool // by the server, on the stream that is open

	mu       sync.Mutex
	commands map[string]*command
	seq      int64
	removed  context.CancelCauseFunc
}

// New makes an agent and locks its state folder.
func New(cfg Config) (*Agent, error) {
	if cfg.DeadAfter == 0 {
		cfg.DeadAfter = agentwire.DeadAfter
	}
	if cfg.PingEvery == 0 {
		cfg.PingEvery = agentwire.PingEvery
	}
	if cfg.GoodAfter == 0 {
		cfg.GoodAfter = agentwire.GoodAfter
	}
	values := cfg.Settings.Values()
	hostname := values.Hostname
	if hostname == "" {
		var err error
		if hostname, err = os.Hostname(); err != nil {
			return nil, fmt.Errorf("read the name of this machine; set hostname: %w", err)
		}
	}
	client, err := uplink.New(uplink.Options{
		Server: values.ServerURL, CACert: values.CACert, Token: cfg.Settings.Token,
		UserAgent: "harvest-agent/" + cfg.Version, DeadAfter: cfg.DeadAfter,
	})
	if err != nil {
		return nil, err
	}
	log, err := journal.Open(values.StateDir, settings.Boot())
	if err != nil {
		return nil, err
	}
	machine, err := machineOf(cfg, log)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	a := &Agent{
		cfg: cfg, client: client, journal: log,
		hello:    uplink.Hello{Hostname: hostname, Machine: machine, Version: cfg.Version},
		slots:    make(chan struct{}, values.MaxCommands),
		commands: map[string]*command{},
	}
	a.outbox = newOutbox(client, cfg.Log)
	a.host = session.New(session.Host{Dial: client.Session, Env: cfg.Env, Log: cfg.Log, Errs: cfg.Errs})
	return a, nil
}

// machineOf gives the id of this machine. What another one was about to do as its disk was
// copied, this one knows nothing of: of commands that may still run there it must tell nothing.
func machineOf(cfg Config, log *journal.Journal) (string, error) {
	m, err := settings.ReadMachine(cfg.Settings.Values().StateDir, "/")
	if err != nil || !m.Copied {
		return m.ID, err
	}
	cfg.Log.Warn("the files of this agent were made on another machine; it takes an id of its own, and forgets the commands of that one")
	if err := log.Abandon(); err != nil {
		return "", fmt.Errorf("forget the commands of another machine: %w", err)
	}
	err = m.Renew()
	return m.ID, err
}

// threads is how many this process keeps for when the system has no more.
const threads = 16

// errRemoved ends an agent that was told to uninstall itself.
var errRemoved = errors.New("the server told this agent to uninstall itself")

// Run works until ctx ends, or the agent was uninstalled. Commands go on without it.
func (a *Agent) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.removed = cancel
	procs.Reserve(threads)
	if err := procs.Adopt(); err != nil {
		a.cfg.Log.Warn("what a killed shim leaves is found by its environment alone", "error", err)
	}
	if err := a.resume(ctx); err != nil {
		return errors.Join(err, a.journal.Close())
	}
	a.work.Go(func() { a.outbox.run(ctx) })
	a.work.Go(func() { a.ping(ctx) })
	a.work.Go(func() { a.reaping(ctx) })
	a.connect(ctx)
	a.work.Wait()
	if errors.Is(context.Cause(ctx), errRemoved) {
		a.endAll()
		return errors.Join(a.journal.Close(), a.cfg.Uninstall())
	}
	return a.journal.Close()
}

// resume takes up what earlier agents on this machine left: results that the server does not
// have, and commands that still run.
func (a *Agent) resume(ctx context.Context) error {
	entries, err := a.journal.Entries()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range entries {
		c := newCommand(a, entry.Order.ID)
		c.record, c.inherited = entry.Record, true
		a.seq = max(a.seq, entry.Order.Seq)
		ending, ended, err := entry.Record.Ending()
		if !ended && !entry.Held && c.unbegun(entry.Order.Boot) {
			a.cfg.Log.Info("a command had not begun; it runs when it is delivered again", "command", c.id)
			entry.Record.Discard()
			continue
		}
		a.commands[c.id] = c
		switch {
		case ended:
			c.end(ending)
		case entry.Held:
			// It takes no place: it runs already, whatever the limit is now.
			a.work.Go(func() { c.follow(ctx, shim.Find(ctx, entry.Record)) })
		default:
			a.cfg.Log.Warn("a command's shim is gone", "command", c.id, "error", err)
			c.end(c.settle(entry.Order.Boot))
		}
	}
	return nil
}

// ping says that this agent lives, where it is the one that the server speaks with: the token
// may have come to another machine.
func (a *Agent) ping(ctx context.Context) {
	for uplink.Sleep(ctx, a.cfg.PingEvery) {
		if !a.greeted.Load() {
			continue
		}
		if err := a.client.Post(ctx, "/agent/ping", struct{}{}, &struct{}{}); err != nil && ctx.Err() == nil {
			a.cfg.Log.Debug("ping", "error", err)
		}
	}
}
