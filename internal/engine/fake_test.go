package engine_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/workflows"
)

// fakes are what an engine under test stands on.
type fakes struct {
	temporal     *fakeTemporal
	ingests      *fakeIngests
	turns        *fakeTurns
	actions      *fakeActions
	commands     *fakeCommands
	repositories *fakeRepositories
	credentials  *fakeCredentials
}

// fakeCredentials keeps credentials in the open.
type fakeCredentials struct{ saved map[string]domain.Credentials }

func (f *fakeCredentials) SaveCredentials(_ context.Context, repository string, c domain.Credentials) error {
	f.saved[repository] = c
	return nil
}

type option func(*engine.Config)

func withRoots(roots ...string) option { return func(c *engine.Config) { c.Roots = roots } }

func newEngine(t *testing.T, options ...option) (*engine.Engine, fakes) {
	t.Helper()
	f := fakes{
		temporal: &fakeTemporal{states: map[string]enumspb.WorkflowExecutionStatus{}, schedules: map[string]time.Duration{}},
		ingests:  &fakeIngests{runs: map[string]*domain.OpenIngest{}, ended: map[string]domain.Ingest{}},
		turns:    &fakeTurns{rows: map[string]*domain.Turn{}}, repositories: &fakeRepositories{saved: map[string]domain.Repository{}},
		credentials: &fakeCredentials{saved: map[string]domain.Credentials{}},
		actions:     &fakeActions{rows: map[string]domain.Action{}, told: map[string]bool{}},
		commands:    &fakeCommands{rows: map[string]*domain.Command{}, told: map[string]bool{}, overdue: map[string]bool{}},
	}
	f.temporal.attributes = engine.SearchAttributes()
	config := engine.Config{
		Temporal: f.temporal, Turns: f.turns, Actions: f.actions, Ingests: f.ingests, Commands: f.commands, Events: follower{f}, Repositories: f.repositories, Credentials: f.credentials, House: &fakeHouse{},
		Queues: workflows.CombinedQueues("turns"), Owner: "owner", Log: zerolog.Nop(),
	}
	for _, option := range options {
		option(&config)
	}
	e, err := engine.New(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	return e, f
}

// fakeTemporal knows the states of workflows and the intervals of schedules.
type fakeTemporal struct {
	signals    []string
	mu         sync.Mutex
	attributes map[string]enumspb.IndexedValueType
	down       error
	started    []sdkclient.StartWorkflowOptions
	inputs     []any
	states     map[string]enumspb.WorkflowExecutionStatus
	canceled   []string
	schedules  map[string]time.Duration
	actions    map[string]*sdkclient.ScheduleWorkflowAction
	onCancel   func(id string)
	retention  time.Duration                              // of histories
	refuse     func(sdkclient.StartWorkflowOptions) error // of single workflows
}

func (f *fakeTemporal) ExecuteWorkflow(_ context.Context, options sdkclient.StartWorkflowOptions, _ any, args ...any) (sdkclient.WorkflowRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	if f.refuse != nil {
		if err := f.refuse(options); err != nil {
			return nil, err
		}
	}
	if _, ok := f.states[options.ID]; ok {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("started", "request", "run")
	}
	f.states[options.ID] = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	f.started, f.inputs = append(f.started, options), append(f.inputs, args[0])
	return nil, nil
}

func (f *fakeTemporal) startedIDs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for _, options := range f.started {
		ids = append(ids, options.ID)
	}
	return ids
}

func (f *fakeTemporal) CancelWorkflow(_ context.Context, id, _ string) error {
	f.mu.Lock()
	if f.down != nil {
		defer f.mu.Unlock()
		return f.down
	}
	f.canceled = append(f.canceled, id)
	hook := f.onCancel
	f.mu.Unlock()
	if hook != nil {
		hook(id)
	}
	return nil
}

func (f *fakeTemporal) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	state, ok := f.states[id]
	if !ok {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: state,
	}}, nil
}

func (f *fakeTemporal) OperatorService() operatorservice.OperatorServiceClient {
	return fakeOperator{attributes: f.attributes}
}

func (f *fakeTemporal) WorkflowService() workflowservice.WorkflowServiceClient {
	return fakeService{temporal: f}
}

type fakeService struct {
	workflowservice.WorkflowServiceClient
	temporal *fakeTemporal
}

