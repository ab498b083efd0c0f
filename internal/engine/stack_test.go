package engine_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkclient "go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/obs"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

// patience bounds waits for what must come: generous, since machines under test are busy.
const patience = 5 * time.Minute

// replays holds recorded histories, by release, and the key of all payloads of these tests; latest
// is where those go that are recorded now.
const (
	replays = "../../workflows/testdata/replay"
	latest  = replays + "/next"
)

var record = flag.Bool("record", false, "keep the histories of ingestions for the replay tests")

// keep records the history of a closed workflow for the replay tests, with -record.
func (s *stack) keep(t *testing.T, workflowID, name string) {
	t.Helper()
	closed(t, s.client, workflowID)
	history := &historypb.History{Events: s.history(t, workflowID)}
	if !*record {
		return
	}
	kind := history.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()
	text, err := protojson.Marshal(history)
	if err == nil {
		err = os.MkdirAll(filepath.Join(latest, kind), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(latest, kind, name+".json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stack is an engine and a worker on real servers, over a reader that the test plays.
type stack struct {
	*engine.Engine
	client       sdkclient.Client
	pool         *pgxpool.Pool
	store        *postgres.Store
	repositories *fakeRepositories
	reader       *playedReader
	graph        *droppedGraph
	config       worker.Config
	worker       *worker.Worker
}

func newStack(t *testing.T) *stack {
	t.Helper()
	return newStackOn(t, workflows.CombinedQueues("test-"+domain.NewID()))
}

// readableRepository makes a repository "r" that queries may be limited to.
const readableRepository = `with r as (insert into repositories (name) values ('r') returning id)
insert into versions (repo_id, tag, live) select id, 'v1', true from r`

func newStackOn(t *testing.T, queues workflows.Queues) *stack {
	t.Helper()
	ctx := t.Context()
	servers := testkit.Stack(t)
	keys, err := os.ReadFile(filepath.Join(replays, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := worker.ParseKeyring(string(keys))
	if err != nil {
		t.Fatal(err)
	}
	codec, err := worker.NewCodec(ring)
	if err != nil {
		t.Fatal(err)
	}
	log := zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	client, err := worker.Dial(ctx, worker.Connection{
		Address: servers.TemporalAddress, Namespace: servers.TemporalNamespace, Codec: codec, Log: obs.TemporalLogger(log),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	pool, err := postgres.Open(ctx, servers.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(ctx, readableRepository); err != nil {
		t.Fatal(err)
	}
	s := &stack{client: client, pool: pool, store: postgres.NewStore(pool), graph: &droppedGraph{}}
	s.repositories = &fakeRepositories{saved: map[string]domain.Repository{}}
	s.reader = &playedReader{}
	s.config = worker.Config{Client: client, Queues: queues, Log: log, Activities: worker.Activities{
		Turn:    &activities.Turn{Store: s.store, Sources: pg.New(pool), Symbols: pg.New(pool)},
		Model:   &activities.Model{Store: s.store, Models: playedModel(t), Tools: playedTools()},
		Tool:    &activities.Tool{Store: s.store, Tools: playedTools()},
		Action:  &activities.Action{Store: s.store, Tools: playedTools()},
		Ingest:  &activities.Ingest{Store: s.store, Sources: s.repositories, Reader: s.reader, Graph: s.graph},
		Command: &activities.Command{Store: s.store},
	}}
	serve, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- s.store.Serve(serve) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	s.startWorker(t)
	s.Engine, err = engine.New(ctx, engine.Config{
		Temporal: client, Namespace: servers.TemporalNamespace, Turns: s.store, Actions: s.store, Projects: s.store, Ingests: s.store, Commands: s.store, Events: s.store, Repositories: s.repositories, House: s.store,
		Queues: queues, Owner: "owner", Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stack) startWorker(t *testing.T) {
	t.Helper()
	var err error
	if s.worker, err = worker.New(s.config); err == nil {
		err = s.worker.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.worker.Stop)
}

// history reads all events of a workflow's newest run.
func (s *stack) history(t *testing.T, id string) []*historypb.HistoryEvent {
	t.Helper()
	return s.historyOf(t, id, "")
}

func (s *stack) historyOf(t *testing.T, id, runID string) []*historypb.HistoryEvent {
	t.Helper()
	var events []*historypb.HistoryEvent
	pages := s.client.GetWorkflowHistory(t.Context(), id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for pages.HasNext() {
		event, err := pages.Next()
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// end follows a run to its end and gives its events.
func (s *stack) end(t *testing.T, id string) (domain.Ingest, []domain.Event) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var events []domain.Event
	for event, err := range s.FollowIngest(ctx, id, domain.Cursor{}) {
		if err != nil {
			t.Fatalf("follow ingest: %v", err)
		}
		events = append(events, event)
	}
	run, err := s.Ingest(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return run, events
}

// playedReader offers versions and reads them as the test says.
type playedReader struct {
	mu       sync.Mutex
	versions []domain.VersionRef
	read     func(ctx context.Context, ref domain.VersionRef, progress func(domain.IngestProgress)) error
	times    map[string]int
}

func (r *playedReader) Sync(_ context.Context, _ domain.Repository, progress func(domain.IngestProgress)) ([]domain.VersionRef, error) {
	progress(domain.IngestProgress{Phase: "fetch", BytesDone: 1})
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.versions) == 0 {
		return nil, domain.Errorf(domain.CodeUpstream, "the address answers with a sign-in page")
	}
	return r.versions, nil
}

func (r *playedReader) Ingest(ctx context.Context, _ domain.Repository, ref domain.VersionRef, progress func(domain.IngestProgress)) (domain.VersionDetail, error) {
	r.mu.Lock()
	if r.times == nil {
		r.times = map[string]int{}
	}
	r.times[ref.Tag]++
	read := r.read
	r.mu.Unlock()
	progress(domain.IngestProgress{Phase: "parse", FilesDone: 1, FilesTotal: 2})
	if read != nil {
		if err := read(ctx, ref, progress); err != nil {
			return domain.VersionDetail{}, err
		}
	}
	return domain.VersionDetail{Commit: ref.Commit, Files: 2, Symbols: 7}, nil
}

func (r *playedReader) Unchanged(context.Context, domain.Repository, domain.VersionRef) (bool, error) {
	return false, nil
}

func (r *playedReader) Forget(context.Context, domain.Repository, []domain.Repository) error {
	return nil
}

// Version lets the fake repositories stand in for the sources: nothing was read before.
func (f *fakeRepositories) Version(_ context.Context, repo, tag string) (domain.VersionDetail, error) {
	return domain.VersionDetail{}, domain.NotFound("%s has no version %s", repo, tag)
}

func (f *fakeRepositories) DeleteRepository(_ context.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.saved[name]; !ok {
		return domain.NotFound("no repository %s", name)
	}
	delete(f.saved, name)
	return nil
}

type droppedGraph struct {
	mu    sync.Mutex
	names []string
}

func (g *droppedGraph) DropRepository(_ context.Context, name string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names = append(g.names, name)
	return nil
}

func TestIngestOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const secret = "its tree is broken beyond repair"
	s.reader.versions = []domain.VersionRef{{Tag: "v1", Commit: "c1"}, {Tag: "release/v2", Commit: "c2"}, {Tag: "v3", Commit: "c3"}}
	s.reader.read = func(_ context.Context, ref domain.VersionRef, _ func(domain.IngestProgress)) error {
		if ref.Tag == "release/v2" {
			return domain.Errorf(domain.CodeUnprocessable, secret)
		}
		return nil
	}
	run, err := s.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", Name: "team/app", URL: "https://git.example.com/team/app"})
	if err != nil {
		t.Fatal(err)
	}
	run, events := s.end(t, run.ID)
	if run.Status != domain.IngestFailed || len(run.Versions) != 3 || !strings.Contains(run.Error, "1 of 3 versions of team/app could not be read: release/v2: "+secret) {
		t.Errorf("run %+v, want one failed version with its reason", run)
	}
	if last := events[len(events)-1]; last.Type != domain.EventIngestFailed || events[0].Cursor.Seq != 1 {
		t.Errorf("events end with %s and begin at %v", last.Type, events[0].Cursor)
	}

	id := workflows.IngestWorkflowID(run.ID)
	for _, workflowID := range []string{id, id + "/v1", id + "/release/v2"} {
		closed(t, s.client, workflowID)
		history := s.history(t, workflowID)
		if len(history) > 60 {
			t.Errorf("%s has %d events", workflowID, len(history))
		}
		for _, event := range history {
			if wire, err := proto.Marshal(event); err != nil || bytes.Contains(wire, []byte(secret)) || bytes.Contains(wire, []byte("only_moved")) {
				t.Errorf("%s: event %d is in clear (%v)", workflowID, event.EventId, err)
			}
		}
		fields := history[0].GetWorkflowExecutionStartedEventAttributes().GetSearchAttributes().GetIndexedFields()
		if string(fields["HarvestKind"].GetData()) != `"ingest"` || string(fields["HarvestSubject"].GetData()) != fmt.Sprintf("%q", run.ID) {
			t.Errorf("%s has search attributes %v", workflowID, fields)
		}
	}
	s.keep(t, id, "one-version-of-three-fails")
	s.keep(t, id+"/v1", "a-version-that-is-read")
	s.keep(t, id+"/release/v2", "a-version-that-fails")
}

// latestRun gives the workflow of the newest run of a repository, which may have ended.
func (s *stack) latestRun(t *testing.T, repository string) (workflowID string) {
	t.Helper()
	err := s.pool.QueryRow(t.Context(), "select workflow_id from ingests where repository = $1 order by created_at desc limit 1", repository).Scan(&workflowID)
	if err != nil {
		t.Fatal(err)
	}
	return workflowID
}

// closed waits for a workflow to close, whatever its outcome.
func closed(t *testing.T, client sdkclient.Client, id string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	_ = client.GetWorkflow(ctx, id, "").Get(ctx, nil)
	if ctx.Err() != nil {
		t.Fatalf("workflow %s does not close", id)
	}
}

func TestIngestFailsLoudlyWhereTheAddressIsWrong(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	run, err := s.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/team/app"})
	if err != nil {
		t.Fatal(err)
	}
	if run, _ = s.end(t, run.ID); run.Status != domain.IngestFailed || run.ErrorCode != domain.CodeUpstream || run.Error != "the address answers with a sign-in page" {
		t.Errorf("run %+v, want the reason of the fetch", run)
	}
	s.keep(t, workflows.IngestWorkflowID(run.ID), "a-fetch-that-fails")
}

// A worker that stops in the middle hands its versions over; what was read is not read again.
func TestIngestGoesOnWithAnotherWorker(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.reader.versions = []domain.VersionRef{{Tag: "v1", Commit: "c1"}, {Tag: "v2", Commit: "c2"}}
	inV2 := make(chan struct{}, 2)
	s.reader.read = func(ctx context.Context, ref domain.VersionRef, _ func(domain.IngestProgress)) error {
		if ref.Tag == "v2" {
			inV2 <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	run, err := s.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/team/app"})
	if err != nil {
		t.Fatal(err)
	}
	<-inV2
	for event, err := range s.FollowIngest(t.Context(), run.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(event.Payload, []byte(`"version":"v1"`)) && bytes.Contains(event.Payload, []byte(`"done"`)) {
			break
		}
	}
	stopped := time.Now()
	s.worker.Stop()
	s.reader.mu.Lock()
	s.reader.read = nil
	s.reader.mu.Unlock()
	s.startWorker(t)
	if run, _ = s.end(t, run.ID); run.Status != domain.IngestDone {
		t.Errorf("run %+v, want done", run)
	}
	if s.reader.times["v1"] != 1 || s.reader.times["v2"] != 2 {
		t.Errorf("versions were read %v times, want v1 once and v2 twice", s.reader.times)
	}
	if took := time.Since(stopped); took > 15*time.Second {
		t.Errorf("it took %v to go on", took)
	}
	s.keep(t, workflows.IngestWorkflowID(run.ID), "another-worker-takes-over")
	s.keep(t, workflows.IngestVersionWorkflowID(run.ID, "v2"), "another-worker-takes-over")
}

func TestDeleteOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.reader.versions = []domain.VersionRef{{Tag: "v1", Commit: "c1"}}
	reading := make(chan struct{})
	s.reader.read = func(ctx context.Context, _ domain.VersionRef, _ func(domain.IngestProgress)) error {
		close(reading)
		<-ctx.Done()
		return ctx.Err()
	}
	name := "watched-" + domain.NewID()
	run, err := s.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", Name: name, URL: "https://git.example.com/team/app", Watch: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	<-reading
	schedule := s.client.ScheduleClient().GetHandle(t.Context(), workflows.WatchScheduleID(name))
	if _, err := schedule.Describe(t.Context()); err != nil {
		t.Errorf("the watch has no schedule: %v", err)
	}
	begun := time.Now()
	if err := s.DeleteRepository(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("the deletion took %v", took)
	}
	if ended, _ := s.Ingest(t.Context(), run.ID); ended.Status != domain.IngestCanceled {
		t.Errorf("the run that read it is %+v, want canceled", ended)
	}
	if len(s.graph.names) != 1 || len(s.repositories.saved) != 0 {
		t.Errorf("dropped %v, still saved %v", s.graph.names, s.repositories.saved)
	}
	if _, err := schedule.Describe(t.Context()); err == nil {
		t.Error("the watch is still scheduled")
	}
	s.keep(t, workflows.IngestWorkflowID(run.ID), "canceled-by-a-deletion")
	s.keep(t, workflows.IngestVersionWorkflowID(run.ID, "v1"), "canceled-by-a-deletion")
	s.keep(t, s.latestRun(t, name), "a-deletion")
}

// More versions than one run reads: it continues as new, and no run's history is long.
func TestManyVersionsOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for n := range 60 {
		s.reader.versions = append(s.reader.versions, domain.VersionRef{Tag: fmt.Sprintf("v%d", n), Commit: fmt.Sprintf("c%d", n)})
	}
	run, err := s.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/team/app"})
	if err != nil {
		t.Fatal(err)
	}
	if run, _ = s.end(t, run.ID); run.Status != domain.IngestDone || len(run.Versions) != 60 {
		t.Fatalf("run %s with %d versions: %s", run.Status, len(run.Versions), run.Error)
	}
	id := workflows.IngestWorkflowID(run.ID)
	closed(t, s.client, id)
	last := s.history(t, id)
	first := last[0].GetWorkflowExecutionStartedEventAttributes().GetFirstExecutionRunId()
	if first == last[0].GetWorkflowExecutionStartedEventAttributes().GetOriginalExecutionRunId() {
		t.Error("the run did not continue as new")
	}
	begun := s.historyOf(t, id, first)
	bytes := 0
	for _, event := range begun {
		bytes += proto.Size(event)
	}
	if len(begun) > 600 || bytes > 256<<10 {
		t.Errorf("fifty versions make a history of %d events and %d bytes", len(begun), bytes)
	}
	s.keep(t, id, "the-last-of-many-versions")
}

// A watch's run makes its own row, or says that it was skipped.
func TestWatchOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.reader.versions = []domain.VersionRef{{Tag: "v1", Commit: "c1"}}
	name := "watched-" + domain.NewID()
	run, err := s.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", Name: name, URL: "https://git.example.com/team/app", Watch: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if run, _ = s.end(t, run.ID); run.Status != domain.IngestDone {
		t.Fatalf("first run %+v", run)
	}
	handle := s.client.ScheduleClient().GetHandle(t.Context(), workflows.WatchScheduleID(name))
	t.Cleanup(func() { _ = handle.Delete(context.Background()) })
	if err := handle.Trigger(t.Context(), sdkclient.ScheduleTriggerOptions{}); err != nil {
		t.Fatal(err)
	}
	result := watchResult(t, s.client, handle)
	if ran, err := s.Ingest(t.Context(), result.IngestID); err != nil || ran.Status != domain.IngestDone || ran.Repository != name {
		t.Errorf("the watch's run %+v, %v", ran, err)
	}
	if _, err := s.store.CreateIngest(t.Context(), domain.IngestOrder{ID: domain.NewID(), Repository: name, Kind: domain.IngestRead}); err != nil {
		t.Fatal(err)
	}
	if err := handle.Trigger(t.Context(), sdkclient.ScheduleTriggerOptions{}); err != nil {
		t.Fatal(err)
	}
	result = watchResult(t, s.client, handle)
	if result.Status != domain.IngestSkipped {
		t.Errorf("a watch that finds the repository busy: %+v, want skipped", result)
	}
	if skipped, err := s.Ingest(t.Context(), result.IngestID); err != nil || skipped.Status != domain.IngestSkipped {
		t.Errorf("the skipped run %+v, %v", skipped, err)
	}
}

// watchResult waits for the newest run of a schedule that was just triggered.
func watchResult(t *testing.T, client sdkclient.Client, handle sdkclient.ScheduleHandle) (result workflows.IngestResult) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for ctx.Err() == nil {
		described, err := handle.Describe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		actions := described.Info.RecentActions
		if len(actions) == described.Info.NumActions && len(actions) > 0 {
			last := actions[len(actions)-1].StartWorkflowResult
			if err := client.GetWorkflow(ctx, last.WorkflowID, last.FirstExecutionRunID).Get(ctx, &result); err != nil {
				t.Fatal(err)
			}
			return result
		}
	}
	t.Fatal("the schedule does not start its workflow")
	return result
}
