package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// stopPatience is how long a deletion waits for the run that holds the repository to end.
const stopPatience = 30 * time.Second

// IngestStore keeps the runs that read or delete repositories.
type IngestStore interface {
	// CreateIngest stores a queued run and takes the repository's lock; conflict where another
	// run holds it.
	CreateIngest(ctx context.Context, order domain.IngestOrder) (domain.Ingest, error)
	// Ingest gives a run with its versions, or not_found.
	Ingest(ctx context.Context, id string) (domain.Ingest, error)
	// IngestHolder gives the run that holds a repository, or not_found.
	IngestHolder(ctx context.Context, repository string) (domain.OpenIngest, error)
	// RequestIngestCancel records that the run is to stop; conflict where it has ended.
	RequestIngestCancel(ctx context.Context, id string) (launched bool, err error)
	// MarkIngestLaunched records that the run's workflow was started.
	MarkIngestLaunched(ctx context.Context, id string) error
	// UnstartedIngests lists runs older than age that are not known to have a workflow.
	UnstartedIngests(ctx context.Context, age time.Duration, limit int) ([]domain.OpenIngest, error)
	// OpenIngests lists runs older than age that have not ended, by id, after the given one.
	OpenIngests(ctx context.Context, age time.Duration, after string, limit int) ([]domain.OpenIngest, error)
	// EndIngest ends a run with its terminal event and frees the repository; one that has ended
	// stays as it is.
	EndIngest(ctx context.Context, id string, code domain.Code, message string) (domain.Ingest, error)
}

// RepositoryStore keeps what is known of repositories.
type RepositoryStore interface {
	// SaveRepository inserts or updates by name and gives the id.
	SaveRepository(ctx context.Context, repo domain.Repository) (int64, error)
	// Repositories lists all, by name.
	Repositories(ctx context.Context) ([]domain.Repository, error)
	// Repository gives one, or not_found.
	Repository(ctx context.Context, name string) (domain.Repository, error)
}

// CredentialStore keeps the credentials of repositories, sealed. They go with the repository.
type CredentialStore interface {
	// SaveCredentials replaces the credentials of a saved repository.
	SaveCredentials(ctx context.Context, repository string, c domain.Credentials) error
}

// AddRepository saves the repository and starts to read it. Errors: invalid for an address
// that can't be read, forbidden for a local path outside the configured roots, conflict
// where a run on the same repository is under way or the name stands for another address.
func (e *Engine) AddRepository(ctx context.Context, req domain.IngestRequest) (domain.Ingest, error) {
	return e.addRepository(ctx, req, false)
}

func (e *Engine) addRepository(ctx context.Context, req domain.IngestRequest, onlyMoved bool) (domain.Ingest, error) {
	address, err := e.address(req.URL, req.AnyPath)
	if err != nil {
		return domain.Ingest{}, err
	}
	if err := checkCredentials(address, req.Credentials); err != nil {
		return domain.Ingest{}, err
	}
	name, err := repositoryName(req.Name, address)
	if err != nil {
		return domain.Ingest{}, err
	}
	known, err := e.Repositories.Repository(ctx, name)
	// Where nothing was ever read, the address may have been a slip.
	if err == nil && known.URL != address && len(known.Versions) > 0 {
		return domain.Ingest{}, domain.Errorf(domain.CodeConflict, "the name %q stands for %s already; choose another name", name, known.URL)
	}
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return domain.Ingest{}, fmt.Errorf("load repository: %w", err)
	}
	repo := domain.Repository{
		Name: name, URL: address, Refs: req.Refs, AllTags: req.AllTags, Worktree: req.Worktree,
		Watch: nextWatch(req.Watch, known.Watch),
	}
	return e.read(ctx, repo, req, onlyMoved)
}

// IngestRepository reads a known repository again. Refs and the like that are set replace
// what was saved; not_found for an unknown name.
func (e *Engine) IngestRepository(ctx context.Context, req domain.IngestRequest) (domain.Ingest, error) {
	repo, err := e.Repositories.Repository(ctx, req.Name)
	if err != nil {
		return domain.Ingest{}, err
	}
	if err := checkCredentials(repo.URL, req.Credentials); err != nil {
		return domain.Ingest{}, err
	}
	if len(req.Refs) > 0 {
		repo.Refs = req.Refs
	}
	repo.AllTags = repo.AllTags || req.AllTags
	repo.Worktree = repo.Worktree || req.Worktree
	repo.Watch = nextWatch(req.Watch, repo.Watch)
	return e.read(ctx, repo, req, false)
}

