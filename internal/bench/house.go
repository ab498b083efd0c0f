package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	shelf "github.com/harvest-engine/harvest/internal/library" // the package has a library of its own
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/obs"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/secrets"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

const ownerToken = "bench-owner-token-of-no-value"

// house is Harvest put together in this process, as one process or as an API and a worker
// that share nothing but the servers; and the bare reference beside it.
type house struct {
	split   bool
	front   *half // where requests arrive
	back    *half // where work is done; the front itself where combined
	engine  *engine.Engine
	model   *gatedModel
	counter *counter
	address string // of the API
	bare    *bare

	closers []func()
}

// servers are where the database and Temporal are.
type servers interface {
	DSN() string
	TemporalAddress() string
}

// half is a process's connections.
type half struct {
	pool   *pgxpool.Pool
	store  *postgres.Store
	client sdkclient.Client
}

func openHouse(ctx context.Context, on servers, split bool) (h *house, err error) {
	h = &house{split: split, model: newGatedModel(), counter: newCounter()}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	codec, err := worker.NewCodec(worker.Keyring{worker.NewKey()})
	if err != nil {
		return nil, err
	}
	if h.back, err = h.openHalf(ctx, on, codec); err != nil {
		return nil, err
	}
	h.front = h.back
	if split {
		if h.front, err = h.openHalf(ctx, on, codec); err != nil {
			return nil, err
		}
	}
	queues := workflows.CombinedQueues("bench-combined")
	if split {
		queues = splitQueues("bench")
	}
	chain, err := modelChain(h.model)
	if err != nil {
		return nil, err
	}
	if err := h.startWorker(queues, chain, benchTools()); err != nil {
		return nil, err
	}
	if err := h.openFront(ctx, queues); err != nil {
		return nil, err
	}
	h.bare, err = openBare(ctx, on, split)
	if err == nil {
		h.closers = append(h.closers, h.bare.close)
	}
	return h, err
}

// splitQueues are the queues of a deployment whose worker is a process of its own.
func splitQueues(name string) workflows.Queues {
	return workflows.Queues{Turns: name + "-turns", Models: name + "-models", Tools: name + "-tools", Ingest: name + "-ingest", Deploy: name + "-deploy"}
}

func modelChain(model llm.Provider) (*llm.Chain, error) {
	return llm.NewChain([]llm.Entry{{Config: llm.Config{ID: "bench", Kind: "scripted"}, Provider: model}})
}

// openFront makes the engine of the front, and serves the API.
func (h *house) openFront(ctx context.Context, queues workflows.Queues) (err error) {
	code := pg.New(h.front.pool)
	h.engine, err = engine.New(ctx, engine.Config{
		Temporal: h.front.client, Namespace: "default", Turns: h.front.store, Actions: h.front.store, Projects: h.front.store, Ingests: h.front.store, Events: h.front.store,
		Repositories: code, House: h.front.store, Queues: queues, Owner: domain.OwnerID, Log: zerolog.Nop(),
	})
	if err != nil {
		return err
	}
	return h.serve(code)
}

func (h *house) openHalf(ctx context.Context, on servers, codec *worker.Codec) (*half, error) {
	if err := postgres.Migrate(ctx, on.DSN()); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(on.DSN())
	if err != nil {
		return nil, err
	}
	config.MaxConns, config.ConnConfig.Tracer = 24, h.counter
	p := &half{}
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	p.store = postgres.NewStore(p.pool)
	serve, stop := context.WithCancel(context.WithoutCancel(ctx))
	var served sync.WaitGroup
	served.Go(func() { _ = p.store.Serve(serve) })
	h.closers = append(h.closers, p.pool.Close, served.Wait, stop)
	p.client, err = worker.Dial(ctx, worker.Connection{
		Address: on.TemporalAddress(), Namespace: "default", Codec: codec, Log: obs.TemporalLogger(zerolog.Nop()),
	})
	if err == nil {
		h.closers = append(h.closers, p.client.Close)
	}
	return p, err
}

func (h *house) startWorker(queues workflows.Queues, chain *llm.Chain, box *tools.Registry) error {
	store, code := h.back.store, pg.New(h.back.pool)
	w, err := worker.New(worker.Config{
		Client: h.back.client, Queues: queues, Log: zerolog.Nop(),
		Activities: worker.Activities{
			Turn:   &activities.Turn{Store: store, Sources: code, Symbols: code},
			Model:  &activities.Model{Store: store, Models: chain, Tools: box},
			Tool:   &activities.Tool{Store: store, Tools: box},
			Action: &activities.Action{Store: store, Tools: box},
			Ingest: &activities.Ingest{Store: store, Sources: code, Graph: code},
		},
	})
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	h.closers = append(h.closers, w.Stop)
	return nil
}

func (h *house) serve(code *pg.Store) error {
	sealer, err := secrets.NewSealer([]secrets.Key{{ID: "k1", Secret: make([]byte, 32)}})
	if err != nil {
		return err
	}
	server, err := api.New(api.Config{
		Turns: h.engine, Actions: h.engine, Ingests: h.engine, Projects: h.front.store, Skills: shelf.NewSkills(h.front.store), Memories: shelf.NewMemories(h.front.store), Secrets: secrets.New(h.front.store, sealer, h.front.store), Artifacts: shelf.NewArtifacts(h.front.store), Conversations: h.front.store, Workspaces: h.engine, People: h.front.store, Auditor: h.front.store, Sources: code, Graph: code, Providers: noProviders{}, Describer: benchTools(),
		Log: zerolog.Nop(), OwnerToken: ownerToken, Machines: h.engine,
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	h.address = "http://" + listener.Addr().String()
	serving := server.HTTP()
	go func() { _ = serving.Serve(listener) }()
	h.closers = append(h.closers, func() { server.Drain(); _ = serving.Close() })
	return nil
}

// close undoes what was opened, the last first.
func (h *house) close() {
	for i := len(h.closers) - 1; i >= 0; i-- {
		h.closers[i]()
	}
}

// noProviders is a model picker without models.
type noProviders struct{}

func (noProviders) Providers(context.Context) ([]domain.ProviderInfo, error) { return nil, nil }

// call makes a request of the API.
func (h *house) call(ctx context.Context, method, path string, body *request) (*http.Response, error) {
	req, err := body.build(ctx, method, h.address+path)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, errors.New(path + " answered " + response.Status)
	}
	return response, nil
}
