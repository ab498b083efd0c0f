package workflows

import (
	"cmp"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/flow"
)

const (
	// ingestBatch bounds the versions read before the workflow continues as new, so that
	// the history of a thousand versions stays as small as that of fifty.
	ingestBatch = 50
	// ingestParallel is how many versions are read at once where the input doesn't say.
	ingestParallel = 2
)

// IngestWorkflowID names the workflow of an ingestion or a deletion.
func IngestWorkflowID(ingestID string) string { return "ingest/" + ingestID }

// WatchScheduleID names the schedule that looks for changes of a repository. The workflows
// it starts are named by it and the time.
func WatchScheduleID(repository string) string { return "watch/" + idPart(repository) }

// IngestInput says what to read. A schedule leaves IngestID empty: then the workflow makes
// a run of its own, or records that it was skipped.
type IngestInput struct {
	IngestID   string `json:"ingest_id,omitempty"`
	Repository string `json:"repository"`
	OnlyMoved  bool   `json:"only_moved,omitempty"` // leave out versions that were read at their commit
	Parallel   int    `json:"parallel,omitempty"`   // versions at once; 0 for the default
	// After is set when a run continues as new: versions up to this place are done.
	After int `json:"after,omitempty"`
}

// IngestResult says how a run ended.
type IngestResult struct {
	IngestID string              `json:"ingest_id"`
	Status   domain.IngestStatus `json:"status"`
	Versions int                 `json:"versions"`
	Failed   int                 `json:"failed,omitempty"`
}

// BeginIngestInput names the run that begins.
type BeginIngestInput struct {
	IngestID   string `json:"ingest_id"`
	Repository string `json:"repository"`
	Scheduled  bool   `json:"scheduled,omitempty"` // the run's row is to be made, if the repository is free
	WorkflowID string `json:"workflow_id"`
}

// BeginIngestResult says whether to go on.
type BeginIngestResult struct {
	Go     bool                `json:"go"`
	Status domain.IngestStatus `json:"status"` // why not: skipped, canceled, or already ended
}

// SyncIngestInput names the run whose versions are to be learnt.
type SyncIngestInput struct {
	IngestID   string `json:"ingest_id"`
	Repository string `json:"repository"`
	OnlyMoved  bool   `json:"only_moved,omitempty"` // leave out versions that were read at their commit
}

// SyncResult counts what is to be read; the versions themselves are rows.
type SyncResult struct {
	Versions int `json:"versions"`
}

// NextVersionsInput asks for the versions of a run after a place.
type NextVersionsInput struct {
	IngestID string `json:"ingest_id"`
	After    int    `json:"after"`
	Limit    int    `json:"limit"`
}

// NextVersionsResult lists versions in order.
type NextVersionsResult struct {
	Versions []PlannedVersion `json:"versions"`
	More     bool             `json:"more,omitempty"`
}

// PlannedVersion is a version that a run is to read.
type PlannedVersion struct {
	Place int    `json:"place"` // from 1, in the run
	Tag   string `json:"tag"`
}

// FailVersionInput records why a version was not read.
type FailVersionInput struct {
	IngestID string      `json:"ingest_id"`
	Tag      string      `json:"tag"`
	Code     domain.Code `json:"code"`
	Message  string      `json:"message"`
}

// FinishIngestInput ends a run. Code and Message are those of a failure of the run as a
// whole; how the versions ended stands in their rows.
type FinishIngestInput struct {
	IngestID string      `json:"ingest_id"`
	Code     domain.Code `json:"code,omitempty"`
	Message  string      `json:"message,omitempty"`
}

// The workflow and its activities.
var (
	IngestRepository = flow.Workflow[IngestInput, IngestResult]{Name: "ingest.repository"}

	BeginIngest  = flow.Activity[BeginIngestInput, BeginIngestResult]{Name: "ingest.begin"}
	SyncIngest   = flow.Activity[SyncIngestInput, SyncResult]{Name: "ingest.sync"}
	NextVersions = flow.Activity[NextVersionsInput, NextVersionsResult]{Name: "ingest.next"}
	FailVersion  = flow.Activity[FailVersionInput, struct{}]{Name: "ingest.fail_version"}
	FinishIngest = flow.Activity[FinishIngestInput, IngestResult]{Name: "ingest.finish"}
)

// RunIngestRepository reads a repository: it learns which versions there are and reads each
// in a child workflow, some at once. A version that fails does not stop the others; the run
// then fails with the reasons.
func RunIngestRepository(ctx workflow.Context, in IngestInput) (IngestResult, error) {
	run := &ingestRun{in: in, scheduled: in.IngestID == ""}
	if run.scheduled {
		info := workflow.GetInfo(ctx)
		run.in.IngestID = cmp.Or(info.OriginalRunID, info.WorkflowExecution.RunID) // the same after a reset
	}
	return run.run(ctx)
}

