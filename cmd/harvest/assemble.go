package main

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/embedded"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/knowledge"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
	"github.com/harvest-engine/harvest/internal/knowledge/lang"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/obs"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/secrets"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

// servers are what an assembly stands on.
type servers struct {
	dsn       string
	temporal  string // host:port
	inTheOpen bool   // Temporal is our own child: no TLS, no key
	combined  bool   // API and worker are one process: one queue for all
	// beside are tools besides the program's own.
	beside []tools.Tool
}

// assembly is Harvest put together in this process, not yet running.
type assembly struct {
	cfg   *config.Config
	log   zerolog.Logger
	pool  *pgxpool.Pool
	store *postgres.Store
	code  *pg.Store     // contents and versions
	graph graph.Backend // symbols and edges
	// closeGraph ends the connections of a graph that has its own; nil for none.
	closeGraph func(context.Context) error
	chain      *llm.Chain
	tools      *tools.Registry
	skills     *library.Skills
	artifacts  *library.Artifacts
	memories   *library.Memories
	secrets    *secrets.Vault
	keys       worker.Keyring
	codec      *worker.Codec
	temporal   sdkclient.Client
	queues     workflows.Queues
	engine     *engine.Engine
	combined   bool      // API and worker are one process
	lxd        *lxd.Door // nil: no [lxd]
	containers *lxd.Containers
	ownDisk    bool // the database's files lie in the data folder
	beside     []tools.Tool
}

// assemble migrates the database and connects everything. Close the assembly in the end.
func assemble(ctx context.Context, cfg *config.Config, log zerolog.Logger, on servers) (*assembly, error) {
	a := &assembly{beside: on.beside, combined: on.combined, cfg: cfg, log: log, queues: queuesOf(cfg, on.combined), ownDisk: on.combined && cfg.Database.URL.Empty()}
	if err := a.connect(ctx, on); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *assembly) connect(ctx context.Context, on servers) (err error) {
	if a.keys, err = keyring(a.cfg); err != nil {
		return err
	}
	if a.codec, err = worker.NewCodec(a.keys); err != nil {
		return err
	}
	seal, err := newSealer(a.keys)
	if err != nil {
		return err
	}
	if a.chain, err = newChain(a.cfg.LLM); err != nil {
		return err
	}
	if err := postgres.Migrate(ctx, on.dsn); err != nil {
		return databaseFault(err)
	}
	if a.pool, err = postgres.Open(ctx, on.dsn); err != nil {
		return databaseFault(err)
	}
	a.store = postgres.NewStore(a.pool, postgres.WithSealer(seal))
	if err := a.openLibrary(ctx); err != nil {
		return err
	}
	if err := a.openVault(); err != nil {
		return err
	}
	a.openDoor()
	a.code = pg.New(a.pool, pg.OnSweepError(a.sweepFailed))
	if a.graph, a.tools, err = a.openGraph(ctx); err != nil {
		return err
	}
	if a.temporal, err = worker.Dial(ctx, a.connection(on)); err != nil {
		return err
	}
	a.engine, err = engine.New(ctx, engine.Config{
		Temporal: a.temporal, Namespace: a.cfg.Temporal.Namespace,
		Actions: a.store, Secrets: a.secrets, Calls: a.tools, Commands: a.store,
		Agents: a.store, Provisions: a.store, Containers: a.engineContainers(), Installs: a.installs(),
		Turns: a.store, Projects: a.store, Ingests: a.store, Events: a.store, Repositories: a.code, Credentials: a.store,
		House: a.store, Graphs: a.graphs(), EventsRetention: a.cfg.Data.EventsRetention, AuditRetention: a.cfg.Data.AuditRetention,
		Queues: a.queues, Owner: domain.OwnerID, Roots: a.cfg.Ingest.Roots, Log: a.log,
		TurnLimits: workflows.TurnLimits{
			MaxIterations:    a.cfg.Agent.MaxIterations,
			CompactThreshold: a.cfg.Agent.CompactionThresholdChars,
			CompactKeep:      a.cfg.Agent.CompactionKeepLast,
		},
	})
	return err
}

func (a *assembly) connection(on servers) worker.Connection {
	t := a.cfg.Temporal
	c := worker.Connection{
		Address: on.temporal, Namespace: t.Namespace, Codec: a.codec,
		Log: obs.TemporalLogger(a.log.Level(zerolog.WarnLevel)), // at info the SDK tells every poller
	}
	if on.inTheOpen {
		return c
	}
	c.APIKey = t.APIKey.Reveal()
	if t.TLS.On() {
		c.TLS = &worker.TLS{CAFile: t.TLS.CA, CertFile: t.TLS.Cert, KeyFile: t.TLS.Key, ServerName: t.TLS.ServerName}
	}
	return c
}

// close frees the connections; what is not there yet is passed over.
func (a *assembly) close() {
	if a.temporal != nil {
		a.temporal.Close()
	}
	if a.closeGraph != nil {
		_ = a.closeGraph(context.Background()) // only idle connections
	}
	if a.pool != nil {
		a.pool.Close()
	}
	if a.chain != nil {
		_ = a.chain.Close() // only idle connections
	}
}

