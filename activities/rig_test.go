package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

// rig runs turns on a real store, with scripted models and tools of the test's own, in
// Temporal's test environment.
type rig struct {
	t      *testing.T
	store  *postgres.Store
	chain  *llm.Chain
	box    *tools.Registry
	budget activities.Budgets
	limits workflows.TurnLimits
	probes map[string]*probe
	code   code
	seen   *requests
	// documents reads attached PDF files; nil for nobody
	documents activities.Documents
	stored    func(domain.TextFlush) // is told of each flush; nil for nobody

	scripts []scripted.Script
	price   float64 // per million tokens
}

// requests remembers what the models were asked.
type requests struct {
	mu   sync.Mutex
	list []domain.ModelRequest
}

func (r *requests) all() []domain.ModelRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]domain.ModelRequest(nil), r.list...)
}

// watched is a provider whose requests are remembered.
type watched struct {
	llm.Provider
	seen *requests
}

func (w watched) Stream(ctx context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	w.seen.mu.Lock()
	w.seen.list = append(w.seen.list, req)
	w.seen.mu.Unlock()
	return w.Provider.Stream(ctx, req, emit)
}

// flushes is a store whose flushes are told.
type flushes struct {
	*postgres.Store
	told func(domain.TextFlush)
}

func (f flushes) FlushModelCall(ctx context.Context, flush domain.TextFlush) (int64, error) {
	if f.told != nil {
		f.told(flush)
	}
	return f.Store.FlushModelCall(ctx, flush)
}

// readableRepository makes a repository "other" that queries may be limited to.
const readableRepository = `with r as (insert into repositories (name) values ('other') returning id)
insert into versions (repo_id, tag, live) select id, 'v1', true from r`

func newRig(t *testing.T, scripts ...scripted.Script) *rig {
	t.Helper()
	pool := testkit.Postgres(t)
	if _, err := pool.Exec(t.Context(), readableRepository); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, store: postgres.NewStore(pool), seen: &requests{}, price: 10}
	r.providers(100, scripts...)
	r.tools(&probe{name: "peek", local: true}, &probe{name: "dig"})
	return r
}

// providers play the scripts; the longest answer is in tokens.
func (r *rig) providers(longest int, scripts ...scripted.Script) {
	r.t.Helper()
	r.scripts = scripts
	var entries []llm.Entry
	for i, script := range scripts {
		id := fmt.Sprintf("p%d", i)
		entries = append(entries, llm.Entry{
			Config:   llm.Config{ID: id, Kind: llm.KindScripted, Priority: i, MaxRetries: 3, PriceInput: r.price, PriceOutput: r.price, MaxTokens: longest},
			Provider: watched{scripted.New(id, script), r.seen},
		})
	}
	chain, err := llm.NewChain(entries)
	if err != nil {
		r.t.Fatal(err)
	}
	r.chain = chain
}

// answers sets the longest answer of the models, in tokens.
func (r *rig) answers(longest int) { r.providers(longest, r.scripts...) }

// tools offers these, and ask_user.
func (r *rig) tools(list ...*probe) {
	r.probes = map[string]*probe{}
	offered := []tools.Tool{}
	for _, p := range list {
		r.probes[p.name] = p
		offered = append(offered, p)
	}
	r.box = tools.NewRegistry(append(offered, tools.AskUser{})...)
}

func (r *rig) probe(name string) *probe { return r.probes[name] }

// rounds is a script of these rounds.
func rounds(list ...scripted.Round) scripted.Script { return scripted.Script{Rounds: list} }

// calling is a round that calls tools by name.
func calling(text string, names ...string) scripted.Round {
	r := scripted.Round{Text: text}
	for _, name := range names {
		r.Calls = append(r.Calls, scripted.Call{Name: name, Input: json.RawMessage(`{"at":"main.go"}`)})
	}
	return r
}

// probe is a tool that does what its run says.
type probe struct {
	name  string
	local bool
	limit time.Duration
	run   func(ctx context.Context) (domain.ToolResult, error)
	runs  atomic.Int32
}

func (p *probe) Spec() tools.Spec {
	limit := p.limit
	if limit == 0 {
		limit = 10 * time.Second
	}
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: p.name, Description: "A probe.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Policy:   domain.PolicyNever, Local: p.local, Timeout: limit, MaxResult: 1000, Phase: tools.PhaseSearch, Activity: "Looking at {at}",
	}
}

func (p *probe) Run(ctx context.Context, _ domain.Scope, _ json.RawMessage) (domain.ToolResult, error) {
	p.runs.Add(1)
	if p.run != nil {
		return p.run(ctx)
	}
	return domain.ToolResult{Text: p.name + " found main.go:3", Preview: "1 match"}, nil
}

