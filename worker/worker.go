package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// StickyWorkflows bounds the workflows kept in memory between their tasks, for the whole
// process; others are replayed from their history when something happens.
const StickyWorkflows = 500

const (
	// drainTime is how long activities may go on once the worker stops; then they are let
	// go and another worker takes them over. Nobody can take over an action that was begun:
	// such a one may go on for finishTime, and is unknown then. stopTime is what the whole stop
	// may take, and holds the commit of that.
	drainTime  = 3 * time.Second
	finishTime = 20 * time.Second
	stopTime   = 25 * time.Second
	// heartbeatThrottle is the longest time until a heartbeat is sent, and so until an
	// activity learns that it was canceled.
	heartbeatThrottle = time.Second
	// A task that finds no poller waiting is stored first, which takes the server two more
	// transactions. Where people wait there are enough pollers for a burst; one that waits costs
	// a few kilobytes here and there.
	manyPollers = 32
	fewPollers  = 4
)

// Config is all that a worker needs.
type Config struct {
	Client     sdkclient.Client
	Queues     workflows.Queues
	Activities Activities
	Log        zerolog.Logger
	// Serve names the queues to work on, by the keys of the configuration: turns, models,
	// tools, ingest, deploy. Empty: all.
	Serve []string
	// OnFatal is told when the server refuses this worker for good; nil for nothing.
	OnFatal func(error)
}

// Worker polls the task queues of this process.
type Worker struct {
	parts []sdkworker.Worker
	names []string
}

// queueClass says what one task queue may take of the machine.
type queueClass struct {
	key        string
	name       string
	workflows  bool // workflow tasks come here too
	activities int  // normal activities at once
	pollers    int  // of each kind
}

func classes(q workflows.Queues) []queueClass {
	return []queueClass{
		{"turns", q.Turns, true, 200, manyPollers},
		{"models", q.Models, false, 200, manyPollers},
		{"tools", q.Tools, false, 64, manyPollers},
		{"ingest", q.Ingest, true, 16, fewPollers},
		{"deploy", q.Deploy, true, 16, fewPollers},
	}
}

// New builds the worker. Queues that share a name are one.
func New(c Config) (*Worker, error) {
	sdkworker.SetStickyWorkflowCacheSize(StickyWorkflows)
	served, err := served(c.Queues, c.Serve)
	if err != nil {
		return nil, err
	}
	w := &Worker{}
	for _, class := range served {
		part := sdkworker.New(c.Client, class.name, options(c, class))
		if class.workflows { // the SDK refuses them where their tasks are not polled
			RegisterWorkflows(part)
		}
		RegisterActivities(part, c.Activities)
		w.parts, w.names = append(w.parts, part), append(w.names, class.name)
	}
	return w, nil
}

// served picks the classes to work on and merges those of one name.
func served(q workflows.Queues, keys []string) ([]queueClass, error) {
	wanted := map[string]bool{}
	for _, key := range keys {
		wanted[key] = true
	}
	var list []queueClass
	place := map[string]int{}
	for _, class := range classes(q) {
		if len(keys) > 0 && !wanted[class.key] {
			continue
		}
		delete(wanted, class.key)
		if class.name == "" {
			return nil, domain.Invalid("queues."+class.key, "the task queue has no name")
		}
		if at, ok := place[class.name]; ok {
			list[at].workflows = list[at].workflows || class.workflows
			list[at].activities = max(list[at].activities, class.activities)
			list[at].pollers = max(list[at].pollers, class.pollers)
			continue
		}
		place[class.name] = len(list)
		list = append(list, class)
	}
	for key := range wanted {
		return nil, domain.Invalid("queues", "there is no queue %q; there are turns, models, tools, ingest and deploy", key)
	}
	return list, nil
}

func options(c Config, class queueClass) sdkworker.Options {
	return sdkworker.Options{
		MaxConcurrentActivityExecutionSize:      class.activities,
		MaxConcurrentEagerActivityExecutionSize: class.activities,
		MaxConcurrentLocalActivityExecutionSize: 64,
		MaxConcurrentWorkflowTaskExecutionSize:  64,
		MaxConcurrentActivityTaskPollers:        class.pollers,
		WorkflowTaskPollerBehavior:              WorkflowPollers(class.pollers),
		MaxHeartbeatThrottleInterval:            heartbeatThrottle,
		DefaultHeartbeatThrottleInterval:        heartbeatThrottle,
		WorkerStopTimeout:                       stopTime,
		WorkflowPanicPolicy:                     sdkworker.BlockWorkflow,
		DisableWorkflowWorker:                   !class.workflows,
		DisableRegistrationAliasing:             true,
		Interceptors:                            []interceptor.WorkerInterceptor{&guard{log: c.Log, drain: drainTime, finish: finishTime}},
		OnFatalError:                            c.OnFatal,
	}
}

// WorkflowPollers gives pollers for workflow tasks, some for the queue and as many for the
// worker's own sticky one. By the SDK's simple behavior each poller picks one of the two, and while
// the sticky queue is said to have a backlog all pick that: when its tasks have timed out and
// wait in the other queue, nobody polls that one until the long polls end, a minute later.
func WorkflowPollers(n int) sdkworker.PollerBehavior {
	half := max(1, n/2)
	return sdkworker.NewPollerBehaviorAutoscaling(sdkworker.PollerBehaviorAutoscalingOptions{
		InitialNumberOfPollers: half, MinimumNumberOfPollers: half, MaximumNumberOfPollers: n,
	})
}

// Start begins to poll and returns.
func (w *Worker) Start() error {
	for i, part := range w.parts {
		if err := part.Start(); err != nil {
			for _, started := range w.parts[:i] {
				started.Stop()
			}
			return fmt.Errorf("start worker of queue %s: %w", w.names[i], err)
		}
	}
	return nil
}

// Stop takes no more work, lets what runs end or be taken over, and returns within seconds, or
// where actions run that people approved within stopTime.
func (w *Worker) Stop() {
	done := make(chan struct{}, len(w.parts))
	for _, part := range w.parts {
		go func() {
			part.Stop()
			done <- struct{}{}
		}()
	}
	for range w.parts {
		<-done
	}
}

// Run works until ctx ends.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.Start(); err != nil {
		return err
	}
	<-ctx.Done()
	w.Stop()
	return nil
}
