package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

var day = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fakeEngine is an engine in memory whose turns the test moves on itself.
type fakeEngine struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each change
	turns    map[string]domain.Turn
	events   map[string][]domain.Event
	keys     map[string]string // idempotency key to turn
	requests []domain.TurnRequest
	ingests  []domain.IngestRequest
	runs     map[string]domain.Ingest
	canceled []string
	deleted  []string
	readers  int // followers at this moment

	onStart func(id string) // how a turn goes on by itself
	failing error           // what every call gives, where set
	broken  error           // what following gives after the stored events, where set
}

func newFakeEngine() *fakeEngine {
	return &fakeEngine{
		changed: make(chan struct{}), turns: map[string]domain.Turn{}, events: map[string][]domain.Event{},
		keys: map[string]string{}, runs: map[string]domain.Ingest{},
	}
}

func (f *fakeEngine) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// wait blocks until done holds, or ctx ends.
func (f *fakeEngine) wait(ctx context.Context, done func() bool) error {
	for {
		f.mu.Lock()
		ok, changed := done(), f.changed
		f.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// emit appends an event; a terminal one ends the turn or run.
func (f *fakeEngine) emit(id string, kind domain.EventType, payload string) {
	f.change(func() {
		f.events[id] = append(f.events[id], domain.Event{
			Subject: id, Cursor: domain.Cursor{Seq: int64(len(f.events[id]) + 1)}, Type: kind, Payload: json.RawMessage(payload), At: day,
		})
	})
}

// end makes a turn final, with the terminal event that belongs to it.
func (f *fakeEngine) end(id string, outcome domain.Turn) {
	f.change(func() {
		turn := f.turns[id]
		outcome.ID, outcome.UserID, outcome.Query, outcome.CreatedAt = turn.ID, turn.UserID, turn.Query, turn.CreatedAt
		f.turns[id] = outcome
	})
	switch outcome.Status {
	case domain.TurnDone:
		payload, _ := json.Marshal(map[string]any{"answer": outcome.Answer, "sources": outcome.Sources,
			"tool_calls_made": outcome.ToolCallsMade, "provider_used": outcome.ProviderUsed})
		f.emit(id, domain.EventDone, string(payload))
	case domain.TurnCanceled:
		f.emit(id, domain.EventCanceled, `{"message":"canceled"}`)
	default:
		payload, _ := json.Marshal(map[string]any{"message": outcome.Error, "code": outcome.ErrorCode})
		f.emit(id, domain.EventError, string(payload))
	}
}

func (f *fakeEngine) StartTurn(_ context.Context, req domain.TurnRequest) (domain.Turn, error) {
	if f.failing != nil {
		return domain.Turn{}, f.failing
	}
	var turn domain.Turn
	repeated := false
	f.change(func() {
		f.requests = append(f.requests, req)
		if id, known := f.keys[req.IdempotencyKey]; known && req.IdempotencyKey != "" {
			turn, repeated = f.turns[id], true
			return
		}
		turn = domain.Turn{ID: fmt.Sprintf("turn-%d", len(f.turns)+1), UserID: req.UserID, ConversationID: req.ConversationID,
			Query: req.Query, Status: domain.TurnRunning, CreatedAt: day}
		f.turns[turn.ID] = turn
		f.keys[req.IdempotencyKey] = turn.ID
	})
	if repeated && turn.Query != req.Query {
		return domain.Turn{}, domain.Errorf(domain.CodeUnprocessable, "the key came with another body")
	}
	if !repeated && f.onStart != nil {
		f.onStart(turn.ID)
	}
	return turn, nil
}

func (f *fakeEngine) Turn(_ context.Context, id string) (domain.Turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	turn, ok := f.turns[id]
	if !ok {
		return turn, domain.NotFound("there is no turn %q", id)
	}
	return turn, f.failing
}

func (f *fakeEngine) WaitTurn(ctx context.Context, id string) (domain.Turn, error) {
	if err := f.wait(ctx, func() bool { return f.turns[id].Status.Final() || f.turns[id].Status == domain.TurnWaiting }); err != nil {
		return domain.Turn{}, fmt.Errorf("wait for turn: %w", err)
	}
	return f.Turn(ctx, id)
}

func (f *fakeEngine) CancelTurn(ctx context.Context, id string) (domain.Turn, error) {
	f.change(func() { f.canceled = append(f.canceled, id) })
	return f.Turn(ctx, id)
}

func (f *fakeEngine) Follow(ctx context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	return func(yield func(domain.Event, error) bool) {
		f.change(func() { f.readers++ })
		defer f.change(func() { f.readers-- })
		next := int(after.Seq)
		for {
			if err := f.wait(ctx, func() bool { return len(f.events[id]) > next || f.broken != nil || f.over(id, next) }); err != nil {
				yield(domain.Event{}, err)
				return
			}
			f.mu.Lock()
			batch := f.events[id][min(next, len(f.events[id])):]
			f.mu.Unlock()
			if len(batch) == 0 {
				if f.broken != nil {
					yield(domain.Event{}, f.broken)
				}
				return
			}
			for _, e := range batch {
				if !yield(e, nil) || e.Type.Terminal() {
					return
				}
				next++
			}
		}
	}
}

func (f *fakeEngine) over(id string, next int) bool {
	events := f.events[id]
	return len(events) > 0 && events[len(events)-1].Type.Terminal() && next >= len(events)
}

func (f *fakeEngine) AddRepository(_ context.Context, req domain.IngestRequest) (domain.Ingest, error) {
	if f.failing != nil {
		return domain.Ingest{}, f.failing
	}
	var run domain.Ingest
	f.change(func() {
		f.ingests = append(f.ingests, req)
		run = domain.Ingest{ID: fmt.Sprintf("run-%d", len(f.ingests)), Repository: req.Name, Kind: domain.IngestRead, Status: domain.IngestQueued, CreatedAt: day}
		f.runs[run.ID] = run
	})
	return run, nil
}

func (f *fakeEngine) IngestRepository(ctx context.Context, req domain.IngestRequest) (domain.Ingest, error) {
	if req.Name == "unknown" {
		return domain.Ingest{}, domain.NotFound("there is no repository %q", req.Name)
	}
	return f.AddRepository(ctx, req)
}

func (f *fakeEngine) DeleteRepository(_ context.Context, name string) error {
	f.change(func() { f.deleted = append(f.deleted, name) })
	return f.failing
}

func (f *fakeEngine) Ingest(_ context.Context, id string) (domain.Ingest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run, ok := f.runs[id]
	if !ok {
		return run, domain.NotFound("there is no ingestion %q", id)
	}
	return run, nil
}

func (f *fakeEngine) FollowIngest(ctx context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	return f.Follow(ctx, id, after)
}

// fakeGraph holds one repository, "team/app", with the versions v1 and v1.1/rc.
type fakeGraph struct {
	mu      sync.Mutex
	read    time.Time // when the versions were read
	draws   int
	failing error
	panics  bool
}

func (g *fakeGraph) version(tag string) domain.VersionDetail {
	at := day
	return domain.VersionDetail{ID: 7, Repo: "team/app", Tag: tag, Commit: "c0ffee", CommittedAt: &at, IngestedAt: g.read, Files: 2, Symbols: 3}
}

func (g *fakeGraph) Repositories(context.Context) ([]domain.Repository, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return []domain.Repository{
		{Name: "empty", URL: "/srv/empty"},
		{Name: "local", Versions: []domain.VersionDetail{g.version(domain.WorktreeVersion)}},
		{Name: "team/app", URL: "https://bot:s3cret@git.example.com/team/app.git",
			Versions: []domain.VersionDetail{g.version("v1"), g.version("v1.1/rc")}},
	}, g.failing
}

func (g *fakeGraph) Version(_ context.Context, repo, tag string) (domain.VersionDetail, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if repo != "team/app" || (tag != "v1" && tag != "v1.1/rc") {
		return domain.VersionDetail{}, domain.NotFound("there is no version %q of %q; there are v1, v1.1/rc of team/app", tag, repo)
	}
	return g.version(tag), g.failing
}

func (g *fakeGraph) ReadFile(_ context.Context, at graph.FileRef, from, to int) (string, int, error) {
	return fmt.Sprintf("lines %d to %d of %s", from, to, at.Path), 99, nil
}

func (g *fakeGraph) FindSymbols(_ context.Context, ref graph.SymbolRef) ([]graph.Hit, error) {
	hit := func(name, receiver string, kind domain.SymbolKind, line int) graph.Hit {
		s := domain.Symbol{Name: name, Receiver: receiver, Kind: kind, Signature: "func " + name + "()", StartLine: line, EndLine: line + 2}
		return graph.Hit{Repo: ref.Repo, Version: ref.Version, Path: ref.File, Local: s.QualifiedName(), Symbol: s}
	}
	switch {
	case ref.Name == "main":
		return []graph.Hit{hit("main", "", domain.KindFunction, 3)}, nil
	case ref.Name == "Server":
		return []graph.Hit{hit("Server", "", domain.KindStruct, 10)}, nil
	case ref.Name == "Max":
		return []graph.Hit{hit("Max", "", domain.KindConstant, 20)}, nil
	case ref.Name == "Close" && ref.Line == 0:
		return []graph.Hit{hit("Close", "A", domain.KindMethod, 30), hit("Close", "B", domain.KindMethod, 40)}, nil
	case ref.Name == "B.Close", ref.Name == "Close" && ref.Line == 41:
		return []graph.Hit{hit("Close", "B", domain.KindMethod, 40)}, nil
	}
	return nil, nil
}

func (g *fakeGraph) Graph(_ context.Context, _, version string, maxNodes, maxEdges int) (graph.Picture, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.panics {
		panic("graph")
	}
	g.draws++
	return graph.Picture{
		Nodes: []graph.Node{
			{ID: "a.go:main", Name: "main", File: "a.go", Kind: "function", StartLine: 3, Signature: "func main()"},
			{ID: "a.go:Server.Run", Name: "Run", File: "a.go", Kind: "method", StartLine: 9, Signature: "func (s *Server[T]) Run() <-chan T"},
		},
		Edges:     []graph.Link{{ID: "calls:a.go:main>a.go:Server.Run", Source: "a.go:main", Target: "a.go:Server.Run", Relation: "calls", How: "exact"}},
		Truncated: version == "v1.1/rc", TotalNodes: maxNodes + maxEdges,
	}, g.failing
}

type fakeProviders struct {
	mu    sync.Mutex
	asked int
}

func (p *fakeProviders) Providers(context.Context) ([]domain.ProviderInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return []domain.ProviderInfo{
		{ID: "primary", Kind: "anthropic", Name: "Claude", DefaultModel: "m", Models: []domain.ModelInfo{{ID: "m", DisplayName: "M"}}},
		{ID: "offline-0", Kind: "offline", Name: "offline-0"},
	}, nil
}

type fakeDescriber struct{}

func (fakeDescriber) Names() []string { return []string{"dig", "drop"} }

func (fakeDescriber) CheckCommands(patterns []string) error {
	if i := slices.Index(patterns, "bad"); i >= 0 {
		return domain.Invalid(fmt.Sprintf("allowed_commands[%d]", i), "is no pattern")
	}
	return nil
}

func (fakeDescriber) Describe(name string, input json.RawMessage) string {
	if name == "panic" {
		panic("describer")
	}
	return "Using " + name + " with " + string(input)
}

// fakeProjects keeps groups and projects in memory.
type fakeProjects struct {
	mu       sync.Mutex
	groupsOf map[string][]domain.Group // by user; "": all
	projects map[string]domain.Project
	settings domain.ConfirmSettings
}

func newFakeProjects() *fakeProjects {
	red := domain.Group{ID: "red", Name: "Red", CreatedAt: day}
	return &fakeProjects{
		groupsOf: map[string][]domain.Group{"": {red}}, settings: domain.DefaultConfirmSettings(),
		projects: map[string]domain.Project{"p1": {ID: "p1", Name: "engine", GroupID: "red", GroupName: "Red", CreatedBy: domain.OwnerID, CreatedAt: day}},
	}
}

func (f *fakeProjects) Groups(_ context.Context, userID string) ([]domain.Group, error) {
	return f.groupsOf[userID], nil
}

func (f *fakeProjects) Projects(_ context.Context, who domain.Actor) (seen []domain.Project, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.projects {
		if p.VisibleTo(who) {
			seen = append(seen, p)
		}
	}
	return seen, nil
}

func (f *fakeProjects) Project(_ context.Context, id string) (domain.Project, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.projects[id]
	if !ok {
		return p, domain.NotFound("there is no project %q", id)
	}
	return p, nil
}

func (f *fakeProjects) CreateProject(_ context.Context, p domain.Project) (domain.Project, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.ID, p.GroupName, p.CreatedAt = fmt.Sprint("p", len(f.projects)+1), "Red", day
	f.projects[p.ID] = p
	return p, nil
}

func (f *fakeProjects) UpdateProject(_ context.Context, id string, name, description *string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.projects[id]
	if name != nil {
		p.Name = *name
	}
	if description != nil {
		p.Description = *description
	}
	f.projects[id] = p
	return nil
}

func (f *fakeProjects) MoveProject(_ context.Context, id, groupID string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.projects[id]
	p.GroupID = groupID
	f.projects[id] = p
	return nil
}

func (f *fakeProjects) ConfirmSettings(context.Context, string) (domain.ConfirmSettings, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settings, nil
}

func (f *fakeProjects) SetConfirmSettings(_ context.Context, _ string, c domain.ConfirmSettings) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settings = c
	return nil
}

// fakeActions holds an action of the owner's, one of another person, and one of project p1.
type fakeActions struct {
	mu        sync.Mutex
	rows      map[string]domain.Action
	decided   []domain.Decision
	performed []domain.Performance
}

func newFakeActions() *fakeActions {
	f := &fakeActions{rows: map[string]domain.Action{}}
	for _, a := range []domain.Action{
		{ID: "a1", TurnID: "turn-1", CallID: "c1", Requester: domain.OwnerID},
		{ID: "a2", TurnID: "t2", CallID: "c2", Requester: "grace"},
		{ID: "a3", TurnID: "t3", CallID: "c3", Requester: "grace", ProjectID: "p1", ConversationID: "c1"},
	} {
		a.Name, a.Input, a.Status, a.Nonce = "drop", json.RawMessage(`{"id":"x"}`), domain.ActionPending, "n-"+a.ID
		a.Hash, a.Description, a.CreatedAt, a.ExpiresAt = domain.ActionHash(a.Name, a.Input), domain.DescribeAction(a.Name, a.Input), day, day.Add(24*time.Hour)
		f.rows[a.ID] = a
	}
	return f
}

func (f *fakeActions) NotePerformed(_ context.Context, by domain.Performance) error {
	f.performed = append(f.performed, by)
	return nil
}

func (f *fakeActions) Action(_ context.Context, id string) (domain.Action, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.rows[id]
	if !ok {
		return a, domain.NotFound("there is no action %q", id)
	}
	return a, nil
}

func (f *fakeActions) some(is func(domain.Action) bool) (list []domain.Action) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range []string{"a1", "a2", "a3"} {
		if is(f.rows[id]) {
			list = append(list, f.rows[id])
		}
	}
	return list
}

