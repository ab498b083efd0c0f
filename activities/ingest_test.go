package activities_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/flow"
	"github.com/harvest-engine/harvest/internal/obs"
	"github.com/harvest-engine/harvest/workflows"
)

// runActivity runs an activity in Temporal's test environment.
func runActivity[In, Out any](t *testing.T, handle flow.Activity[In, Out], do func(context.Context, In) (Out, error), in In) (out Out, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	handle.Register(env, do)
	value, err := env.ExecuteActivity(handle.Name, in)
	if err != nil {
		return out, err
	}
	return out, value.Get(&out)
}

// ingestFake is the store, the sources, the reader and the graph of one run.
type ingestFake struct {
	unchanged              bool // of folders
	forgotten              []string
	activities.IngestStore // what a test does not play is a nil call

	mu       sync.Mutex
	conflict bool
	skipped  []domain.IngestOrder
	claim    domain.VersionClaim
	planned  []domain.VersionRef
	notes    []domain.IngestProgress
	noted    chan struct{} // told of each note that was stored, where set
	noteErr  error
	failing  int // so many notes can't be stored

	versions map[string]string // tag to the commit that was read
	sync     func(note func(domain.IngestProgress)) ([]domain.VersionRef, error)
	read     func(ctx context.Context, note func(domain.IngestProgress)) (domain.VersionDetail, error)
	reads    int

	dropErr, deleteErr error
}

func (f *ingestFake) activities() *activities.Ingest {
	return &activities.Ingest{Store: f, Sources: f, Reader: f, Graph: f}
}

func (f *ingestFake) CreateIngest(_ context.Context, order domain.IngestOrder) (domain.Ingest, error) {
	if f.conflict {
		return domain.Ingest{}, domain.Errorf(domain.CodeConflict, "busy")
	}
	return domain.Ingest{ID: order.ID}, nil
}

func (f *ingestFake) SkipIngest(_ context.Context, order domain.IngestOrder) error {
	f.skipped = append(f.skipped, order)
	return nil
}

func (f *ingestFake) StartIngest(_ context.Context, id string) (domain.Ingest, error) {
	return domain.Ingest{ID: id, Status: domain.IngestRunning}, nil
}

func (f *ingestFake) ClaimVersion(context.Context, string, string) (domain.VersionClaim, error) {
	return f.claim, nil
}

func (f *ingestFake) PlanVersions(_ context.Context, _ string, refs []domain.VersionRef) error {
	f.planned = refs
	return nil
}

func (f *ingestFake) NoteProgress(_ context.Context, _ string, _ int, p domain.IngestProgress) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failing--; f.failing >= 0 || f.noteErr != nil {
		return cmp.Or(f.noteErr, errors.New("connection reset"))
	}
	f.notes = append(f.notes, p)
	if f.noted != nil {
		f.noted <- struct{}{}
	}
	return nil
}

func (f *ingestFake) EndIngest(_ context.Context, id string, code domain.Code, message string) (domain.Ingest, error) {
	status := domain.IngestDone
	if code != "" {
		status = domain.IngestFailed
	}
	return domain.Ingest{ID: id, Repository: "r", Status: status, ErrorCode: code, Error: message, Versions: []domain.IngestProgress{{Version: "v1"}, {Version: "v2", Error: "broken"}}}, nil
}

func (f *ingestFake) Repository(_ context.Context, name string) (domain.Repository, error) {
	return domain.Repository{Name: name}, nil
}

func (f *ingestFake) Repositories(context.Context) ([]domain.Repository, error) {
	return []domain.Repository{{Name: "other"}, {Name: "r"}}, nil
}

func (f *ingestFake) Unchanged(_ context.Context, _ domain.Repository, ref domain.VersionRef) (bool, error) {
	return f.unchanged && ref.Commit == "", nil
}

func (f *ingestFake) Forget(_ context.Context, repo domain.Repository, others []domain.Repository) error {
	f.forgotten = append(f.forgotten, repo.Name)
	for _, other := range others {
		f.forgotten = append(f.forgotten, "not "+other.Name)
	}
	return nil
}

func (f *ingestFake) Version(_ context.Context, _, tag string) (domain.VersionDetail, error) {
	commit, ok := f.versions[tag]
	if !ok {
		return domain.VersionDetail{}, domain.NotFound("no version %s", tag)
	}
	return domain.VersionDetail{Tag: tag, Commit: commit}, nil
}

func (f *ingestFake) DeleteRepository(context.Context, string) error { return f.deleteErr }

func (f *ingestFake) DropRepository(context.Context, string) error { return f.dropErr }

func (f *ingestFake) Sync(_ context.Context, _ domain.Repository, note func(domain.IngestProgress)) ([]domain.VersionRef, error) {
	return f.sync(note)
}

func (f *ingestFake) Ingest(ctx context.Context, _ domain.Repository, _ domain.VersionRef, note func(domain.IngestProgress)) (domain.VersionDetail, error) {
	f.reads++
	return f.read(ctx, note)
}

