package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	minWatch = 10 * time.Second
	// catchUp is how late a look for changes may be made up for, after an outage.
	catchUp = time.Minute
)

// watch makes the schedule of a repository what the repository says; what fails here is
// tried again by keepWatches.
func (e *Engine) watch(ctx context.Context, repo domain.Repository) {
	if err := e.setWatch(context.WithoutCancel(ctx), repo); err != nil {
		e.Log.Warn().Str("repository", repo.Name).Err(err).Msg("watch_postponed")
	}
}

func (e *Engine) setWatch(ctx context.Context, repo domain.Repository) error {
	e.watchLock.Lock()
	defer e.watchLock.Unlock()
	if every, seen := e.watched[repo.Name]; seen && every == repo.Watch {
		return nil
	}
	var err error
	if repo.Watch == 0 {
		err = e.deleteSchedule(ctx, repo.Name)
	} else {
		err = e.saveSchedule(ctx, repo)
	}
	if err == nil {
		e.watched[repo.Name] = repo.Watch
	}
	return err
}

// unwatch removes the schedule of a repository that is being deleted.
func (e *Engine) unwatch(ctx context.Context, repository string) error {
	e.watchLock.Lock()
	defer e.watchLock.Unlock()
	delete(e.watched, repository)
	return e.deleteSchedule(ctx, repository)
}

// keepWatches makes the schedules of all repositories what the repositories say.
func (e *Engine) keepWatches(ctx context.Context) error {
	repos, err := e.Repositories.Repositories(ctx)
	if err != nil {
		return fmt.Errorf("list repositories: %w", err)
	}
	for _, repo := range repos {
		if err := e.setWatch(ctx, repo); err != nil {
			return err
		}
		// It may have been deleted since it was listed, and its schedule before ours was made.
		if _, err := e.Repositories.Repository(ctx, repo.Name); repo.Watch != 0 && domain.CodeOf(err) == domain.CodeNotFound {
			if err := e.unwatch(ctx, repo.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) saveSchedule(ctx context.Context, repo domain.Repository) error {
	spec := sdkclient.ScheduleSpec{Intervals: []sdkclient.ScheduleIntervalSpec{{Every: repo.Watch}}}
	action := &sdkclient.ScheduleWorkflowAction{
		ID:                    workflows.WatchScheduleID(repo.Name),
		Workflow:              workflows.IngestRepository.Name,
		Args:                  []any{workflows.IngestInput{Repository: repo.Name, OnlyMoved: true}},
		TaskQueue:             e.Queues.Ingest,
		TypedSearchAttributes: e.attributes.set(labels{kind: "ingest", repositories: []string{repo.Name}}),
		StaticSummary:         cut("Look for changes of "+repo.Name, summaryLength),
	}
	_, err := e.Temporal.ScheduleClient().Create(ctx, sdkclient.ScheduleOptions{
		ID: workflows.WatchScheduleID(repo.Name), Spec: spec, Action: action,
		Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: catchUp,
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		handle := e.Temporal.ScheduleClient().GetHandle(ctx, workflows.WatchScheduleID(repo.Name))
		err = handle.Update(ctx, sdkclient.ScheduleUpdateOptions{
			DoUpdate: func(in sdkclient.ScheduleUpdateInput) (*sdkclient.ScheduleUpdate, error) {
				schedule := in.Description.Schedule
				schedule.Spec, schedule.Action = &spec, action
				return &sdkclient.ScheduleUpdate{Schedule: &schedule}, nil
			},
		})
	}
	if err != nil {
		return fmt.Errorf("schedule the watch of %s: %w", repo.Name, err)
	}
	return nil
}

func (e *Engine) deleteSchedule(ctx context.Context, repository string) error {
	err := e.Temporal.ScheduleClient().GetHandle(ctx, workflows.WatchScheduleID(repository)).Delete(ctx)
	var missing *serviceerror.NotFound
	if err != nil && !errors.As(err, &missing) {
		return fmt.Errorf("remove the watch of %s: %w", repository, err)
	}
	return nil
}
