package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/workflows"
)

func TestStartTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	req := domain.TurnRequest{
		UserID: "owner", ConversationID: "c1", Query: "Where is\nthe door? " + strings.Repeat("x", 60<<20),
		Repositories: []string{"r"}, IdempotencyKey: "k1",
	}
	turn, err := e.StartTurn(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.StartTurn(ctx, req); err != nil || again.ID != turn.ID {
		t.Errorf("the same key again gives %q, %v; want %q", again.ID, err, turn.ID)
	}
	if len(f.temporal.started) != 1 {
		t.Fatalf("%d workflows were started, want 1", len(f.temporal.started))
	}
	options := f.temporal.started[0]
	if options.ID != "turn/"+turn.ID || options.TaskQueue != "turns" || !options.EnableEagerStart ||
		options.WorkflowIDReusePolicy != enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE {
		t.Errorf("started with %+v", options)
	}
	if options.TypedSearchAttributes.Size() != 5 {
		t.Errorf("%d search attributes, want kind, user, conversation, subject and repositories", options.TypedSearchAttributes.Size())
	}
	if !strings.HasPrefix(options.StaticSummary, "Where is the door? xxx") || len(options.StaticSummary) > 200 || len(options.StaticDetails) > 16<<10 {
		t.Errorf("a summary of %d and details of %d bytes", len(options.StaticSummary), len(options.StaticDetails))
	}
}

func TestSearchAttributesThatAreMissingAreDropped(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{attributes: map[string]enumspb.IndexedValueType{
		"HarvestKind": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"HarvestUser": enumspb.INDEXED_VALUE_TYPE_TEXT, // another's, of another type
	}, states: map[string]enumspb.WorkflowExecutionStatus{}}
	e, _ := newEngine(t, func(c *engine.Config) { c.Temporal = f })
	if _, err := e.StartTurn(context.Background(), domain.TurnRequest{UserID: "owner", Query: "q"}); err != nil {
		t.Fatal(err)
	}
	if got := f.started[0].TypedSearchAttributes.Size(); got != 1 {
		t.Errorf("%d search attributes, want HarvestKind alone", got)
	}
}

func TestATurnThatCannotBeStartedIsStartedBySweeping(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	f.temporal.down = errors.New("connection refused")
	turn, err := e.StartTurn(ctx, domain.TurnRequest{UserID: "owner", Query: "q"})
	if err != nil || turn.ID == "" {
		t.Fatalf("a turn that is stored is accepted: %+v, %v", turn, err)
	}
	run, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/r"})
	if err != nil || run.ID == "" {
		t.Fatalf("a run that is stored is accepted: %+v, %v", run, err)
	}
	if err := e.Sweep(ctx); err == nil {
		t.Error("a sweep that can't reach Temporal must say so")
	}
	f.temporal.down = nil
	for range 2 {
		if err := e.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.temporal.started) != 2 {
		t.Errorf("%d workflows were started, want 2", len(f.temporal.started))
	}
}

// The workflow was started, but its starter died before it could say so.
func TestSweepFindsTheWorkflowStarted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	turn, _, _ := f.turns.CreateTurn(ctx, domain.TurnRequest{UserID: "owner", Query: "q"})
	f.temporal.states["turn/"+turn.ID] = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	if err := e.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if turn, _ := e.Turn(ctx, turn.ID); !turn.Launched || len(f.temporal.started) != 0 {
		t.Errorf("launched %v after %d starts", turn.Launched, len(f.temporal.started))
	}
}

func TestReconcileEndsWhatHasNoWorkflow(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		state  enumspb.WorkflowExecutionStatus
		status domain.TurnStatus
		code   domain.Code
		ingest domain.IngestStatus
	}{
		"terminated": {enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, domain.TurnCanceled, domain.CodeCanceled, domain.IngestCanceled},
		"canceled":   {enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, domain.TurnCanceled, domain.CodeCanceled, domain.IngestCanceled},
		"timed out":  {enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT, domain.TurnFailed, domain.CodeInternal, domain.IngestFailed},
		"failed":     {enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, domain.TurnFailed, domain.CodeInternal, domain.IngestFailed},
		"completed":  {enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, domain.TurnFailed, domain.CodeInternal, domain.IngestFailed},
		"gone":       {0, domain.TurnFailed, domain.CodeInternal, domain.IngestFailed},
		"running":    {enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, domain.TurnQueued, "", domain.IngestRunning},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			e, f := newEngine(t)
			turn, err := e.StartTurn(ctx, domain.TurnRequest{UserID: "owner", Query: "q"})
			if err != nil {
				t.Fatal(err)
			}
			run, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/r"})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"turn/" + turn.ID, workflows.IngestWorkflowID(run.ID)} {
				f.temporal.states[id] = c.state
				if c.state == 0 {
					delete(f.temporal.states, id)
				}
			}
			for range 2 {
				if err := e.Reconcile(ctx); err != nil {
					t.Fatal(err)
				}
			}
			turn, _ = e.Turn(ctx, turn.ID)
			if turn.Status != c.status || turn.ErrorCode != c.code || turn.Status.Final() && (turn.Answer != "so far" || turn.Error == "") {
				t.Errorf("turn %+v, want %s with code %q, a reason and the answer so far", turn, c.status, c.code)
			}
			if run, _ := e.Ingest(ctx, run.ID); run.Status != c.ingest {
				t.Errorf("ingest %+v, want %s", run, c.ingest)
			}
		})
	}
}

