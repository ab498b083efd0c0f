package postgres_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
)

func order(id, repository string) domain.IngestOrder {
	return domain.IngestOrder{ID: id, UserID: "ada", Repository: repository, Kind: domain.IngestRead, WorkflowID: "ingest/" + id}
}

// startIngest makes a running run with planned versions.
func startIngest(t *testing.T, s *postgres.Store, id string, tags ...string) {
	t.Helper()
	ctx := context.Background()
	if _, err := s.CreateIngest(ctx, order(id, "repo-"+id)); err != nil {
		t.Fatalf("create: %v", err)
	}
	run, err := s.StartIngest(ctx, id)
	if err != nil || run.Status != domain.IngestRunning {
		t.Fatalf("start: %+v, %v", run, err)
	}
	var refs []domain.VersionRef
	for _, tag := range tags {
		refs = append(refs, domain.VersionRef{Tag: tag, Commit: "c-" + tag, CommittedAt: time.Unix(1700000000, 0)})
	}
	if err := s.PlanVersions(ctx, id, refs); err != nil {
		t.Fatalf("plan: %v", err)
	}
}

func claimVersion(t *testing.T, s *postgres.Store, id, tag string) domain.VersionClaim {
	t.Helper()
	claim, err := s.ClaimVersion(context.Background(), id, tag)
	if err != nil {
		t.Fatalf("claim %s: %v", tag, err)
	}
	return claim
}

func note(t *testing.T, s *postgres.Store, id string, attempt int, p domain.IngestProgress) {
	t.Helper()
	if err := s.NoteProgress(context.Background(), id, attempt, p); err != nil {
		t.Fatalf("note %+v: %v", p, err)
	}
}

func TestIngestFromOrderToEnd(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	startIngest(t, s, "i1", "v1", "v2", "v1")

	tags, more, err := s.PlannedVersions(ctx, "i1", 0, 1)
	if err != nil || !more || !cmp.Equal(tags, []string{"v1"}) {
		t.Fatalf("first page %v, more %v, %v", tags, more, err)
	}
	tags, more, err = s.PlannedVersions(ctx, "i1", 1, 5)
	if err != nil || more || !cmp.Equal(tags, []string{"v2"}) {
		t.Fatalf("second page %v, more %v, %v; a tag that is named twice counts once", tags, more, err)
	}
	claim := claimVersion(t, s, "i1", "v1")
	if claim.Attempt != 1 || claim.Done || claim.Commit != "c-v1" || claim.CommittedAt.Unix() != 1700000000 {
		t.Fatalf("claim %+v", claim)
	}
	note(t, s, "i1", 1, domain.IngestProgress{Repository: "repo-i1", Version: "v1", Phase: "parse", FilesDone: 3, FilesTotal: 9})
	second := claimVersion(t, s, "i1", "v1")
	err = s.NoteProgress(ctx, "i1", 1, domain.IngestProgress{Version: "v1", Phase: "parse", FilesDone: 4})
	wantCode(t, "a cut-off attempt notes progress", err, domain.CodeSuperseded)
	note(t, s, "i1", second.Attempt, domain.IngestProgress{Repository: "repo-i1", Version: "v1", Phase: "done", FilesDone: 9, Symbols: 40})
	if again := claimVersion(t, s, "i1", "v1"); !again.Done || again.Progress.Symbols != 40 {
		t.Errorf("claim of a version that was read: %+v", again)
	}
	if err := s.FailVersion(ctx, "i1", "v1", domain.CodeTimeout, "late"); err != nil {
		t.Errorf("failing a version that was read must change nothing: %v", err)
	}
	if err := s.FailVersion(ctx, "i1", "v2", domain.CodeUpstream, "its tree is broken"); err != nil {
		t.Fatal(err)
	}

	run, err := s.EndIngest(ctx, "i1", "", "")
	if err != nil || run.Status != domain.IngestFailed || run.ErrorCode != domain.CodeUpstream {
		t.Fatalf("end: %+v, %v", run, err)
	}
	if want := "1 of 2 versions of repo-i1 could not be read: v2: its tree is broken"; run.Error != want {
		t.Errorf("error %q, want %q", run.Error, want)
	}
	if again, err := s.EndIngest(ctx, "i1", domain.CodeCanceled, "late"); err != nil || again.Status != domain.IngestFailed {
		t.Errorf("a second end: %+v, %v; want the first to stand", again, err)
	}
	want := []string{"ingest_progress", "ingest_progress", "ingest_progress", "ingest_failed"}
	events := log(t, s, "i1")
	if got := types(events); !cmp.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if last := string(events[3].Payload); !strings.Contains(last, `"version":"v2"`) || !strings.Contains(last, "its tree is broken") {
		t.Errorf("terminal event %s", last)
	}
	wantCode(t, "claim after the end", errOf(s.ClaimVersion(ctx, "i1", "v2")), domain.CodeCanceled)
}