func TestBeginOfASchedule(t *testing.T) {
	t.Parallel()
	in := workflows.BeginIngestInput{IngestID: "i", Repository: "r", Scheduled: true, WorkflowID: "watch/r-1"}
	free := &ingestFake{}
	if out, err := runActivity(t, workflows.BeginIngest, free.activities().Begin, in); err != nil || !out.Go {
		t.Errorf("a free repository: %+v, %v", out, err)
	}
	busy := &ingestFake{conflict: true}
	out, err := runActivity(t, workflows.BeginIngest, busy.activities().Begin, in)
	if err != nil || out.Go || out.Status != domain.IngestSkipped || len(busy.skipped) != 1 || busy.skipped[0].WorkflowID != "watch/r-1" {
		t.Errorf("a busy repository: %+v, %v, recorded %+v", out, err, busy.skipped)
	}
}

func TestSyncPlansWhatHasMoved(t *testing.T) {
	t.Parallel()
	refs := []domain.VersionRef{{Tag: "main", Commit: "new"}, {Tag: "v1", Commit: "same"}, {Tag: "v2", Commit: "first"}, {Tag: domain.WorktreeVersion}}
	f := &ingestFake{versions: map[string]string{"main": "old", "v1": "same", domain.WorktreeVersion: ""}}
	f.sync = func(note func(domain.IngestProgress)) ([]domain.VersionRef, error) {
		note(domain.IngestProgress{Phase: "fetch", BytesDone: 7})
		return refs, nil
	}
	for onlyMoved, want := range map[bool]string{true: "main v2 worktree", false: "main v1 v2 worktree"} {
		out, err := runActivity(t, workflows.SyncIngest, f.activities().Sync, workflows.SyncIngestInput{IngestID: "i", Repository: "r", OnlyMoved: onlyMoved})
		if err != nil {
			t.Fatal(err)
		}
		tags := ""
		for _, ref := range f.planned {
			tags += " " + ref.Tag
		}
		if tags != " "+want || out.Versions != len(f.planned) {
			t.Errorf("only moved %v: planned%s (%d), want %s", onlyMoved, tags, out.Versions, want)
		}
	}
	f.unchanged = true
	out, err := runActivity(t, workflows.SyncIngest, f.activities().Sync, workflows.SyncIngestInput{IngestID: "i", Repository: "r", OnlyMoved: true})
	if err != nil || out.Versions != 2 || len(f.planned) != 2 || f.planned[1].Tag != "v2" {
		t.Errorf("with a folder that is as it was: %+v, %v, planned %+v", out, err, f.planned)
	}
	other := f.activities()
	other.OtherGraph = true
	out, err = runActivity(t, workflows.SyncIngest, other.Sync, workflows.SyncIngestInput{IngestID: "i", Repository: "r", OnlyMoved: true})
	if err != nil || out.Versions != len(refs) {
		t.Errorf("after another graph was chosen %+v, %v; want all versions", out, err)
	}
	f.sync = func(func(domain.IngestProgress)) ([]domain.VersionRef, error) { return nil, nil }
	_, err = runActivity(t, workflows.SyncIngest, f.activities().Sync, workflows.SyncIngestInput{IngestID: "i", Repository: "r"})
	if err == nil {
		t.Error("a repository without any version must fail")
	}
}

func TestVersionReportsAtAMeasuredPace(t *testing.T) {
	t.Parallel()
	f := &ingestFake{claim: domain.VersionClaim{Attempt: 3}}
	f.read = func(_ context.Context, note func(domain.IngestProgress)) (domain.VersionDetail, error) {
		tick, over := time.NewTicker(time.Millisecond), time.After(600*time.Millisecond)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-tick.C:
			case <-over:
				return domain.VersionDetail{Commit: "c", Files: 12, Symbols: 30}, nil
			}
			note(domain.IngestProgress{Repository: "forgotten", Phase: "parse", FilesDone: n, BytesDone: int64(n)})
		}
	}
	out, err := runActivity(t, workflows.ReadVersion, f.activities().Version, workflows.IngestVersionInput{IngestID: "i", Repository: "r", Tag: "v1"})
	if err != nil || out != (workflows.IngestVersionResult{Commit: "c", Files: 12, Symbols: 30}) {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(f.notes) < 3 || len(f.notes) > 6 {
		t.Errorf("%d events in 0.6 s, want one at the start, about four a second, and the end", len(f.notes))
	}
	last := f.notes[len(f.notes)-1]
	if last.Phase != "done" || last.Version != "v1" || last.Repository != "r" || last.FilesDone != 12 || last.Symbols != 30 || last.BytesDone == 0 {
		t.Errorf("last event %+v", last)
	}
}

func TestVersionThatWasReadIsNotReadAgain(t *testing.T) {
	t.Parallel()
	f := &ingestFake{claim: domain.VersionClaim{
		VersionRef: domain.VersionRef{Commit: "c"}, Done: true, Progress: domain.IngestProgress{FilesDone: 2, Symbols: 5},
	}}
	out, err := runActivity(t, workflows.ReadVersion, f.activities().Version, workflows.IngestVersionInput{IngestID: "i", Repository: "r", Tag: "v1"})
	if err != nil || f.reads != 0 || out != (workflows.IngestVersionResult{Commit: "c", Files: 2, Symbols: 5}) {
		t.Errorf("%+v after %d reads, %v", out, f.reads, err)
	}
}