func TestReconcileLooksAtEveryPage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	for range 250 {
		turn, err := e.StartTurn(ctx, domain.TurnRequest{UserID: "owner", Query: "q"})
		if err != nil {
			t.Fatal(err)
		}
		f.temporal.states["turn/"+turn.ID] = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	}
	if err := e.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if err := e.Reconcile(ctx); err != nil {
		t.Fatal(err)
	}
	if open := f.turns.list(func(*domain.Turn) bool { return true }); len(open) != 0 {
		t.Errorf("%d turns are still open", len(open))
	}
}

func TestCancelTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	turn, err := e.StartTurn(ctx, domain.TurnRequest{UserID: "owner", Query: "q"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	f.temporal.down = errors.New("connection refused")
	if turn, err := e.CancelTurn(ctx, turn.ID); err != nil || !turn.CancelRequested {
		t.Fatalf("a cancel is accepted while Temporal is away: %+v, %v", turn, err)
	}
	f.temporal.down = nil
	if err := e.Reconcile(ctx); err != nil {
		t.Fatal(err)
	}
	if len(f.temporal.canceled) != 1 || f.temporal.canceled[0] != "turn/"+turn.ID {
		t.Errorf("canceled %v, want the turn's workflow", f.temporal.canceled)
	}
	if _, err := f.turns.FinishTurn(ctx, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone}); err != nil {
		t.Fatal(err)
	}
	if turn, err := e.CancelTurn(ctx, turn.ID); err != nil || turn.Status != domain.TurnDone {
		t.Errorf("a final turn is left alone: %+v, %v", turn, err)
	}
	if _, err := e.CancelTurn(ctx, "unknown"); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("an unknown turn: %v", err)
	}
	if done, err := e.WaitTurn(ctx, turn.ID); err != nil || done.Status != domain.TurnDone {
		t.Errorf("waiting for a final turn: %+v, %v", done, err)
	}
}

func TestAddRepositoryOfATakenName(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	run, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/a/app"})
	if err != nil {
		t.Fatal(err)
	}
	read := f.repositories.saved["app"]
	read.Versions = []domain.VersionDetail{{Tag: "main"}}
	f.repositories.saved["app"] = read
	for url, text := range map[string]string{"https://git.example.com/b/app": "stands for", "https://git.example.com/a/app": "held by"} {
		_, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: url})
		if domain.CodeOf(err) != domain.CodeConflict || !strings.Contains(err.Error(), text) {
			t.Errorf("adding %s: %v, want a conflict that says %q", url, err, text)
		}
	}
	if f.repositories.saved["app"].URL != "https://git.example.com/a/app" {
		t.Error("the refused request changed the repository")
	}
	if _, err := f.ingests.EndIngest(ctx, run.ID, "", ""); err != nil {
		t.Fatal(err)
	}
	_, err = e.IngestRepository(ctx, domain.IngestRequest{UserID: "owner", Name: "app", Refs: []string{"v2"}})
	if err != nil || f.repositories.saved["app"].Refs[0] != "v2" {
		t.Errorf("reading it again with refs: %v, saved %+v", err, f.repositories.saved["app"])
	}
	_, err = e.IngestRepository(ctx, domain.IngestRequest{UserID: "owner", Name: "unknown"})
	if domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("an unknown name: %v", err)
	}
}

