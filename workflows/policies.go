package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Queues names the task queues of a deployment. It travels in workflow inputs, because a
// workflow reads no configuration. An empty name means the workflow's own queue: that is
// how everything shares one queue when API and worker are one process.
type Queues struct {
	Turns  string `json:"turns,omitempty"`  // turn workflows, their local steps
	Models string `json:"models,omitempty"` // calls to model providers
	Tools  string `json:"tools,omitempty"`  // tools that are not local
	Ingest string `json:"ingest,omitempty"` // ingestion workflows and activities
	Deploy string `json:"deploy,omitempty"` // deployments
}

// CombinedQueues gives the layout of a single process: every queue is name, which is what
// makes eager start and eager activities possible.
func CombinedQueues(name string) Queues {
	return Queues{Turns: name, Models: name, Tools: name, Ingest: name, Deploy: name}
}

// heartbeatTimeout bounds how long a worker's death goes unnoticed. Activities heartbeat
// several times within it.
const heartbeatTimeout = 10 * time.Second

// storeStep is the class of short idempotent steps on our own database: local activities.
// The retries outlast a restart of Postgres.
func storeStep(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    2 * time.Second,
		ScheduleToCloseTimeout: 5 * time.Minute,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    50 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    5 * time.Second,
			MaximumAttempts:    80,
		},
		Summary: summary,
	})
}

// quickStep is the class of a turn's steps on our own database: local activities. What does
// not succeed at once goes on as a durableStep, so that the workflow can hear a cancel.
func quickStep(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    2 * time.Second,
		ScheduleToCloseTimeout: 4 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    50 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    time.Second,
			MaximumAttempts:    3,
		},
		Summary: summary,
	})
}

// durableStep is the class of the same steps as normal activities: they wait for a database
// that is away.
func durableStep(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    time.Minute,
		ScheduleToCloseTimeout: 24 * time.Hour,
		HeartbeatTimeout:       heartbeatTimeout,
		WaitForCancellation:    true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    200 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    5 * time.Second,
			MaximumAttempts:    20_000,
		},
		Summary: summary,
	})
}

// localTool is the class of tool calls on the indexed graph: local activities. Their
// errors are results for the model; a fault of the database goes on as a remoteTool.
func localTool(ctx workflow.Context, limit time.Duration, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    min(limit+500*time.Millisecond, 2*time.Second),
		ScheduleToCloseTimeout: 4 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    100 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    time.Second,
			MaximumAttempts:    2,
		},
		Summary: summary,
	})
}

// localAction is the class of approved calls that are short: local activities. Each is tried
// once, for as long as a remote one would be: an attempt that was cut off is not to be followed
// while it may still store its outcome. What goes wrong goes on as a remoteTool.
func localAction(ctx workflow.Context, limit time.Duration, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    limit + outcomePatience,
		ScheduleToCloseTimeout: limit + outcomePatience,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
}

// remoteTool is the class of tool calls that reach outside or take long. The call's row
// knows whether an outcome is committed, so that attempts may be many.
func remoteTool(ctx workflow.Context, queues Queues, limit time.Duration, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              queues.Tools,
		StartToCloseTimeout:    limit + 5*time.Second,
		ScheduleToCloseTimeout: 2 * time.Hour,
		HeartbeatTimeout:       heartbeatTimeout,
		WaitForCancellation:    true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    200 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    10 * time.Second,
			MaximumAttempts:    20,
		},
		Summary: summary,
	})
}

// modelCall is the class of calls to model providers. The provider's failures say when to
// try again and are counted in the call's row; the attempts bounded here also cover
// crashes of workers, which must not use those up.
func modelCall(ctx workflow.Context, queues Queues, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              queues.Models,
		StartToCloseTimeout:    time.Hour,
		ScheduleToCloseTimeout: 6 * time.Hour,
		HeartbeatTimeout:       heartbeatTimeout,
		WaitForCancellation:    true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    500 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
			MaximumAttempts:    50,
		},
		Summary: summary,
	})
}

// longStep is the class of work that takes minutes and goes on where it was when it is
// tried again: reading a repository. An empty queue is the workflow's own.
func longStep(ctx workflow.Context, queue string, limit time.Duration, attempts int32, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              queue,
		StartToCloseTimeout:    limit,
		ScheduleToCloseTimeout: 2 * limit,
		HeartbeatTimeout:       heartbeatTimeout,
		WaitForCancellation:    true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
			MaximumAttempts:    attempts,
		},
		Summary: summary,
	})
}
