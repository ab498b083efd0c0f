package crashtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/obs"
	"github.com/harvest-engine/harvest/internal/peers"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/secrets"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

const token = "a token of the crash tests"

// nodeOrder is a process of Harvest: a worker, an API, or both in one.
type nodeOrder struct {
	DSN, Temporal, Namespace string
	Keys                     string // of payloads
	Queue                    string
	Worker                   bool
	API                      string // address to listen at; "" for no API
	Buffers                  int    // bytes that the kernel holds of what a client has not taken; 0: as many as it likes
	Owner                    string
	LXD, LXDToken            string // the address of an LXD server, and a token of it; "" for none
	Doomed                   string // id of the artifact that the model deletes when it is asked to
}

// node is what every process of Harvest has.
type node struct {
	pool   *pgxpool.Pool
	store  *postgres.Store
	client sdkclient.Client
	log    zerolog.Logger
	queues workflows.Queues
	door   *lxd.Door // nil: there is no LXD server
}

func (o *nodeOrder) open(ctx context.Context, log zerolog.Logger) (*node, error) {
	keys, err := worker.ParseKeyring(o.Keys)
	if err != nil {
		return nil, err
	}
	codec, err := worker.NewCodec(keys)
	if err != nil {
		return nil, err
	}
	n := &node{log: log, queues: workflows.CombinedQueues(o.Queue)}
	if n.pool, err = postgres.Open(ctx, o.DSN); err != nil {
		return nil, err
	}
	n.store = postgres.NewStore(n.pool)
	go func() { _ = n.store.Serve(ctx) }() // until the process ends
	if o.LXD != "" {
		n.door = lxd.NewDoor(lxd.Config{
			Endpoint: o.LXD, TrustToken: o.LXDToken, Project: "harvest", Store: n.store, Log: log, Pause: 20 * time.Millisecond,
		})
		go n.door.Run(ctx) // until the process ends
	}
	n.client, err = worker.Dial(ctx, worker.Connection{
		Address: o.Temporal, Namespace: o.Namespace, Codec: codec, Log: obs.TemporalLogger(log),
	})
	return n, err
}

func (n *node) engine(ctx context.Context, o *nodeOrder) (*engine.Engine, error) {
	var containers engine.Containers
	if n.door != nil {
		containers = n.containers()
	}
	return engine.New(ctx, engine.Config{
		Agents: n.store, Provisions: n.store, Containers: containers,
		Temporal: n.client, Namespace: o.Namespace, Turns: n.store, Actions: n.store, Projects: n.store, Ingests: n.store, Events: n.store, Queues: n.queues,
		Repositories: noRepositories{}, House: n.store, Owner: o.Owner, Log: n.log,
	})
}

func (o *nodeOrder) run() error {
	ctx := context.Background()
	n, err := o.open(ctx, zerolog.Nop())
	if err != nil {
		return err
	}
	if o.Worker {
		w, err := n.work(o)
		if err != nil {
			return err
		}
		defer w.Stop()
	}
	if o.API == "" {
		return tell("ready")
	}
	stop, err := n.serve(ctx, o)
	if err != nil {
		return err
	}
	defer stop()
	return tell("ready")
}

func (n *node) work(o *nodeOrder) (*worker.Worker, error) {
	chain, err := llm.NewChain([]llm.Entry{{
		Config: llm.Config{ID: "script", Kind: llm.KindScripted}, Provider: scripted.New("script", o.script()),
	}})
	if err != nil {
		return nil, err
	}
	box := tools.NewRegistry(append(tools.ArtifactTools(library.NewArtifacts(n.store)),
		probe{"look", true, n.pool}, probe{"dig", false, n.pool}, drop{"drop", false, n.pool}, drop{"scrap", true, n.pool}, tools.AskUser{})...)
	w, err := worker.New(worker.Config{Client: n.client, Queues: n.queues, Log: n.log, Activities: worker.Activities{
		Turn:  &activities.Turn{Store: n.store, Sources: code{}, Symbols: code{}},
		Model: &activities.Model{Store: n.store, Models: chain, Tools: box},
		Tool:  &activities.Tool{Store: n.store, Tools: box}, Action: &activities.Action{Store: n.store, Tools: box},
		Provision: n.provisioning(),
		Afterword: &activities.Afterword{Store: n.store, Models: chain, Budgets: activities.Budgets{PerDay: 1000}},
	}})
	if err != nil {
		return nil, err
	}
	return w, w.Start()
}

// vault keeps secrets by a key that all processes have.
func (n *node) vault() (*secrets.Vault, error) {
	sealer, err := secrets.NewSealer([]secrets.Key{{ID: "k1", Secret: make([]byte, 32)}})
	return secrets.New(n.store, sealer, n.store), err
}