// A worker that was cut off learns from the log that another has taken over, and stops.
func TestVersionStopsWhenItIsSuperseded(t *testing.T) {
	t.Parallel()
	f := &ingestFake{noteErr: domain.Errorf(domain.CodeSuperseded, "a later attempt has taken over")}
	f.read = func(ctx context.Context, _ func(domain.IngestProgress)) (domain.VersionDetail, error) {
		<-ctx.Done()
		return domain.VersionDetail{}, ctx.Err()
	}
	_, err := runActivity(t, workflows.ReadVersion, func(ctx context.Context, in workflows.IngestVersionInput) (workflows.IngestVersionResult, error) {
		out, err := f.activities().Version(ctx, in)
		if domain.CodeOf(err) != domain.CodeSuperseded {
			t.Errorf("error %v, want superseded", err)
		}
		return out, nil
	}, workflows.IngestVersionInput{IngestID: "i", Repository: "r", Tag: "v1"})
	if err != nil {
		t.Fatal(err)
	}
}

// A database that is away for a moment loses no event for good.
func TestVersionWritesAgainWhatCouldNotBeWritten(t *testing.T) {
	t.Parallel()
	f := &ingestFake{failing: 2, noted: make(chan struct{}, 10)}
	f.read = func(_ context.Context, note func(domain.IngestProgress)) (domain.VersionDetail, error) {
		note(domain.IngestProgress{Phase: "parse", FilesDone: 5})
		<-f.noted
		return domain.VersionDetail{}, nil
	}
	_, err := runActivity(t, workflows.ReadVersion, f.activities().Version, workflows.IngestVersionInput{IngestID: "i", Repository: "r", Tag: "v1"})
	if err != nil || f.notes[0].FilesDone != 5 {
		t.Errorf("notes %+v, %v", f.notes, err)
	}
}

// Those who wait learn why a step is tried again, and not of a step that never will be.
func TestASetbackIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		told string
	}{
		{domain.Errorf(domain.CodeUnavailable, "its host does not answer"), "its host does not answer"},
		{domain.NotFound("there is no such branch"), ""},
	} {
		f := &ingestFake{claim: domain.VersionClaim{Attempt: 1}}
		f.sync = func(func(domain.IngestProgress)) ([]domain.VersionRef, error) { return nil, c.err }
		_, err := runActivity(t, workflows.SyncIngest, f.activities().Sync, workflows.SyncIngestInput{IngestID: "i", Repository: "r"})
		if err == nil {
			t.Fatal("no error")
		}
		if last := f.notes[len(f.notes)-1]; last.Waiting != c.told || last.Repository != "r" {
			t.Errorf("%v: noted %+v, want the reason %q", c.err, last, c.told)
		}
	}
}

func TestDropIsIdempotent(t *testing.T) {
	t.Parallel()
	in := workflows.DeleteRepositoryInput{IngestID: "d", Repository: "r"}
	f := &ingestFake{deleteErr: domain.NotFound("it is gone already")}
	if _, err := runActivity(t, workflows.DropRepository, f.activities().Drop, in); err != nil {
		t.Errorf("a second attempt: %v", err)
	}
	if want := []string{"r", "not other"}; !slices.Equal(f.forgotten, want) {
		t.Errorf("what was fetched: forgot %q, want %q", f.forgotten, want)
	}
	f.dropErr = errors.New("the graph is away")
	if _, err := runActivity(t, workflows.DropRepository, f.activities().Drop, in); err == nil {
		t.Error("a graph that does not forget must fail the attempt")
	}
}

func TestFinishCountsFailures(t *testing.T) {
	t.Parallel()
	out, err := runActivity(t, workflows.FinishIngest, (&ingestFake{}).activities().Finish, workflows.FinishIngestInput{IngestID: "i"})
	if err != nil || out != (workflows.IngestResult{IngestID: "i", Status: domain.IngestDone, Versions: 2, Failed: 1}) {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestFailedIngestsAreLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := obs.New(&out, obs.FormatJSON, "warn", "worker")
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(obs.TemporalLogger(log))
	env := suite.NewTestActivityEnvironment()
	workflows.FinishIngest.Register(env, (&ingestFake{}).activities().Finish)
	_, err = env.ExecuteActivity(workflows.FinishIngest.Name, workflows.FinishIngestInput{IngestID: "i", Code: domain.CodeNotFound, Message: "there is no branch"})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"event":"ingest_failed"`, `"level":"error"`, `"ingest_id":"i"`, `"repository":"r"`, `"reason":"there is no branch"`} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the log lacks %s:\n%s", part, out.String())
		}
	}
}

func TestFailureLeavesCancellationsAlone(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, context.Canceled, fmt.Errorf("read: %w", context.Canceled), temporal.NewCanceledError()} {
		if got := activities.Failure(err); !errors.Is(got, err) {
			t.Errorf("Failure(%v) = %v, want it as it is", err, got)
		}
	}
}
