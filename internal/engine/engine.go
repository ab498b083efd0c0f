package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/rs/zerolog"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	// rejectDuplicate holds for workflow IDs that are derived from a row: one row, one run.
	rejectDuplicate = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	launchTimeout   = 10 * time.Second

	summaryLength = 150  // characters of a workflow's summary in the Temporal UI
	detailsLength = 3000 // and of its details
	quoteLength   = 2000 // and of the query in them
)

// Temporal is the part of the SDK's client that the engine uses.
type Temporal interface {
	ExecuteWorkflow(ctx context.Context, options sdkclient.StartWorkflowOptions, workflow any, args ...any) (sdkclient.WorkflowRun, error)
	SignalWorkflow(ctx context.Context, workflowID, runID, signal string, arg any) error
	CancelWorkflow(ctx context.Context, workflowID, runID string) error
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	OperatorService() operatorservice.OperatorServiceClient
	WorkflowService() workflowservice.WorkflowServiceClient
	ScheduleClient() sdkclient.ScheduleClient
}

// EventLog gives the events of a turn or a run.
type EventLog interface {
	// Follow gives the events after the cursor, the stored ones first and then those to
	// come, and ends after the terminal event or with ctx.
	Follow(ctx context.Context, subject string, after domain.Cursor) iter.Seq2[domain.Event, error]
}

// Config is all that the engine needs.
type Config struct {
	Temporal     Temporal
	Namespace    string // of Temporal
	Turns        TurnStore
	Actions      ActionStore
	Projects     ProjectStore
	Ingests      IngestStore
	Commands     CommandStore // nil for none
	Events       EventLog
	Repositories RepositoryStore
	House        HousekeepingStore
	Graphs       []HousekeepingGraph
	// EventsRetention is how long events of turns and runs are kept; 0: for ever.
	EventsRetention time.Duration
	// AuditRetention is how long entries of the audit are kept; 0: for ever.
	AuditRetention time.Duration
	Credentials    CredentialStore
	Agents         AgentStore
	Provisions     ProvisionStore
	// Containers is the LXD server of the configuration; nil for none.
	Containers Containers
	// Installs gives what keeps agents from being installed in containers; nil: nothing does.
	Installs   func() error
	Secrets    Secrets // nil for none
	Calls      Calls   // what is known of the calls that ask; nil for nothing
	Queues     workflows.Queues
	TurnLimits workflows.TurnLimits
	// Owner is the user in whose name the configuration's repositories are read.
	Owner string
	// Roots are the folders under which local repositories may lie, as absolute paths;
	// requests with AnyPath are not held to them.
	Roots []string
	Log   zerolog.Logger
}

// Engine drives turns, ingestions and commands on machines. It is safe for concurrent use.
type Engine struct {
	Config
	attributes registered

	launches sync.WaitGroup // what goes on beside what it is about: starts of workflows, and notes
	notes    chan struct{}  // a place for each project that is being told of a command

	watchLock sync.Mutex
	watched   map[string]time.Duration // schedules that this process has seen to, by repository
}

// New builds the engine. It asks Temporal which search attributes are registered; work goes
// on without those that aren't.
func New(ctx context.Context, c Config) (*Engine, error) {
	e := &Engine{Config: c, watched: map[string]time.Duration{}, notes: make(chan struct{}, notesAtOnce)}
	var err error
	if e.attributes, err = detect(ctx, c.Temporal, c.Namespace); err != nil {
		c.Log.Warn().Err(err).Msg("search_attributes_unknown")
	}
	if missing := e.attributes.missing(); len(missing) > 0 {
		c.Log.Warn().Strs("missing", missing).Msg("search_attributes_missing")
	}
	return e, nil
}

// launch is a workflow that is to be started.
type launch struct {
	id       string
	queue    string
	workflow string
	input    any
	labels   labels
	memo     map[string]any
	summary  string // one line for the Temporal UI
	details  string // Markdown for the Temporal UI
}

// start starts a workflow unless one of its id was started before. Both are success: the id
// is derived from a row, and whoever comes second finds the work under way or done. A start
// that Temporal will never accept is an unprocessable error.
func (e *Engine) start(ctx context.Context, l launch) error {
	options := sdkclient.StartWorkflowOptions{
		ID:                                       l.id,
		TaskQueue:                                l.queue,
		WorkflowIDReusePolicy:                    rejectDuplicate,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		EnableEagerStart:                         true,
		TypedSearchAttributes:                    e.attributes.set(l.labels),
		Memo:                                     l.memo,
		StaticSummary:                            cut(l.summary, summaryLength),
		StaticDetails:                            cut(l.details, detailsLength),
	}
	_, err := e.Temporal.ExecuteWorkflow(ctx, options, l.workflow, l.input)
	var invalid *serviceerror.InvalidArgument
	if errors.As(err, &invalid) {
		// Work comes before its labels: an attribute may have been removed from the namespace.
		e.Log.Warn().Str("workflow_id", l.id).Err(err).Msg("workflow_labels_refused")
		options.TypedSearchAttributes, options.Memo = temporal.NewSearchAttributes(), nil
		options.StaticSummary, options.StaticDetails = "", ""
		_, err = e.Temporal.ExecuteWorkflow(ctx, options, l.workflow, l.input)
	}
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case err == nil, errors.As(err, &started):
		return nil
	case errors.As(err, &invalid):
		return domain.Wrap(domain.CodeUnprocessable, err, "Temporal refuses to start its workflow")
	}
	return fmt.Errorf("start workflow %s: %w", l.id, err)
}

// cancel asks a workflow to stop. One that is unknown or closed has nothing to stop.
func (e *Engine) cancel(ctx context.Context, workflowID string) error {
	err := e.Temporal.CancelWorkflow(ctx, workflowID, "")
	var missing *serviceerror.NotFound
	if err != nil && !errors.As(err, &missing) {
		return fmt.Errorf("cancel workflow %s: %w", workflowID, err)
	}
	return nil
}