// nextWatch gives how often to look for changes, from what is asked for and how it was.
func nextWatch(asked, known time.Duration) time.Duration {
	if asked == domain.WatchOff {
		return 0
	}
	return cmp.Or(asked, known)
}

// read takes the repository's lock, saves it and starts the run. The lock comes first: a
// repository that is being deleted must not be saved.
func (e *Engine) read(ctx context.Context, repo domain.Repository, req domain.IngestRequest, onlyMoved bool) (domain.Ingest, error) {
	if repo.Watch != 0 && repo.Watch < minWatch {
		return domain.Ingest{}, domain.Invalid("watch", "look for changes every %s at the most", minWatch)
	}
	id := domain.NewID()
	order := domain.IngestOrder{
		ID: id, UserID: req.UserID, Repository: repo.Name, Kind: domain.IngestRead,
		OnlyMoved: onlyMoved, WorkflowID: workflows.IngestWorkflowID(id),
	}
	run, err := e.Ingests.CreateIngest(ctx, order)
	if err != nil {
		return domain.Ingest{}, err
	}
	if err := e.save(ctx, repo, req.Credentials); err != nil {
		_, _ = e.Ingests.EndIngest(context.WithoutCancel(ctx), id, domain.CodeOf(err), domain.PublicMessage(err))
		return domain.Ingest{}, err
	}
	e.tryLaunchIngest(ctx, order)
	e.watch(ctx, repo)
	return run, nil
}

func (e *Engine) save(ctx context.Context, repo domain.Repository, credentials domain.Credentials) error {
	if known, err := e.Repositories.Repository(ctx, repo.Name); err == nil && known.URL != repo.URL {
		// What opens the address of before must not reach the new one.
		if err := e.Credentials.SaveCredentials(ctx, repo.Name, domain.Credentials{}); err != nil {
			return fmt.Errorf("forget the credentials: %w", err)
		}
	}
	if _, err := e.Repositories.SaveRepository(ctx, repo); err != nil {
		return fmt.Errorf("save repository: %w", err)
	}
	if credentials.Empty() {
		return nil
	}
	if err := e.Credentials.SaveCredentials(ctx, repo.Name, credentials); err != nil {
		return fmt.Errorf("keep the credentials: %w", err)
	}
	return nil
}

// DeleteRepository removes a repository with all its versions, or gives not_found. A run
// that reads it is canceled first. Once begun the deletion goes on without the caller.
func (e *Engine) DeleteRepository(ctx context.Context, name string) error {
	if _, err := e.Repositories.Repository(ctx, name); err != nil {
		return err
	}
	id, err := e.orderDeletion(ctx, name)
	if err != nil {
		return err
	}
	return e.outcome(ctx, id)
}

// orderDeletion gives the id of the run that deletes the repository.
func (e *Engine) orderDeletion(ctx context.Context, name string) (string, error) {
	id := domain.NewID()
	order := domain.IngestOrder{ID: id, Repository: name, Kind: domain.IngestDelete, WorkflowID: workflows.IngestWorkflowID(id)}
	for {
		_, err := e.Ingests.CreateIngest(ctx, order)
		if err == nil {
			e.tryLaunchIngest(ctx, order)
			return id, nil
		}
		if domain.CodeOf(err) != domain.CodeConflict {
			return "", err
		}
		holder, err := e.Ingests.IngestHolder(ctx, name)
		switch {
		case domain.CodeOf(err) == domain.CodeNotFound:
			continue // it has ended since
		case err != nil:
			return "", err
		case holder.Kind == domain.IngestDelete:
			return holder.ID, nil
		}
		if err := e.stopIngest(ctx, holder); err != nil {
			return "", err
		}
	}
}

