package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// patience is the attempt from which an unexplained error of a long step is final: that is
// about two minutes, enough for a restart of the database.
const patience = 8

// IngestStore keeps the runs, their versions and their events.
type IngestStore interface {
	// CreateIngest stores a queued run and takes the repository's lock: conflict where
	// another run holds it. A run of that id which is there already is given back.
	CreateIngest(ctx context.Context, order domain.IngestOrder) (domain.Ingest, error)
	// SkipIngest records a run that did not begin because another holds the lock.
	SkipIngest(ctx context.Context, order domain.IngestOrder) error
	// StartIngest marks a queued run as running, unless its cancellation was asked for: then
	// it ends here. It gives the run as it is afterwards.
	StartIngest(ctx context.Context, id string) (domain.Ingest, error)
	// PlanVersions replaces the versions that the run is to read.
	PlanVersions(ctx context.Context, id string, refs []domain.VersionRef) error
	// PlannedVersions gives the tags of the versions after a place, in order.
	PlannedVersions(ctx context.Context, id string, after, limit int) (tags []string, more bool, err error)
	// ClaimVersion takes a version over from whoever read it before; tag "" is the step that
	// learns the versions. not_found where the run does not have it, canceled where the run
	// has ended.
	ClaimVersion(ctx context.Context, id, tag string) (domain.VersionClaim, error)
	// NoteProgress stores how far a version is and appends the event: superseded where the
	// attempt is not the newest. Phase "done" ends the version.
	NoteProgress(ctx context.Context, id string, attempt int, progress domain.IngestProgress) error
	// FailVersion records why a version was not read; one that has ended is left alone.
	FailVersion(ctx context.Context, id, tag string, code domain.Code, message string) error
	// EndIngest ends a run with its terminal event and frees the repository: failed or
	// canceled with a code, else by how its versions ended. A run that has ended is left
	// alone. It gives the run as it is afterwards.
	EndIngest(ctx context.Context, id string, code domain.Code, message string) (domain.Ingest, error)
}

// RepositorySources keeps the repositories and what was read of them.
type RepositorySources interface {
	Repository(ctx context.Context, name string) (domain.Repository, error)
	Repositories(ctx context.Context) ([]domain.Repository, error)
	Version(ctx context.Context, repo, tag string) (domain.VersionDetail, error)
	DeleteRepository(ctx context.Context, name string) error
}

// RepositoryReader reads repositories into the sources and the graph.
type RepositoryReader interface {
	// Sync fetches the repository and gives the versions that it is to be read at.
	Sync(ctx context.Context, repo domain.Repository, progress func(domain.IngestProgress)) ([]domain.VersionRef, error)
	// Ingest reads one version; killed at any moment and called again it goes on from what
	// it had stored.
	Ingest(ctx context.Context, repo domain.Repository, ref domain.VersionRef, progress func(domain.IngestProgress)) (domain.VersionDetail, error)
	// Unchanged reports whether a folder is as it was when its version was read.
	Unchanged(ctx context.Context, repo domain.Repository, ref domain.VersionRef) (bool, error)
	// Forget removes the copy of a repository that was fetched, unless one of others is read
	// from it too. Repeating it is no error.
	Forget(ctx context.Context, repo domain.Repository, others []domain.Repository) error
}

// RepositoryGraph is the part of a graph backend that forgets a repository.
type RepositoryGraph interface {
	DropRepository(ctx context.Context, name string) error
}

// Ingest reads and deletes repositories.
type Ingest struct {
	Store   IngestStore
	Sources RepositorySources
	Reader  RepositoryReader
	Graph   RepositoryGraph
	// OtherGraph tells that the graph in use is not the one in Postgres.
	OtherGraph bool
}

// Begin marks the run as running. For a schedule it makes the run first, or records that
// the repository is being read already.
func (a *Ingest) Begin(ctx context.Context, in workflows.BeginIngestInput) (workflows.BeginIngestResult, error) {
	if in.Scheduled {
		_, err := a.Store.CreateIngest(ctx, scheduledOrder(in))
		if domain.CodeOf(err) == domain.CodeConflict {
			return workflows.BeginIngestResult{Status: domain.IngestSkipped}, a.Store.SkipIngest(ctx, scheduledOrder(in))
		}
		if err != nil {
			return workflows.BeginIngestResult{}, fmt.Errorf("make the watch's run: %w", err)
		}
	}
	run, err := a.Store.StartIngest(ctx, in.IngestID)
	if err != nil {
		return workflows.BeginIngestResult{}, fmt.Errorf("begin run: %w", err)
	}
	return workflows.BeginIngestResult{Go: !run.Status.Final(), Status: run.Status}, nil
}