// serve serves the API; stop ends that as a command does that is told to stop.
func (n *node) serve(ctx context.Context, o *nodeOrder) (stop func(), err error) {
	e, err := n.engine(ctx, o)
	if err != nil {
		return nil, err
	}
	go func() { _ = e.Run(ctx) }() // until the process ends
	vault, err := n.vault()
	if err != nil {
		return nil, err
	}
	hub := agenthub.New(agenthub.Config{Store: n.store, Secrets: vault, ProcessID: domain.NewID(), Log: n.log})
	server, err := api.New(api.Config{
		Agents: n.store, AgentHub: hub, Machines: e, Forwards: n.store, Sessions: peers.New(peers.Config{Store: n.store, Local: hub, Log: n.log}),
		Turns: e, Actions: e, Ingests: e, Projects: n.store, Skills: library.NewSkills(n.store), Memories: library.NewMemories(n.store), Secrets: vault, Artifacts: library.NewArtifacts(n.store), Conversations: n.store, Workspaces: e, People: n.store, Auditor: n.store, Sources: code{}, Graph: code{}, Providers: code{}, Describer: tools.NewRegistry(), OwnerToken: token, Log: n.log,
	})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.API)
	if err != nil {
		return nil, err
	}
	serving := server.HTTP()
	go func() { _ = serving.Serve(narrow{listener, o.Buffers}) }() // until the process ends
	return func() {
		ctx, cancel := context.WithTimeout(ctx, drainLimit)
		defer cancel()
		_ = serving.Shutdown(ctx) // what is not over then ends with the process
	}, nil
}

// drainLimit is how long an API that is told to stop waits for its requests.
const drainLimit = 2 * time.Second

// narrow is a listener whose connections hold few bytes that were not taken: by it a client
// that is slow is felt.
type narrow struct {
	net.Listener
	bytes int
}

func (n narrow) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok && n.bytes > 0 {
		err = tcp.SetWriteBuffer(n.bytes)
	}
	return conn, err
}

// The turn that every test asks for: three rounds, four tool calls.
const (
	textDelay = 25 * time.Millisecond
	digTime   = 1200 * time.Millisecond
	newTitle  = "How the server starts" // that the afterword gives a conversation
	answer    = "The server starts in Start, as [app:v1:main.go:5] shows."
)

func script() scripted.Script {
	call := func(name string, step int) scripted.Call {
		return scripted.Call{Name: name, Input: json.RawMessage(fmt.Sprintf(`{"step":%d}`, step))}
	}
	round := func(text string, calls ...scripted.Call) scripted.Round {
		return scripted.Round{
			Thinking: strings.Repeat("Hm. ", 8), Text: text, Calls: calls, Chunk: 4,
			FirstDelay: scripted.Duration(textDelay), Delay: scripted.Duration(textDelay),
		}
	}
	ask := scripted.Call{Name: tools.AskUserName, Input: json.RawMessage(`{"question":"Which server?"}`)}
	one := func(r scripted.Round) []scripted.Round { return []scripted.Round{r} }
	scenes := []scripted.Scene{
		{System: "You are given a question and its answer", Rounds: one(scripted.Round{
			Text: "Title: " + newTitle + "\nNext: Who calls Start?\nNext: What stops it?\n", Chunk: 8,
			FirstDelay: scripted.Duration(digTime), Delay: scripted.Duration(textDelay),
		})},
		{System: "Classify the last message", Rounds: one(scripted.Round{Text: "research"})},
		{System: "Sum up the conversation", Rounds: one(scripted.Round{Text: "They asked how long it is."})},
		{Question: "unclear", Rounds: one(scripted.Round{Text: "I must ask.", Calls: []scripted.Call{ask}})},
		{Question: "fail", Rounds: one(scripted.Round{Faults: []scripted.Fault{{Code: domain.CodeUpstream, Times: -1}}})},
		{Question: "hello", Rounds: one(scripted.Round{Text: "Hello!"})},
		{Question: "remove", Rounds: []scripted.Round{
			{Text: "I look, and remove two.", Calls: []scripted.Call{call("look", 0), call("drop", firstDrop), call("drop", secondDrop)}},
			round("It is removed. " + answer),
		}},
		{Question: "slowly", Rounds: []scripted.Round{
			{Text: "I take my time.", Calls: []scripted.Call{{Name: "drop", Input: json.RawMessage(fmt.Sprintf(`{"step":%d,"slow":true}`, firstDrop))}}},
			round("It is removed. " + answer),
		}},
		{Question: "tidy", Rounds: []scripted.Round{
			{Text: "I look, dig, and remove three.", Calls: []scripted.Call{
				call("drop", firstDrop), call("look", 0), call("drop", secondDrop), call("dig", 1), call("drop", thirdDrop),
			}},
			round("It is tidy. " + answer),
		}},
		{Question: "scrap", Rounds: []scripted.Round{
			{Text: "I look, and scrap two.", Calls: []scripted.Call{call("look", 0), call("scrap", firstDrop), call("scrap", secondDrop)}},
			round("It is scrapped. " + answer),
		}},
		{Question: "recite", Rounds: []scripted.Round{
			recital(call("look", 0), call("dig", 1)),
			recital(),
		}},
		{Question: "long", Rounds: one(scripted.Round{Text: strings.Repeat("Very long. ", 1300)})},
	}
	return scripted.Script{Scenes: scenes, Rounds: []scripted.Round{
		round(strings.Repeat("Let me look around. ", 12), call("look", 0), call("dig", 1)),
		round(strings.Repeat("There is more. ", 6), call("dig", 2), call("look", 3)),
		round(strings.Repeat("Now I know. ", 12) + answer),
	}}
}

