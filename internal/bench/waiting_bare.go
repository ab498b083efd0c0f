package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/worker"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	bareWaits = "bench.waits"
	bareAct   = "bench.act"
	bareGo    = "go"
)

// bareWorker works on the reference of turns that wait: workflows that wait for a signal, run
// one activity, and end. It is configured as ours is.
type bareWorker struct {
	client  sdkclient.Client
	workers []sdkworker.Worker
	done    atomic.Int64 // activities that have run
}

// bareWait is the reference's input.
type bareWait struct{ Activities string } // queue

func bareWaitWorkflow(ctx workflow.Context, in bareWait) error {
	workflow.GetSignalChannel(ctx, bareGo).Receive(ctx, nil)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: in.Activities, StartToCloseTimeout: time.Minute, HeartbeatTimeout: 10 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3},
	})
	return workflow.ExecuteActivity(ctx, bareAct).Get(ctx, nil)
}

// workBare starts the reference's workers: one for the workflows and one for the activities,
// as where API and worker are apart.
func workBare(o apartOrder) (b *bareWorker, err error) {
	b = &bareWorker{}
	if b.client, err = dialBare(o); err != nil {
		return nil, err
	}
	sdkworker.SetStickyWorkflowCacheSize(worker.StickyWorkflows)
	act := func(context.Context) error { b.done.Add(1); return nil }
	for _, queue := range []string{o.Queues.Turns, o.Queues.Tools} {
		w := sdkworker.New(b.client, queue, sdkworker.Options{
			MaxConcurrentActivityTaskPollers: 32, WorkflowTaskPollerBehavior: worker.WorkflowPollers(32),
			MaxConcurrentWorkflowTaskExecutionSize: 64, MaxConcurrentActivityExecutionSize: 64,
			DisableWorkflowWorker: queue != o.Queues.Turns,
		})
		if queue == o.Queues.Turns {
			w.RegisterWorkflowWithOptions(bareWaitWorkflow, workflow.RegisterOptions{Name: bareWaits})
		}
		w.RegisterActivityWithOptions(act, activity.RegisterOptions{Name: bareAct})
		if err := w.Start(); err != nil {
			b.stop()
			return nil, fmt.Errorf("start the reference's worker: %w", err)
		}
		b.workers = append(b.workers, w)
	}
	return b, nil
}

func (b *bareWorker) stop() {
	for _, w := range b.workers {
		w.Stop()
	}
	b.client.Close()
}

// bareCrowd is the reference's workflows, as who starts and wakes them sees them.
type bareCrowd struct {
	client sdkclient.Client
	queues workflows.Queues
	worker *apart
	ids    []string // that wait
}

// pause starts n of them.
func (c *bareCrowd) pause(ctx context.Context, n int) error {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = "bare-waits/" + domain.NewID()
	}
	c.ids = append(c.ids, ids...)
	return inParallel(ctx, ids, func(ctx context.Context, id string) error {
		_, err := c.client.ExecuteWorkflow(ctx, sdkclient.StartWorkflowOptions{
			ID: id, TaskQueue: c.queues.Turns, EnableEagerStart: true,
		}, bareWaits, bareWait{Activities: c.queues.Tools})
		return err
	})
}

// take gives n that wait, which are somebody else's to wake from then on.
func (c *bareCrowd) take(n int) []string {
	taken := c.ids[:n]
	c.ids = c.ids[n:]
	return taken
}

// wake signals some and waits until the activity of each was run.
func (c *bareCrowd) wake(ctx context.Context, ids []string) (time.Duration, error) {
	before, err := c.worker.ask(askDone)
	if err != nil {
		return 0, err
	}
	started := time.Now()
	err = inParallel(ctx, ids, func(ctx context.Context, id string) error { return c.client.SignalWorkflow(ctx, id, "", bareGo, nil) })
	if err != nil {
		return 0, fmt.Errorf("signal the reference: %w", err)
	}
	err = poll(ctx, len(ids), func() (int, error) {
		now, err := c.worker.ask(askDone)
		return int(now.Done - before.Done), err
	})
	return time.Since(started), err
}

// wakeOne signals one and waits for its end.
func (c *bareCrowd) wakeOne(ctx context.Context, id string) (time.Duration, error) {
	started := time.Now()
	if err := c.client.SignalWorkflow(ctx, id, "", bareGo, nil); err != nil {
		return 0, err
	}
	err := c.client.GetWorkflow(ctx, id, "").Get(ctx, nil)
	return time.Since(started), err
}