// databaseFault says what to look at when the database can't be used, unless that is said.
func databaseFault(err error) error {
	if domain.CodeOf(err) != domain.CodeInternal {
		return err
	}
	return domain.Wrap(domain.CodeUnavailable, err, "the database can't be used; check DATABASE_URL and that the server runs, harvest doctor says more")
}

// queuesOf gives the layout of the task queues. One queue for all is what makes eager
// starts and eager activities possible.
func queuesOf(cfg *config.Config, combined bool) workflows.Queues {
	q := cfg.Temporal.Queues
	if combined {
		return workflows.CombinedQueues(q.Turns)
	}
	return workflows.Queues{Turns: q.Turns, Models: q.Models, Tools: q.Tools, Ingest: q.Ingest, Deploy: q.Deploy}
}

// newWorker builds the worker of this process; serve names the queues to work on, none for
// all.
func (a *assembly) newWorker(serve []string, onFatal func(error)) (*worker.Worker, error) {
	budgets := activities.Budgets{
		PerTurn: a.cfg.Agent.MaxTurnCost, PerDay: a.cfg.Agent.MaxDayCost, TurnTokens: a.cfg.Agent.MaxTurnTokens,
	}
	models := activities.Gate{Models: a.chain, Secrets: a.secrets}
	return worker.New(worker.Config{
		Client: a.temporal, Queues: a.queues, Log: a.log, Serve: serve, OnFatal: onFatal,
		Activities: worker.Activities{
			Turn:      &activities.Turn{Store: a.store, Sources: a.code, Symbols: a.graph},
			Model:     &activities.Model{Store: a.store, Models: models, Tools: a.tools, Memories: a.memories, Documents: a.documents(), Secrets: a.secrets, Budgets: budgets},
			Tool:      &activities.Tool{Store: a.store, Tools: a.tools, Secrets: a.secrets},
			Action:    &activities.Action{Store: a.store, Tools: a.tools, Secrets: a.secrets},
			Command:   &activities.Command{Store: a.store},
			Provision: a.provisioning(),
			Afterword: &activities.Afterword{Store: a.store, Models: models, Budgets: budgets},
			Ingest:    &activities.Ingest{Store: a.store, Sources: a.code, Reader: a.newReader(), Graph: a.graph, OtherGraph: a.cfg.Graph.Backend == backendNeo4j},
		},
	})
}

func (a *assembly) newReader() *knowledge.Reader {
	return knowledge.NewReader(knowledge.Config{
		Sources: a.code, Graph: a.graph,
		Git:         a.mirrors(),
		Extractor:   knowledge.Extractor{Version: lang.Version, Detect: lang.Detect, Extract: lang.Extract},
		Credentials: a.credentials,
		MaxSize:     a.cfg.Ingest.MaxFileBytes,
		Workers:     runtime.GOMAXPROCS(0),
		GOROOT:      goRoot(),
	})
}

// credentials finds what opens a repository: what the configuration says of its name, or of
// its address where it gives it no name, or else what was kept when it was added.
func (a *assembly) credentials(ctx context.Context, repo domain.Repository) (gitrepo.Credentials, error) {
	for _, c := range a.cfg.Repositories {
		if c.URL.Reveal() == repo.URL && (c.Name == "" || c.Name == repo.Name) && (!c.Token.Empty() || c.SSHKey != "") {
			return gitrepo.Credentials{Token: c.Token.Reveal(), SSHKeyPath: c.SSHKey}, nil
		}
	}
	kept, err := a.store.Credentials(ctx, repo.Name)
	return gitrepo.Credentials{Token: kept.Token, SSHKey: []byte(kept.SSHKey)}, err
}

// goRoot asks the go tool for its standard library, whose types make the edges of Go code
// exact; "" where there is no go tool.
func goRoot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// configured are the repositories of the configuration, as orders to read them.
func (a *assembly) configured() []domain.IngestRequest {
	requests := make([]domain.IngestRequest, 0, len(a.cfg.Repositories))
	for _, r := range a.cfg.Repositories {
		requests = append(requests, domain.IngestRequest{
			Name: r.Name, URL: r.URL.Reveal(), Refs: r.Refs, AllTags: r.AllTags, Worktree: r.Worktree, Watch: r.Watch, AnyPath: true,
		})
	}
	return requests
}

// checks are what GET /ready asks about.
func (a *assembly) checks() []api.Check {
	checks := []api.Check{
		{Name: "postgres", Test: func(ctx context.Context) error { return a.pool.Ping(ctx) }},
		{Name: "graph", Test: a.graph.Check},
		{Name: "temporal", Test: func(ctx context.Context) error {
			_, err := a.temporal.CheckHealth(ctx, &sdkclient.CheckHealthRequest{})
			return err
		}},
	}
	if a.lxd != nil {
		checks = append(checks, a.lxdCheck())
	}
	if a.ownDisk {
		checks = append(checks, api.Check{Name: "disk", Test: func(context.Context) error { return embedded.CheckRoom(a.cfg.Data.Dir) }})
	}
	return checks
}

var errFatal = errors.New("the worker was refused by Temporal")
