package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// fakeIngest plays the activities of an ingestion over versions v1, v2 ….
type fakeIngest struct {
	versions int
	begin    workflows.BeginIngestResult
	sync     func(in workflows.SyncIngestInput) error
	read     func(ctx context.Context, in workflows.IngestVersionInput) error

	mu       sync.Mutex
	begun    []workflows.BeginIngestInput
	synced   []workflows.SyncIngestInput
	reads    []string
	failed   []workflows.FailVersionInput
	finished []workflows.FinishIngestInput
	running  int
	most     int // read at once
}

func (f *fakeIngest) Begin(_ context.Context, in workflows.BeginIngestInput) (workflows.BeginIngestResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun = append(f.begun, in)
	return f.begin, nil
}

func (f *fakeIngest) Sync(_ context.Context, in workflows.SyncIngestInput) (workflows.SyncResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced = append(f.synced, in)
	if f.sync != nil {
		if err := f.sync(in); err != nil {
			return workflows.SyncResult{}, err
		}
	}
	return workflows.SyncResult{Versions: f.versions}, nil
}

func (f *fakeIngest) Next(_ context.Context, in workflows.NextVersionsInput) (workflows.NextVersionsResult, error) {
	var result workflows.NextVersionsResult
	for place := in.After + 1; place <= min(f.versions, in.After+in.Limit); place++ {
		result.Versions = append(result.Versions, workflows.PlannedVersion{Place: place, Tag: fmt.Sprintf("v%d", place)})
	}
	result.More = in.After+in.Limit < f.versions
	return result, nil
}

func (f *fakeIngest) Version(ctx context.Context, in workflows.IngestVersionInput) (workflows.IngestVersionResult, error) {
	f.mu.Lock()
	f.running++
	f.most = max(f.most, f.running)
	f.reads = append(f.reads, in.Tag)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	if f.read != nil {
		if err := f.read(ctx, in); err != nil {
			return workflows.IngestVersionResult{}, err
		}
	}
	return workflows.IngestVersionResult{Commit: "c-" + in.Tag, Files: 3}, nil
}

func (f *fakeIngest) Fail(_ context.Context, in workflows.FailVersionInput) (struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, in)
	return struct{}{}, nil
}

func (f *fakeIngest) Finish(_ context.Context, in workflows.FinishIngestInput) (workflows.IngestResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finished = append(f.finished, in)
	return workflows.IngestResult{IngestID: in.IngestID, Status: domain.IngestDone, Versions: f.versions, Failed: len(f.failed)}, nil
}

// environment registers the workflows and the fake through the handles that the worker uses.
func (f *fakeIngest) environment() *testsuite.TestWorkflowEnvironment {
	suite := testsuite.WorkflowTestSuite{}
	suite.SetDisableRegistrationAliasing(true)
	env := suite.NewTestWorkflowEnvironment()
	workflows.IngestRepository.Register(env, workflows.RunIngestRepository)
	workflows.IngestVersion.Register(env, workflows.RunIngestVersion)
	workflows.BeginIngest.Register(env, f.Begin)
	workflows.SyncIngest.Register(env, f.Sync)
	workflows.NextVersions.Register(env, f.Next)
	workflows.ReadVersion.Register(env, f.Version)
	workflows.FailVersion.Register(env, f.Fail)
	workflows.FinishIngest.Register(env, f.Finish)
	return env
}

func newFakeIngest(versions int) *fakeIngest {
	return &fakeIngest{versions: versions, begin: workflows.BeginIngestResult{Go: true, Status: domain.IngestRunning}}
}

func TestIngestReadsEveryVersion(t *testing.T) {
	t.Parallel()
	fake := newFakeIngest(7)
	env := fake.environment()
	env.ExecuteWorkflow(workflows.IngestRepository.Name, workflows.IngestInput{IngestID: "i1", Repository: "r", Parallel: 3})

	var result workflows.IngestResult
	if err := errors.Join(env.GetWorkflowError(), env.GetWorkflowResult(&result)); err != nil {
		t.Fatal(err)
	}
	if result.Status != domain.IngestDone || result.Versions != 7 {
		t.Errorf("result %+v, want done with 7 versions", result)
	}
	slices.Sort(fake.reads)
	if want := []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7"}; !slices.Equal(fake.reads, want) {
		t.Errorf("read %v, want %v", fake.reads, want)
	}
	if fake.most > 3 {
		t.Errorf("%d versions were read at once, want at most 3", fake.most)
	}
	if len(fake.finished) != 1 || fake.finished[0] != (workflows.FinishIngestInput{IngestID: "i1"}) {
		t.Errorf("finished with %+v", fake.finished)
	}
}

func TestIngestGoesOnPastAFailedVersion(t *testing.T) {
	t.Parallel()
	fake := newFakeIngest(4)
	fake.read = func(_ context.Context, in workflows.IngestVersionInput) error {
		if in.Tag == "v2" {
			return temporal.NewNonRetryableApplicationError("the tag's tree is broken", string(domain.CodeUnprocessable), nil)
		}
		return nil
	}
	env := fake.environment()
	env.ExecuteWorkflow(workflows.IngestRepository.Name, workflows.IngestInput{IngestID: "i1", Repository: "r"})

	if len(fake.reads) != 4 {
		t.Errorf("read %v, want all four", fake.reads)
	}
	want := workflows.FailVersionInput{IngestID: "i1", Tag: "v2", Code: domain.CodeUnprocessable, Message: "the tag's tree is broken"}
	if len(fake.failed) != 1 || fake.failed[0] != want {
		t.Errorf("recorded %+v, want %+v", fake.failed, want)
	}
	if err := env.GetWorkflowError(); err == nil {
		t.Error("the workflow of a failed run must fail too")
	}
}