func (f fakeService) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest, ...grpc.CallOption) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{Config: &namespacepb.NamespaceConfig{
		WorkflowExecutionRetentionTtl: durationpb.New(f.temporal.retention),
	}}, f.temporal.down
}

type fakeOperator struct {
	operatorservice.OperatorServiceClient
	attributes map[string]enumspb.IndexedValueType
}

func (f fakeOperator) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest, ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: f.attributes}, nil
}

func (f *fakeTemporal) ScheduleClient() sdkclient.ScheduleClient { return fakeSchedules{f} }

func (f *fakeTemporal) watches() map[string]time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.schedules)
}

type fakeSchedules struct{ *fakeTemporal }

func (f fakeSchedules) Create(_ context.Context, options sdkclient.ScheduleOptions) (sdkclient.ScheduleHandle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	if _, ok := f.schedules[options.ID]; ok {
		return nil, temporal.ErrScheduleAlreadyRunning
	}
	f.schedules[options.ID] = options.Spec.Intervals[0].Every
	return fakeSchedule{f.fakeTemporal, options.ID}, nil
}

func (f fakeSchedules) List(context.Context, sdkclient.ScheduleListOptions) (sdkclient.ScheduleListIterator, error) {
	panic("the engine lists no schedules")
}

func (f fakeSchedules) GetHandle(_ context.Context, id string) sdkclient.ScheduleHandle {
	return fakeSchedule{f.fakeTemporal, id}
}

type fakeSchedule struct {
	*fakeTemporal
	id string
}

func (f fakeSchedule) GetID() string { return f.id }

func (f fakeSchedule) Delete(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return f.down
	}
	if _, ok := f.schedules[f.id]; !ok {
		return serviceerror.NewNotFound("no such schedule")
	}
	delete(f.schedules, f.id)
	return nil
}

func (f fakeSchedule) Update(_ context.Context, options sdkclient.ScheduleUpdateOptions) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	update, err := options.DoUpdate(sdkclient.ScheduleUpdateInput{})
	if err != nil {
		return err
	}
	f.schedules[f.id] = update.Schedule.Spec.Intervals[0].Every
	return nil
}

func (fakeSchedule) Backfill(context.Context, sdkclient.ScheduleBackfillOptions) error {
	panic("unused")
}
func (fakeSchedule) Describe(context.Context) (*sdkclient.ScheduleDescription, error) {
	panic("unused")
}
func (fakeSchedule) Trigger(context.Context, sdkclient.ScheduleTriggerOptions) error { panic("unused") }
func (fakeSchedule) Pause(context.Context, sdkclient.SchedulePauseOptions) error     { panic("unused") }
func (fakeSchedule) Unpause(context.Context, sdkclient.ScheduleUnpauseOptions) error { panic("unused") }

// fakeIngests keeps open runs, and ended ones apart.
type fakeIngests struct {
	mu    sync.Mutex
	runs  map[string]*domain.OpenIngest
	ended map[string]domain.Ingest
}

func (f *fakeIngests) CreateIngest(_ context.Context, order domain.IngestOrder) (domain.Ingest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, run := range f.runs {
		if run.Repository == order.Repository {
			return domain.Ingest{}, domain.Errorf(domain.CodeConflict, "held by %s", run.ID)
		}
	}
	f.runs[order.ID] = &domain.OpenIngest{IngestOrder: order, CreatedAt: time.Now()}
	return domain.Ingest{ID: order.ID, Repository: order.Repository, Kind: order.Kind, Status: domain.IngestQueued}, nil
}

// openIDs lists the runs that have not ended.
func (f *fakeIngests) openIDs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.runs))
}

func (f *fakeIngests) Ingest(_ context.Context, id string) (domain.Ingest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if run, ok := f.ended[id]; ok {
		return run, nil
	}
	if run, ok := f.runs[id]; ok {
		return domain.Ingest{ID: id, Repository: run.Repository, Status: domain.IngestRunning}, nil
	}
	return domain.Ingest{}, domain.NotFound("no ingest %s", id)
}

func (f *fakeIngests) IngestHolder(_ context.Context, repository string) (domain.OpenIngest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, run := range f.runs {
		if run.Repository == repository {
			return *run, nil
		}
	}
	return domain.OpenIngest{}, domain.NotFound("free")
}