type ingestRun struct {
	in        IngestInput
	scheduled bool
	read      int // versions, since the run last continued as new
}

func (r *ingestRun) run(ctx workflow.Context) (IngestResult, error) {
	if r.in.After == 0 {
		begun, err := beginIngest(ctx, BeginIngestInput{
			IngestID: r.in.IngestID, Repository: r.in.Repository, Scheduled: r.scheduled,
			WorkflowID: workflow.GetInfo(ctx).WorkflowExecution.ID,
		})
		if err != nil {
			return finishIngest(ctx, r.in.IngestID, err)
		}
		if !begun.Go {
			return IngestResult{IngestID: r.in.IngestID, Status: begun.Status}, nil
		}
		if err := r.sync(ctx); err != nil {
			return finishIngest(ctx, r.in.IngestID, err)
		}
	}
	more, err := r.readBatch(ctx)
	if err == nil && more {
		return IngestResult{}, workflow.NewContinueAsNewError(ctx, IngestRepository.Name, r.in)
	}
	return finishIngest(ctx, r.in.IngestID, err)
}

func (r *ingestRun) sync(ctx workflow.Context) error {
	r.describe(ctx, "Learning which versions "+r.in.Repository+" has.")
	ctx = longStep(ctx, "", 2*time.Hour, 10, "fetch "+r.in.Repository)
	_, err := SyncIngest.Execute(ctx, SyncIngestInput{r.in.IngestID, r.in.Repository, r.in.OnlyMoved}).Result(ctx)
	return err
}

// readBatch reads the next versions and reports whether there are more after them.
func (r *ingestRun) readBatch(ctx workflow.Context) (more bool, err error) {
	step := storeStep(ctx, "list versions")
	next, err := NextVersions.ExecuteLocal(step, NextVersionsInput{r.in.IngestID, r.in.After, ingestBatch}).Result(step)
	if err != nil {
		return false, err
	}
	places := workflow.NewSemaphore(ctx, int64(cmp.Or(r.in.Parallel, ingestParallel)))
	group := workflow.NewWaitGroup(ctx)
	for _, version := range next.Versions {
		if err := places.Acquire(ctx, 1); err != nil {
			break // canceled: what runs is awaited below
		}
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			defer places.Release(1)
			r.readVersion(ctx, version)
		})
	}
	free, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	group.Wait(free)
	if len(next.Versions) > 0 {
		r.in.After = next.Versions[len(next.Versions)-1].Place
	}
	return next.More, ctx.Err()
}

// readVersion reads one version in a child workflow and records why that failed.
func (r *ingestRun) readVersion(ctx workflow.Context, version PlannedVersion) {
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            IngestVersionWorkflowID(r.in.IngestID, version.Tag),
		WaitForCancellation:   true,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		TypedSearchAttributes: workflow.GetTypedSearchAttributes(ctx),
		StaticSummary:         r.in.Repository + " " + version.Tag,
	})
	_, err := IngestVersion.Child(child, IngestVersionInput{r.in.IngestID, r.in.Repository, version.Tag}).Result(child)
	r.read++
	r.describe(ctx, fmt.Sprintf("Read %d versions of %s in this run.", r.read, r.in.Repository))
	if err == nil || ctx.Err() != nil {
		return
	}
	code, message := failureReason(err)
	step := storeStep(ctx, "record failure of "+version.Tag)
	_, err = FailVersion.ExecuteLocal(step, FailVersionInput{r.in.IngestID, version.Tag, code, message}).Result(step)
	if err != nil {
		workflow.GetLogger(ctx).Error("a version's failure could not be recorded", "version", version.Tag, "error", err)
	}
}

// describe tells readers of the Temporal UI how far the run is.
func (r *ingestRun) describe(ctx workflow.Context, text string) {
	workflow.SetCurrentDetails(ctx, text)
}

func beginIngest(ctx workflow.Context, in BeginIngestInput) (BeginIngestResult, error) {
	step := storeStep(ctx, "begin")
	return BeginIngest.ExecuteLocal(step, in).Result(step)
}

// finishIngest ends the run also where ctx is canceled. The workflow fails where the run
// did, so that it is red in the Temporal UI too.
func finishIngest(ctx workflow.Context, ingestID string, cause error) (IngestResult, error) {
	free, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	step := storeStep(free, "finish")
	in := FinishIngestInput{IngestID: ingestID}
	in.Code, in.Message = failureReason(cause)
	if in.Code == domain.CodeCanceled { // nothing else stops a run
		in.Message = "it was stopped, by a deletion of the repository or in the Temporal UI"
	}
	result, err := FinishIngest.ExecuteLocal(step, in).Result(step)
	switch {
	case err != nil:
		return result, err
	case cause != nil:
		return result, cause
	case result.Failed > 0:
		return result, temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("%d of %d versions could not be read", result.Failed, result.Versions), string(domain.CodeUpstream), nil)
	}
	return result, nil
}