func scheduledOrder(in workflows.BeginIngestInput) domain.IngestOrder {
	return domain.IngestOrder{
		ID: in.IngestID, Repository: in.Repository, Kind: domain.IngestRead,
		OnlyMoved: true, WorkflowID: in.WorkflowID,
	}
}

// Sync fetches the repository and plans the versions to read.
func (a *Ingest) Sync(ctx context.Context, in workflows.SyncIngestInput) (workflows.SyncResult, error) {
	defer beat(ctx)()
	claim, err := a.Store.ClaimVersion(ctx, in.IngestID, "")
	if err != nil {
		return workflows.SyncResult{}, fmt.Errorf("begin fetching: %w", err)
	}
	repo, err := a.Sources.Repository(ctx, in.Repository)
	if err != nil {
		return workflows.SyncResult{}, fmt.Errorf("load repository: %w", err)
	}
	step := ingestStep{in.IngestID, claim.Attempt, domain.IngestProgress{Repository: repo.Name, Phase: "fetch"}}
	var refs []domain.VersionRef
	_, err = a.reporting(ctx, step, func(ctx context.Context, note func(domain.IngestProgress)) (err error) {
		refs, err = a.Reader.Sync(ctx, repo, note)
		return err
	})
	if err != nil {
		return workflows.SyncResult{}, a.setback(ctx, step, fmt.Errorf("fetch %s: %w", repo.Name, err))
	}
	if len(refs) == 0 {
		return workflows.SyncResult{}, domain.Errorf(domain.CodeUnprocessable, "%s has no version to read: no ref matches, or there is no commit yet", repo.Name)
	}
	if in.OnlyMoved {
		if refs, err = a.moved(ctx, repo, refs); err != nil {
			return workflows.SyncResult{}, err
		}
	}
	if err := a.Store.PlanVersions(ctx, in.IngestID, refs); err != nil {
		return workflows.SyncResult{}, fmt.Errorf("plan versions: %w", err)
	}
	return workflows.SyncResult{Versions: len(refs)}, nil
}

// moved gives the versions that were not read at their commit, or into another graph than the
// one in use. A folder has no commit: its files are looked through.
func (a *Ingest) moved(ctx context.Context, repo domain.Repository, refs []domain.VersionRef) ([]domain.VersionRef, error) {
	var moved []domain.VersionRef
	for _, ref := range refs {
		same, err := a.same(ctx, repo, ref)
		if err != nil {
			return nil, err
		}
		if !same {
			moved = append(moved, ref)
		}
	}
	return moved, nil
}

// same reports whether a version was read as it is now.
func (a *Ingest) same(ctx context.Context, repo domain.Repository, ref domain.VersionRef) (bool, error) {
	have, err := a.Sources.Version(ctx, repo.Name, ref.Tag)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("load version: %w", err)
	}
	if have.OtherGraph != a.OtherGraph {
		return false, nil
	}
	if ref.Commit != "" {
		return have.Commit == ref.Commit, nil
	}
	same, err := a.Reader.Unchanged(ctx, repo, ref)
	if err != nil {
		return false, fmt.Errorf("look through %s: %w", repo.Name, err)
	}
	return same, nil
}

// Next lists the versions of a run after a place.
func (a *Ingest) Next(ctx context.Context, in workflows.NextVersionsInput) (workflows.NextVersionsResult, error) {
	tags, more, err := a.Store.PlannedVersions(ctx, in.IngestID, in.After, in.Limit)
	if err != nil {
		return workflows.NextVersionsResult{}, fmt.Errorf("list planned versions: %w", err)
	}
	result := workflows.NextVersionsResult{More: more}
	for i, tag := range tags {
		result.Versions = append(result.Versions, workflows.PlannedVersion{Place: in.After + 1 + i, Tag: tag})
	}
	return result, nil
}