// stopIngest cancels a run and waits for its end.
func (e *Engine) stopIngest(ctx context.Context, run domain.OpenIngest) error {
	ctx, stop := context.WithTimeoutCause(ctx, stopPatience,
		domain.Errorf(domain.CodeConflict, "run %s on %s does not stop; try again in a minute", run.ID, run.Repository))
	defer stop()
	if _, err := e.Ingests.RequestIngestCancel(ctx, run.ID); err != nil && domain.CodeOf(err) != domain.CodeConflict {
		return err
	}
	if err := e.cancel(ctx, run.WorkflowID); err != nil {
		return err
	}
	for _, err := range e.Events.Follow(ctx, run.ID, domain.Cursor{}) {
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
	return nil
}

// outcome waits for the end of a run and gives the error that it ended with.
func (e *Engine) outcome(ctx context.Context, id string) error {
	for _, err := range e.Events.Follow(ctx, id, domain.Cursor{}) {
		if err != nil {
			return err
		}
	}
	run, err := e.Ingests.Ingest(ctx, id)
	if err == nil && run.Status != domain.IngestDone {
		err = domain.Errorf(cmp.Or(run.ErrorCode, domain.CodeUpstream), "%s", run.Error)
	}
	return err
}

// Ingest gives a run with its progress, or not_found.
func (e *Engine) Ingest(ctx context.Context, id string) (domain.Ingest, error) {
	return e.Ingests.Ingest(ctx, id)
}

// FollowIngest gives the run's events after the cursor, the stored ones first and then those
// to come, and ends after the terminal event or with ctx.
func (e *Engine) FollowIngest(ctx context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	return e.Events.Follow(ctx, id, after)
}

// SyncConfigured reads the repositories of the configuration, as far as their refs have
// moved, and watches them as it says. One that can't be read does not keep the others from it: its error is logged.
func (e *Engine) SyncConfigured(ctx context.Context, requests []domain.IngestRequest) {
	for _, req := range requests {
		req.UserID, req.AnyPath = e.Owner, true
		req.Watch = cmp.Or(req.Watch, domain.WatchOff) // a watch that left the configuration ends
		run, err := e.addRepository(ctx, req, true)
		switch {
		case err == nil:
			e.Log.Info().Str("repository", run.Repository).Str("ingest_id", run.ID).Msg("configured_repository_ordered")
		case domain.CodeOf(err) == domain.CodeConflict:
			e.Log.Warn().Str("url", shown(req.URL)).Err(err).Msg("configured_repository_busy")
		default:
			e.Log.Error().Str("url", shown(req.URL)).Err(err).Msg("configured_repository_refused")
		}
	}
}

// launchIngest starts the workflow of a run. A deletion removes the watch first.
func (e *Engine) launchIngest(ctx context.Context, order domain.IngestOrder) error {
	ctx, stop := context.WithTimeout(ctx, launchTimeout)
	defer stop()
	l := launch{
		id: order.WorkflowID, queue: e.Queues.Ingest,
		workflow: workflows.IngestRepository.Name,
		input: workflows.IngestInput{
			IngestID: order.ID, Repository: order.Repository, OnlyMoved: order.OnlyMoved,
		},
		labels:  labels{kind: "ingest", user: order.UserID, subject: order.ID, repositories: []string{order.Repository}},
		memo:    map[string]any{"ingest_id": order.ID, "repository": order.Repository},
		summary: "Read " + order.Repository,
	}
	if order.Kind == domain.IngestDelete {
		l.workflow, l.summary, l.labels.kind = workflows.DeleteRepository.Name, "Delete "+order.Repository, "delete"
		l.input = workflows.DeleteRepositoryInput{IngestID: order.ID, Repository: order.Repository}
		if err := e.unwatch(ctx, order.Repository); err != nil {
			return err
		}
	}
	return e.start(ctx, l)
}

// tryLaunchIngest starts the workflow of a run; what fails here the sweeper repeats.
func (e *Engine) tryLaunchIngest(ctx context.Context, order domain.IngestOrder) {
	if err := e.launchIngest(context.WithoutCancel(ctx), order); err != nil {
		e.Log.Warn().Str("ingest_id", order.ID).Err(err).Msg("ingest_launch_postponed")
	}
}