func TestIngestRetriesAfterACrash(t *testing.T) {
	t.Parallel()
	fake := newFakeIngest(1)
	crashes := 3
	fake.read = func(context.Context, workflows.IngestVersionInput) error {
		if crashes--; crashes >= 0 {
			return temporal.NewApplicationErrorWithOptions("the database can't be reached", string(domain.CodeUnavailable), temporal.ApplicationErrorOptions{})
		}
		return nil
	}
	env := fake.environment()
	env.ExecuteWorkflow(workflows.IngestRepository.Name, workflows.IngestInput{IngestID: "i1", Repository: "r"})

	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if len(fake.reads) != 4 || len(fake.failed) != 0 {
		t.Errorf("%d attempts, %d failures; want 4 and none", len(fake.reads), len(fake.failed))
	}
}

func TestIngestFailsWithTheReasonOfTheFetch(t *testing.T) {
	t.Parallel()
	fake := newFakeIngest(1)
	fake.sync = func(workflows.SyncIngestInput) error {
		return temporal.NewNonRetryableApplicationError("r: no such host", string(domain.CodeUpstream), nil)
	}
	env := fake.environment()
	env.ExecuteWorkflow(workflows.IngestRepository.Name, workflows.IngestInput{IngestID: "i1", Repository: "r"})

	want := workflows.FinishIngestInput{IngestID: "i1", Code: domain.CodeUpstream, Message: "r: no such host"}
	if len(fake.finished) != 1 || fake.finished[0] != want {
		t.Errorf("finished with %+v, want %+v", fake.finished, want)
	}
	if env.GetWorkflowError() == nil {
		t.Error("the workflow of a failed run must fail too")
	}
}

func TestIngestCancel(t *testing.T) {
	t.Parallel()
	fake := newFakeIngest(5)
	env := fake.environment()
	fake.read = func(ctx context.Context, _ workflows.IngestVersionInput) error {
		env.CancelWorkflow()
		<-ctx.Done()
		return ctx.Err()
	}
	env.ExecuteWorkflow(workflows.IngestRepository.Name, workflows.IngestInput{IngestID: "i1", Repository: "r", Parallel: 1})

	if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("workflow ended with %v, want a cancellation", err)
	}
	if len(fake.finished) != 1 || fake.finished[0].Code != domain.CodeCanceled || !strings.Contains(fake.finished[0].Message, "deletion") {
		t.Errorf("finished with %+v, want canceled", fake.finished)
	}
	if len(fake.reads) != 1 || len(fake.failed) != 0 {
		t.Errorf("read %v and recorded %v as failed; want the first version and none", fake.reads, fake.failed)
	}
}

func TestIngestOfAScheduleThatFindsTheRepositoryBusy(t *testing.T) {
	t.Parallel()
	fake := newFakeIngest(3)
	fake.begin = workflows.BeginIngestResult{Status: domain.IngestSkipped}
	env := fake.environment()
	env.ExecuteWorkflow(workflows.IngestRepository.Name, workflows.IngestInput{Repository: "r"})

	var result workflows.IngestResult
	if err := errors.Join(env.GetWorkflowError(), env.GetWorkflowResult(&result)); err != nil {
		t.Fatal(err)
	}
	if result.Status != domain.IngestSkipped || len(fake.synced) != 0 {
		t.Errorf("result %+v after %d fetches, want skipped and none", result, len(fake.synced))
	}
	if begun := fake.begun[0]; !begun.Scheduled || begun.IngestID == "" || begun.IngestID != result.IngestID {
		t.Errorf("began with %+v, want a scheduled run of its own", begun)
	}
}

// A thousand versions are read in runs of fifty, none of which has a long history.
func TestIngestOfAThousandVersionsContinuesAsNew(t *testing.T) {
	t.Parallel()
	fake := newFakeIngest(1000)
	in, runs := workflows.IngestInput{IngestID: "i1", Repository: "r", Parallel: 8}, 0
	for {
		env := fake.environment()
		env.SetTestTimeout(time.Minute)
		env.ExecuteWorkflow(workflows.IngestRepository.Name, in)
		runs++
		var next *workflow.ContinueAsNewError
		if err := env.GetWorkflowError(); !errors.As(err, &next) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil {
			t.Fatal(err)
		}
		if runs > 30 {
			t.Fatal("the run does not get on")
		}
	}
	slices.Sort(fake.reads)
	if len(slices.Compact(fake.reads)) != 1000 || len(fake.reads) != 1000 {
		t.Errorf("%d reads, want each of 1000 versions once", len(fake.reads))
	}
	if runs != 20 || len(fake.synced) != 1 || len(fake.finished) != 1 {
		t.Errorf("%d runs, %d fetches, %d ends; want 20, 1 and 1", runs, len(fake.synced), len(fake.finished))
	}
}

func TestDeleteRepository(t *testing.T) {
	t.Parallel()
	fake := newFakeIngest(0)
	env := fake.environment()
	attempts := 0
	workflows.DeleteRepository.Register(env, workflows.RunDeleteRepository)
	workflows.DropRepository.Register(env, func(context.Context, workflows.DeleteRepositoryInput) (struct{}, error) {
		if attempts++; attempts == 1 {
			return struct{}{}, errors.New("the graph is restarting")
		}
		return struct{}{}, nil
	})
	env.ExecuteWorkflow(workflows.DeleteRepository.Name, workflows.DeleteRepositoryInput{IngestID: "d1", Repository: "r"})

	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if attempts != 2 || len(fake.finished) != 1 || fake.finished[0].Code != "" {
		t.Errorf("%d attempts, finished with %+v; want 2 and a clean end", attempts, fake.finished)
	}
}