// Version reads one version. What was committed before is given back, not read again.
func (a *Ingest) Version(ctx context.Context, in workflows.IngestVersionInput) (workflows.IngestVersionResult, error) {
	defer beat(ctx)()
	claim, err := a.Store.ClaimVersion(ctx, in.IngestID, in.Tag)
	if err != nil {
		return workflows.IngestVersionResult{}, fmt.Errorf("begin version: %w", err)
	}
	if claim.Done {
		return workflows.IngestVersionResult{Commit: claim.Commit, Files: claim.Progress.FilesDone, Symbols: claim.Progress.Symbols}, nil
	}
	repo, err := a.Sources.Repository(ctx, in.Repository)
	if err != nil {
		return workflows.IngestVersionResult{}, fmt.Errorf("load repository: %w", err)
	}
	step := ingestStep{in.IngestID, claim.Attempt, domain.IngestProgress{Repository: repo.Name, Version: in.Tag, Phase: "list"}}
	var detail domain.VersionDetail
	last, err := a.reporting(ctx, step, func(ctx context.Context, note func(domain.IngestProgress)) (err error) {
		detail, err = a.Reader.Ingest(ctx, repo, claim.VersionRef, note)
		return err
	})
	if err != nil {
		return workflows.IngestVersionResult{}, a.setback(ctx, step, fmt.Errorf("read %s %s: %w", repo.Name, in.Tag, err))
	}
	last.Phase, last.FilesDone, last.Symbols, last.Skipped = "done", detail.Files, detail.Symbols, detail.Skipped
	last.FilesTotal = max(last.FilesTotal, detail.Files)
	if err := a.Store.NoteProgress(ctx, in.IngestID, claim.Attempt, last); err != nil {
		return workflows.IngestVersionResult{}, fmt.Errorf("end version: %w", err)
	}
	return workflows.IngestVersionResult{Commit: detail.Commit, Files: detail.Files, Symbols: detail.Symbols}, nil
}

// FailVersion records why a version was not read.
func (a *Ingest) FailVersion(ctx context.Context, in workflows.FailVersionInput) (struct{}, error) {
	return struct{}{}, a.Store.FailVersion(ctx, in.IngestID, in.Tag, in.Code, in.Message)
}

// Drop removes what was fetched of the repository, then its graph, then its sources, whose
// row alone knows the address. Each may have been done by an earlier attempt.
func (a *Ingest) Drop(ctx context.Context, in workflows.DeleteRepositoryInput) (struct{}, error) {
	defer beat(ctx)()
	if err := a.forget(ctx, in.Repository); err != nil {
		return struct{}{}, impatient(ctx, fmt.Errorf("forget what was fetched: %w", err))
	}
	if err := a.Graph.DropRepository(ctx, in.Repository); err != nil {
		return struct{}{}, impatient(ctx, fmt.Errorf("drop from the graph: %w", err))
	}
	err := a.Sources.DeleteRepository(ctx, in.Repository)
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return struct{}{}, impatient(ctx, fmt.Errorf("delete from the sources: %w", err))
	}
	return struct{}{}, nil
}

func (a *Ingest) forget(ctx context.Context, name string) error {
	repo, err := a.Sources.Repository(ctx, name)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := a.Sources.Repositories(ctx)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(all, func(r domain.Repository) bool { return r.Name == name })
	return a.Reader.Forget(ctx, repo, others)
}

// Finish ends the run and frees the repository.
func (a *Ingest) Finish(ctx context.Context, in workflows.FinishIngestInput) (workflows.IngestResult, error) {
	run, err := a.Store.EndIngest(ctx, in.IngestID, in.Code, in.Message)
	if err != nil {
		return workflows.IngestResult{}, fmt.Errorf("end run: %w", err)
	}
	result := workflows.IngestResult{IngestID: run.ID, Status: run.Status, Versions: len(run.Versions)}
	for _, version := range run.Versions {
		if version.Error != "" {
			result.Failed++
		}
	}
	if run.Status == domain.IngestFailed {
		activity.GetLogger(ctx).Error("ingest_failed", "ingest_id", run.ID, "repository", run.Repository, "code", run.ErrorCode, "reason", run.Error)
	}
	return result, nil
}

// impatient makes an unexplained error permanent once it has been seen often enough.
// Errors that have a code know themselves whether another try can help.
func impatient(ctx context.Context, err error) error {
	if domain.CodeOf(err) != domain.CodeInternal || errors.Is(err, context.Canceled) || activity.GetInfo(ctx).Attempt < patience {
		return err
	}
	return temporal.NewNonRetryableApplicationError(domain.PublicMessage(err), string(domain.CodeInternal), err)
}