// script is what the models of a node say: the turns of all tests, and one that deletes an
// artifact.
func (o *nodeOrder) script() scripted.Script {
	s := script()
	input, _ := json.Marshal(map[string]string{"id": o.Doomed}) // a string always marshals
	s.Scenes = append(s.Scenes, scripted.Scene{Question: "artifact", Rounds: []scripted.Round{
		{Text: "I delete it.", Calls: []scripted.Call{{Name: "delete_artifact", Input: input}}}, {Text: "So be it. " + answer},
	}})
	return s
}

// recital is a round that says so much that a reader who is slow falls behind.
func recital(calls ...scripted.Call) scripted.Round {
	var text strings.Builder
	for n := range 4000 {
		fmt.Fprintf(&text, "Line %d of the poem – ", n)
	}
	return scripted.Round{
		Thinking: strings.Repeat("How did it go? ", 100), Text: text.String(), Calls: calls, Chunk: 199,
		FirstDelay: scripted.Duration(textDelay), Delay: scripted.Duration(8 * time.Millisecond),
	}
}

// The steps of the calls that ask, of the turn that removes something.
const (
	firstDrop  = 10
	secondDrop = 11
	thirdDrop  = 12
)

// slowDrop is longer than a stopping worker waits for what another can take over.
const slowDrop = 4 * time.Second

// drop is a tool that always asks. Its effect, a row, stands in the middle of its run: it can
// be killed before and after it.
type drop struct {
	name  string
	local bool // it is run inside the workflow task
	pool  *pgxpool.Pool
}

func (d drop) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: d.name, Description: "Removes something.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Policy:   domain.PolicyAlways, Local: d.local, Timeout: 20 * time.Second, MaxResult: 1000,
	}
}

func (d drop) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	var in struct{ Slow bool }
	if err := json.Unmarshal(input, &in); err != nil {
		return domain.ToolResult{}, err
	}
	length := digTime
	if in.Slow {
		length = slowDrop
	}
	pause := func() error {
		timer := time.NewTimer(length)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		}
	}
	if scope.ActionID == "" {
		return domain.ToolResult{}, domain.Errorf(domain.CodeForbidden, "nobody approved this")
	}
	if err := pause(); err != nil {
		return domain.ToolResult{}, err
	}
	if _, err := (probe{d.name, true, d.pool}).Run(ctx, scope, input); err != nil {
		return domain.ToolResult{}, err
	}
	return domain.ToolResult{Text: "it is removed"}, pause()
}

// probe is a tool that writes down each of its runs, apart from Harvest's own tables.
type probe struct {
	name  string
	local bool
	pool  *pgxpool.Pool
}

func (p probe) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: p.name, Description: "A probe.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Policy:   domain.PolicyNever, Local: p.local, Timeout: 10 * time.Second, MaxResult: 1000, Phase: tools.PhaseSearch,
	}
}

func (p probe) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	var in struct{ Step int }
	if err := json.Unmarshal(input, &in); err != nil {
		return domain.ToolResult{}, err
	}
	_, err := p.pool.Exec(ctx, "insert into tool_runs (turn_id, step) values ($1, $2)", scope.TurnID, in.Step)
	if err != nil {
		return domain.ToolResult{}, domain.Wrap(domain.CodeUnavailable, err, "the probe can't write its run down")
	}
	if !p.local {
		timer := time.NewTimer(digTime)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return domain.ToolResult{}, ctx.Err()
		case <-timer.C:
		}
	}
	return domain.ToolResult{Text: fmt.Sprintf("step %d found main.go:5", in.Step)}, nil
}

// code is a graph of one file.
type code struct{}

func (code) Version(_ context.Context, repo, tag string) (domain.VersionDetail, error) {
	return domain.VersionDetail{Repo: repo, Tag: tag}, nil
}

func (code) ReadFile(context.Context, graph.FileRef, int, int) (string, int, error) {
	return "package main", 20, nil
}

func (code) FileSymbols(context.Context, graph.FileRef) ([]graph.Hit, error) {
	return []graph.Hit{{Symbol: domain.Symbol{Name: "Start", StartLine: 3, EndLine: 9}}}, nil
}

func (code) Repositories(context.Context) ([]domain.Repository, error) { return nil, nil }

func (code) FindSymbols(context.Context, graph.SymbolRef) ([]graph.Hit, error) { return nil, nil }

func (code) Graph(context.Context, string, string, int, int) (graph.Picture, error) {
	return graph.Picture{}, nil
}

func (code) Providers(context.Context) ([]domain.ProviderInfo, error) { return nil, nil }

// noRepositories keeps no repositories: these tests read none.
type noRepositories struct{ code }

func (noRepositories) SaveRepository(context.Context, domain.Repository) (int64, error) {
	return 0, domain.Errorf(domain.CodeUnprocessable, "these tests read no repositories")
}

func (noRepositories) Repository(_ context.Context, name string) (domain.Repository, error) {
	return domain.Repository{}, domain.NotFound("there is no repository %s", name)
}