// code is a graph of one file, main.go of app at v1, of 20 lines with a function in 3 to 9.
type code struct{ down bool }

func (c code) Version(_ context.Context, repo, tag string) (domain.VersionDetail, error) {
	if c.down {
		return domain.VersionDetail{}, domain.Errorf(domain.CodeUnavailable, "the graph is away")
	}
	if repo != "app" || tag != "v1" {
		return domain.VersionDetail{}, domain.NotFound("there is no version %s of %s", tag, repo)
	}
	return domain.VersionDetail{Repo: repo, Tag: tag, Commit: "c0ffee", Stale: true}, nil
}

func (c code) ReadFile(_ context.Context, at graph.FileRef, _, _ int) (string, int, error) {
	if at.Path != "main.go" {
		return "", 0, domain.NotFound("there is no file %s", at.Path)
	}
	return "package main", 20, nil
}

func (c code) FileSymbols(context.Context, graph.FileRef) ([]graph.Hit, error) {
	outer := graph.Hit{Symbol: domain.Symbol{Name: "Server", StartLine: 1, EndLine: 12}}
	inner := graph.Hit{Symbol: domain.Symbol{Name: "Start", Receiver: "Server", StartLine: 3, EndLine: 9}}
	return []graph.Hit{outer, inner}, nil
}

// failures renders errors as the worker does.
type failures struct {
	interceptor.WorkerInterceptorBase
}

func (*failures) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &failing{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type failing struct {
	interceptor.ActivityInboundInterceptorBase
}

func (f *failing) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	out, err := f.Next.ExecuteActivity(ctx, in)
	return out, activities.Failure(err)
}

func query(text string) domain.TurnRequest { return domain.TurnRequest{UserID: "ada", Query: text} }

// ask runs a turn to its end.
func (r *rig) ask(req domain.TurnRequest) (domain.Turn, []domain.Event) {
	r.t.Helper()
	turn, _, err := r.store.CreateTurn(context.Background(), req)
	if err != nil {
		r.t.Fatalf("create the turn: %v", err)
	}
	return r.run(turn.ID)
}

// run runs the workflow of a turn that was created.
func (r *rig) run(id string) (domain.Turn, []domain.Event) {
	r.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{&failures{}}})
	env.SetTestTimeout(time.Minute)
	worker.RegisterWorkflows(env)
	worker.RegisterActivities(env, worker.Activities{
		Turn:  &activities.Turn{Store: r.store, Sources: r.code, Symbols: r.code},
		Model: &activities.Model{Store: flushes{r.store, r.stored}, Models: r.chain, Tools: r.box, Memories: library.NewMemories(r.store), Documents: r.documents, Budgets: r.budget},
		Tool:  &activities.Tool{Store: r.store, Tools: r.box}, Action: &activities.Action{Store: r.store, Tools: r.box},
	})
	env.ExecuteWorkflow(workflows.TurnQuery.Name, workflows.TurnInput{TurnID: id, Limits: r.limits})
	if err := env.GetWorkflowError(); err != nil {
		r.t.Fatalf("the workflow of the turn failed: %v", err)
	}
	turn, err := r.store.Turn(context.Background(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return turn, r.events(id)
}

// events reads the whole log of a turn that has ended, and checks what holds for every one.
func (r *rig) events(id string) []domain.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var events []domain.Event
	var seq int64
	for e, err := range r.store.Follow(ctx, id, domain.Cursor{}) {
		if err != nil {
			r.t.Fatalf("follow after %v: %v", types(events), err)
		}
		if e.Cursor.Seq != seq+1 {
			r.t.Errorf("event %s has number %d after %d", e.Type, e.Cursor.Seq, seq)
		}
		seq = e.Cursor.Seq
		events = append(events, e)
	}
	for i, e := range events {
		if e.Type.Terminal() != (i == len(events)-1) {
			r.t.Errorf("terminal events are not exactly the last: %v", types(events))
			break
		}
	}
	return events
}

func types(events []domain.Event) string {
	var names []string
	for _, e := range events {
		names = append(names, string(e.Type))
	}
	return strings.Join(names, " ")
}

// field reads a field of an event's payload as text.
func field(t *testing.T, e domain.Event, name string) string {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(e.Payload, &body); err != nil {
		t.Fatalf("%s: %v", e.Type, err)
	}
	return fmt.Sprint(body[name])
}

func first(t *testing.T, events []domain.Event, typ domain.EventType) domain.Event {
	t.Helper()
	for _, e := range events {
		if e.Type == typ {
			return e
		}
	}
	t.Fatalf("no %s among %s", typ, types(events))
	return domain.Event{}
}