func errOf[T any](_ T, err error) error { return err }

func TestIngestLock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	var won, lost atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := s.CreateIngest(ctx, order(domain.NewID(), "r"))
			switch domain.CodeOf(err) {
			case "":
				won.Add(1)
			case domain.CodeConflict:
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 || lost.Load() != 7 {
		t.Fatalf("%d runs got the lock and %d were refused, want 1 and 7", won.Load(), lost.Load())
	}
	holder, err := s.IngestHolder(ctx, "r")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.CreateIngest(ctx, order("late", "r"))
	if !strings.Contains(err.Error(), holder.ID) {
		t.Errorf("the refusal %q does not name the run %s", err, holder.ID)
	}
	if run, err := s.CreateIngest(ctx, holder.IngestOrder); err != nil || run.ID != holder.ID {
		t.Errorf("the same order again: %+v, %v; want the run that is there", run, err)
	}
	if err := s.SkipIngest(ctx, order("skipped", "r")); err != nil {
		t.Fatal(err)
	}
	if run, err := s.Ingest(ctx, "skipped"); err != nil || run.Status != domain.IngestSkipped {
		t.Errorf("skipped run: %+v, %v", run, err)
	}
	if _, err := s.EndIngest(ctx, holder.ID, "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateIngest(ctx, order("next", "r")); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

func TestIngestCancelBeforeItBegins(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	if _, err := s.CreateIngest(ctx, order("i1", "r")); err != nil {
		t.Fatal(err)
	}
	if launched, err := s.RequestIngestCancel(ctx, "i1"); err != nil || launched {
		t.Fatalf("cancel: launched %v, %v", launched, err)
	}
	run, err := s.StartIngest(ctx, "i1")
	if err != nil || run.Status != domain.IngestCanceled {
		t.Fatalf("start after a cancel: %+v, %v", run, err)
	}
	wantCode(t, "cancel again", errOf(s.RequestIngestCancel(ctx, "i1")), domain.CodeConflict)
	if got := types(log(t, s, "i1")); !cmp.Equal(got, []string{"canceled"}) {
		t.Errorf("events %v", got)
	}
}

func TestIngestThatFailsAsAWhole(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	if _, err := s.CreateIngest(ctx, order("i1", "r")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.StartIngest(ctx, "i1"); err != nil {
		t.Fatal(err)
	}
	if claim := claimVersion(t, s, "i1", ""); claim.Attempt != 1 {
		t.Fatalf("claim of the fetch: %+v", claim)
	}
	note(t, s, "i1", 1, domain.IngestProgress{Repository: "r", Phase: "fetch", BytesDone: 10})
	if run, _ := s.Ingest(ctx, "i1"); len(run.Versions) != 1 || run.Versions[0].Phase != "fetch" {
		t.Errorf("versions while fetching: %+v", run.Versions)
	}
	run, err := s.EndIngest(ctx, "i1", domain.CodeUpstream, "no such host")
	if err != nil || run.Status != domain.IngestFailed || run.Error != "no such host" || len(run.Versions) != 0 {
		t.Errorf("end: %+v, %v", run, err)
	}
}

func TestOpenIngests(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	for _, id := range []string{"a", "b", "c"} {
		if _, err := s.CreateIngest(ctx, order(id, id)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.MarkIngestLaunched(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RequestIngestCancel(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.EndIngest(ctx, "c", "", ""); err != nil {
		t.Fatal(err)
	}
	unstarted, err := s.UnstartedIngests(ctx, 0, 10)
	if err != nil || len(unstarted) != 1 || unstarted[0].ID != "a" || unstarted[0].WorkflowID != "ingest/a" {
		t.Errorf("unstarted: %+v, %v", unstarted, err)
	}
	open, err := s.OpenIngests(ctx, 0, "a", 10)
	if err != nil || len(open) != 1 || open[0].ID != "b" || !open[0].Launched || !open[0].CancelRequested {
		t.Errorf("open after a: %+v, %v", open, err)
	}
	if young, err := s.OpenIngests(ctx, time.Hour, "", 10); err != nil || len(young) != 0 {
		t.Errorf("open for an hour: %+v, %v", young, err)
	}
}