func (f *fakeIngests) RequestIngestCancel(_ context.Context, id string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run, ok := f.runs[id]
	if !ok {
		return false, domain.Errorf(domain.CodeConflict, "ended")
	}
	run.CancelRequested = true
	return run.Launched, nil
}

func (f *fakeIngests) MarkIngestLaunched(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if run, ok := f.runs[id]; ok {
		run.Launched = true
	}
	return nil
}

func (f *fakeIngests) open(keep func(*domain.OpenIngest) bool) []domain.OpenIngest {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []domain.OpenIngest
	for _, id := range slices.Sorted(maps.Keys(f.runs)) {
		if run := f.runs[id]; keep(run) {
			list = append(list, *run)
		}
	}
	return list
}

func (f *fakeIngests) UnstartedIngests(context.Context, time.Duration, int) ([]domain.OpenIngest, error) {
	return f.open(func(run *domain.OpenIngest) bool { return !run.Launched }), nil
}

func (f *fakeIngests) OpenIngests(_ context.Context, _ time.Duration, after string, limit int) ([]domain.OpenIngest, error) {
	list := f.open(func(run *domain.OpenIngest) bool { return run.ID > after })
	return list[:min(limit, len(list))], nil
}

func (f *fakeIngests) EndIngest(_ context.Context, id string, code domain.Code, message string) (domain.Ingest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run, ok := f.runs[id]
	if !ok {
		return f.ended[id], nil
	}
	delete(f.runs, id)
	status := domain.IngestDone
	switch code {
	case "":
	case domain.CodeCanceled:
		status = domain.IngestCanceled
	default:
		status = domain.IngestFailed
	}
	f.ended[id] = domain.Ingest{ID: id, Repository: run.Repository, Status: status, Error: message, ErrorCode: code}
	return f.ended[id], nil
}

// fakeTurns keeps turns.
type fakeTurns struct {
	mu   sync.Mutex
	rows map[string]*domain.Turn
}

func (f *fakeTurns) CreateTurn(_ context.Context, req domain.TurnRequest) (domain.Turn, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if turn, ok := f.rows[req.IdempotencyKey]; ok {
		return *turn, false, nil
	}
	id := domain.NewID()
	if req.IdempotencyKey != "" {
		id = req.IdempotencyKey
	}
	f.rows[id] = &domain.Turn{
		ID: id, UserID: req.UserID, ConversationID: req.ConversationID, Query: req.Query,
		Repositories: req.Repositories, Status: domain.TurnQueued, CreatedAt: time.Now(),
	}
	return *f.rows[id], true, nil
}

func (f *fakeTurns) Turn(_ context.Context, id string) (domain.Turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if turn, ok := f.rows[id]; ok {
		return *turn, nil
	}
	return domain.Turn{}, domain.NotFound("no turn %s", id)
}

func (f *fakeTurns) RequestCancel(_ context.Context, id string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	turn, ok := f.rows[id]
	switch {
	case !ok:
		return false, domain.NotFound("no turn %s", id)
	case turn.Status.Final():
		return false, domain.Errorf(domain.CodeConflict, "ended")
	}
	turn.CancelRequested = true
	return turn.Launched, nil
}

func (f *fakeTurns) MarkLaunched(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows[id].Launched = true
	return nil
}

func (f *fakeTurns) list(keep func(*domain.Turn) bool) []domain.Turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []domain.Turn
	for _, id := range slices.Sorted(maps.Keys(f.rows)) {
		if turn := f.rows[id]; !turn.Status.Final() && keep(turn) {
			list = append(list, *turn)
		}
	}
	return list
}

func (f *fakeTurns) UnstartedTurns(context.Context, time.Duration, int) ([]domain.Turn, error) {
	return f.list(func(turn *domain.Turn) bool { return !turn.Launched }), nil
}

func (f *fakeTurns) OpenTurns(_ context.Context, _ time.Duration, after string, limit int) ([]domain.Turn, error) {
	list := f.list(func(turn *domain.Turn) bool { return turn.ID > after })
	return list[:min(limit, len(list))], nil
}

func (f *fakeTurns) PartialAnswer(context.Context, string) (string, error) { return "so far", nil }

func (f *fakeTurns) FinishTurn(_ context.Context, end domain.TurnEnd) (domain.Turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	turn := f.rows[end.TurnID]
	turn.Status, turn.Reason, turn.ErrorCode, turn.Error, turn.Answer = end.Status, end.Reason, end.Code, end.Error, end.Answer
	return *turn, nil
}