func (f *fakeActions) Actions(_ context.Context, q domain.ActionQuery) ([]domain.Action, error) {
	list := f.some(func(a domain.Action) bool {
		return a.ProjectID == q.ProjectID && (q.ProjectID != "" || a.Requester == q.UserID) && (q.Status == "" || a.Status == q.Status) &&
			(q.Tool == "" || a.Name == q.Tool) && (q.ConversationID == "" || a.ConversationID == q.ConversationID) && (q.Before == "" || a.ID < q.Before)
	})
	slices.Reverse(list)
	if q.Limit > 0 {
		list = list[:min(q.Limit, len(list))]
	}
	return list, nil
}

func (f *fakeActions) ActionOf(_ context.Context, projectID, conversationID, name string) (domain.Action, error) {
	list := f.some(func(a domain.Action) bool {
		return a.ProjectID == projectID && a.ConversationID == conversationID && (a.ID == name || a.CallID == name)
	})
	if len(list) == 0 {
		return domain.Action{}, domain.NotFound("no action %q waits in this conversation", name)
	}
	return list[0], nil
}

func (f *fakeActions) WaitingActions(_ context.Context, turnID string) ([]domain.Action, error) {
	return f.some(func(a domain.Action) bool { return a.TurnID == turnID && a.Status == domain.ActionPending }), nil
}

func (f *fakeActions) DecideActions(_ context.Context, who domain.Actor, decisions []domain.Decision) ([]domain.Action, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []domain.Action
	for _, d := range decisions {
		a := f.rows[d.ActionID]
		switch {
		case a.Status != domain.ActionPending:
			return nil, domain.Errorf(domain.CodeConflict, "%s has decided action %s already", a.DecidedByName, a.ID)
		case !d.Reported && d.Nonce != a.Nonce:
			return nil, domain.Errorf(domain.CodeForbidden, "the nonce is wrong")
		}
		at := day
		a.Status, a.Nonce, a.DecidedBy, a.DecidedByName, a.DecidedAt, a.Reason, a.Reported = d.Status, "", who.UserID, who.Name, &at, d.Reason, d.Reported
		f.rows[a.ID], list, f.decided = a, append(list, a), append(f.decided, d)
	}
	return list, nil
}