// The address of a repository of which nothing could be read may have been a slip. What
// opened it opens no other.
func TestAnAddressThatNothingWasReadFromIsReplaced(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	run, err := e.AddRepository(ctx, domain.IngestRequest{
		UserID: "owner", URL: "https://git.example.com/slip/app", Credentials: domain.Credentials{Token: "secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ingests.EndIngest(ctx, run.ID, domain.CodeUnavailable, "no such host"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/app"}); err != nil {
		t.Fatal(err)
	}
	if got := f.repositories.saved["app"].URL; got != "https://git.example.com/app" {
		t.Errorf("saved is %s", got)
	}
	if got := f.credentials.saved["app"]; !got.Empty() {
		t.Error("the token of the old address is kept for the new one")
	}
}

func TestAddRepositoryFreesTheLockWhenItCannotBeSaved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	f.repositories.fail = domain.Errorf(domain.CodeUnavailable, "the database can't be reached")
	_, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/app"})
	if domain.CodeOf(err) != domain.CodeUnavailable {
		t.Fatalf("error %v, want unavailable", err)
	}
	f.repositories.fail = nil
	if _, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/app"}); err != nil {
		t.Errorf("the second try: %v", err)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	req := domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/app", Watch: time.Second}
	if _, err := e.AddRepository(ctx, req); domain.CodeOf(err) != domain.CodeInvalid {
		t.Errorf("watching every second: %v, want invalid", err)
	}
	req.Watch = 5 * time.Minute
	run, err := e.AddRepository(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.temporal.watches()["watch/app"]; got != 5*time.Minute {
		t.Errorf("the schedule runs every %v, want 5m", got)
	}
	_, _ = f.ingests.EndIngest(ctx, run.ID, "", "")
	if _, err := e.IngestRepository(ctx, domain.IngestRequest{UserID: "owner", Name: "app", Watch: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if got := f.temporal.watches()["watch/app"]; got != time.Hour {
		t.Errorf("the schedule runs every %v, want 1h", got)
	}
	off := func(how string, end func()) {
		t.Helper()
		for _, open := range f.ingests.openIDs() {
			_, _ = f.ingests.EndIngest(ctx, open, "", "")
		}
		end()
		if got, is := f.temporal.watches()["watch/app"]; is {
			t.Errorf("%s: the schedule still runs every %v", how, got)
		}
		if got, _ := f.repositories.Repository(ctx, "app"); got.Watch != 0 {
			t.Errorf("%s: the repository is still watched every %v", how, got.Watch)
		}
	}
	off("switched off", func() {
		if _, err := e.IngestRepository(ctx, domain.IngestRequest{UserID: "owner", Name: "app", Watch: domain.WatchOff}); err != nil {
			t.Fatal(err)
		}
	})
	configured := domain.IngestRequest{URL: "https://git.example.com/app", Watch: time.Hour}
	for _, open := range f.ingests.openIDs() {
		_, _ = f.ingests.EndIngest(ctx, open, "", "")
	}
	e.SyncConfigured(ctx, []domain.IngestRequest{configured})
	if got := f.temporal.watches()["watch/app"]; got != time.Hour {
		t.Errorf("the configured schedule runs every %v, want 1h", got)
	}
	configured.Watch = 0
	off("out of the configuration", func() { e.SyncConfigured(ctx, []domain.IngestRequest{configured}) })
}

func TestDeleteRepositoryStopsTheRunFirst(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	f.temporal.onCancel = func(id string) {
		_, _ = f.ingests.EndIngest(ctx, strings.TrimPrefix(id, "ingest/"), domain.CodeCanceled, "it was canceled")
	}
	run, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/app", Watch: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	err = e.DeleteRepository(ctx, "app")
	if domain.CodeOf(err) != domain.CodeTimeout { // nobody runs the deletion here, and the fake log says so
		t.Errorf("error %v, want the fake's time-out", err)
	}
	if ended, _ := e.Ingest(ctx, run.ID); ended.Status != domain.IngestCanceled {
		t.Errorf("the run that read it is %s, want canceled", ended.Status)
	}
	if len(f.temporal.watches()) != 0 {
		t.Error("the watch is still there")
	}
	last := f.temporal.inputs[len(f.temporal.inputs)-1]
	deletion, ok := last.(workflows.DeleteRepositoryInput)
	if !ok || deletion.Repository != "app" {
		t.Fatalf("the last workflow got %+v, want the deletion's input", last)
	}
	_, _ = f.ingests.EndIngest(ctx, deletion.IngestID, "", "")
	if err := e.DeleteRepository(ctx, "unknown"); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("an unknown repository: %v", err)
	}
}

func TestSyncConfiguredGoesOnPastFaults(t *testing.T) {
	t.Parallel()
	e, f := newEngine(t)
	e.SyncConfigured(context.Background(), []domain.IngestRequest{
		{URL: "ftp://git.example.com/a"}, {URL: "https://git.example.com/b"}, {URL: "https://git.example.com/c"},
	})
	if len(f.temporal.inputs) != 2 {
		t.Fatalf("%d runs were started, want 2", len(f.temporal.inputs))
	}
	for _, input := range f.temporal.inputs {
		if in, ok := input.(workflows.IngestInput); !ok || !in.OnlyMoved {
			t.Errorf("input %+v, want a run that reads what has moved", input)
		}
	}
}