// fakeRepositories keeps repositories.
type fakeRepositories struct {
	mu    sync.Mutex
	saved map[string]domain.Repository
	fail  error
}

func (f *fakeRepositories) SaveRepository(_ context.Context, repo domain.Repository) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return 0, f.fail
	}
	f.saved[repo.Name] = repo
	return 1, nil
}

func (f *fakeRepositories) Repositories(context.Context) ([]domain.Repository, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.saved)), nil
}

func (f *fakeRepositories) Repository(_ context.Context, name string) (domain.Repository, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if repo, ok := f.saved[name]; ok {
		return repo, nil
	}
	return domain.Repository{}, domain.NotFound("no repository %s", name)
}

// follower ends when what it follows has ended; it must have.
type follower struct{ f fakes }

func (w follower) Follow(_ context.Context, subject string, _ domain.Cursor) iter.Seq2[domain.Event, error] {
	return func(yield func(domain.Event, error) bool) {
		if run, err := w.f.ingests.Ingest(context.Background(), subject); err == nil {
			if !run.Status.Final() {
				yield(domain.Event{}, domain.Errorf(domain.CodeTimeout, "%s has not ended", subject))
			}
			return
		}
		turn, err := w.f.turns.Turn(context.Background(), subject)
		if err == nil && !turn.Status.Final() {
			err = domain.Errorf(domain.CodeTimeout, "%s has not ended", subject)
		}
		if err != nil {
			yield(domain.Event{}, err)
		}
	}
}

func (f *fakeTemporal) SignalWorkflow(_ context.Context, workflowID, _, signal string, arg any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return f.down
	}
	if _, ok := f.states[workflowID]; !ok && signal == workflows.CommandFinished.Name {
		return serviceerror.NewNotFound("no such workflow")
	}
	told := workflowID + " " + signal
	if decided, ok := arg.(workflows.DecidedCall); ok {
		told += " " + decided.CallID
	}
	f.signals = append(f.signals, told)
	return nil
}

// fakeActions keeps actions in memory, and decides them as it is told.
type fakeActions struct {
	engine.ActionStore
	mu       sync.Mutex
	rows     map[string]domain.Action
	settings domain.ConfirmSettings
	told     map[string]bool
	decided  []domain.Decision // as they came
	expired  []string          // actions that expire at the next look
	stranded map[string]domain.ActionStatus
	settled  int // how often actions of commands were ended
}

func (f *fakeActions) ProposeAction(_ context.Context, a domain.Action) (domain.Action, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.rows[a.ID]; ok {
		return known, nil
	}
	a.Status = domain.ActionPending
	f.rows[a.ID] = a
	return a, nil
}

func (f *fakeActions) ExpireActions(context.Context, int) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.expired, nil
}

func (f *fakeActions) StrandedCommands(context.Context, time.Duration, int) (map[string]domain.ActionStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stranded, nil
}

func (f *fakeActions) SettleActions(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settled++
	return nil
}

func (f *fakeActions) NotePerformed(context.Context, domain.Performance) error { return nil }

func (f *fakeActions) Action(_ context.Context, id string) (domain.Action, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.rows[id]
	if !ok {
		return a, domain.NotFound("there is no action %q", id)
	}
	return a, nil
}

func (f *fakeActions) ConfirmSettings(context.Context, string) (domain.ConfirmSettings, error) {
	return f.settings, nil
}

func (f *fakeActions) Decide(_ context.Context, who domain.Actor, decisions []domain.Decision) ([]domain.Action, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []domain.Action
	f.decided = append(f.decided, decisions...)
	for _, d := range decisions {
		a := f.rows[d.ActionID]
		a.Status, a.DecidedBy = d.Status, who.UserID
		f.rows[a.ID], list = a, append(list, a)
	}
	return list, nil
}

func (f *fakeActions) UntoldDecisions(context.Context, time.Duration, int) ([]domain.Action, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []domain.Action
	for _, a := range f.rows {
		if a.DecidedBy != "" && !f.told[a.ID] {
			list = append(list, a)
		}
	}
	return list, nil
}

func (f *fakeActions) MarkTold(_ context.Context, ids ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		f.told[id] = true
	}
	return nil
}
