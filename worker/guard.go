package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/obs"
	"github.com/harvest-engine/harvest/workflows"
)

// errStopping ends the context of activities that still run when their worker stops.
var errStopping = errors.New("the worker is stopping")

// guard stands before every activity: it gives the context a logger that knows the
// workflow, turns panics into errors that are not retried and domain errors into Temporal's,
// and lets go of long activities when the worker stops.
type guard struct {
	interceptor.WorkerInterceptorBase
	log    zerolog.Logger
	drain  time.Duration // how long an activity may go on once the worker stops
	finish time.Duration // how long an action may that people approved
}

// InterceptActivity implements interceptor.WorkerInterceptor.
func (g *guard) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &activityGuard{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, guard: g}
}

type activityGuard struct {
	interceptor.ActivityInboundInterceptorBase
	guard *guard
}

// ExecuteActivity implements interceptor.ActivityInboundInterceptor.
func (g *activityGuard) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (out any, err error) {
	ctx = withLog(ctx, g.guard.log)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !activity.GetInfo(ctx).IsLocalActivity {
		go g.guard.letGo(ctx, cancel)
	}
	defer func() {
		if p := recover(); p != nil {
			zerolog.Ctx(ctx).Error().Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg("activity_panic")
			out, err = nil, temporal.NewNonRetryableApplicationError("something went wrong on our side; the log holds the details", string(domain.CodeInternal), fmt.Errorf("panic: %v", p))
		}
	}()
	out, err = g.Next.ExecuteActivity(ctx, in)
	return out, settle(ctx, err)
}

// letGo cancels an activity that outlives the drain of its worker, so that its failure is
// still reported and another worker takes over at once instead of after missed heartbeats.
func (g *guard) letGo(ctx context.Context, cancel context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
		return
	case <-activity.GetWorkerStopChannel(ctx):
	}
	patience := g.drain
	if activity.GetInfo(ctx).ActivityType.Name == workflows.ApplyAction.Name {
		patience = g.finish
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
		cancel(errStopping)
	}
}

// settle gives the error in Temporal's terms. An activity that was let go is retried.
func settle(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStopping) {
		return temporal.NewApplicationErrorWithOptions(errStopping.Error(), "worker_stopping",
			temporal.ApplicationErrorOptions{Cause: err, NextRetryDelay: 50 * time.Millisecond})
	}
	return activities.Failure(err)
}

// withLog gives the context the ids of the work, and a logger that names the activity too.
func withLog(ctx context.Context, log zerolog.Logger) context.Context {
	info := activity.GetInfo(ctx)
	ids := obs.IDs{WorkflowID: info.WorkflowExecution.ID}
	if kind, id, _ := strings.Cut(ids.WorkflowID, "/"); kind == "turn" {
		ids.TurnID = id
	}
	ctx = obs.With(ctx, ids)
	return log.With().Ctx(ctx).Str("activity", info.ActivityType.Name).Int32("attempt", info.Attempt).Logger().WithContext(ctx)
}
