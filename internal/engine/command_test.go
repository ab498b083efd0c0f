package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
)

// fakeCommands keeps commands in memory.
type fakeCommands struct {
	engine.CommandStore
	mu      sync.Mutex
	rows    map[string]*domain.Command
	told    map[string]bool
	overdue map[string]bool
	noted   []string // as projects were told of them
	unnoted []string
	down    error // of who lets commands go and rejects them
}

func (f *fakeCommands) CreateCommand(_ context.Context, o domain.CommandOrder) (domain.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.rows[o.ID]; ok {
		return *c, nil
	}
	c := &domain.Command{CommandOrder: o, Hostname: "web", Status: domain.CommandQueued}
	if o.Pending {
		c.Status = domain.CommandPending
	}
	f.rows[o.ID] = c
	return *c, nil
}

func (f *fakeCommands) CommandByID(_ context.Context, id string) (domain.Command, error) {
	return f.set(id, func(*domain.Command) {})
}

func (f *fakeCommands) NoteCommand(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, id)
	return nil
}

func (f *fakeCommands) UnnotedCommands(context.Context, time.Duration, int) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unnoted, nil
}

// set changes a command and gives it.
func (f *fakeCommands) set(id string, change func(*domain.Command)) (domain.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.rows[id]
	if !ok {
		return domain.Command{}, domain.NotFound("no command %s", id)
	}
	change(c)
	return *c, nil
}

func (f *fakeCommands) list(keep func(domain.Command) bool) (list []domain.Command) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(f.rows)) {
		if keep(*f.rows[id]) {
			list = append(list, *f.rows[id])
		}
	}
	return list
}

func ids(list []domain.Command) (ids []string) {
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

func (f *fakeCommands) AwaitCommand(_ context.Context, id string) (domain.Command, error) {
	return f.set(id, func(*domain.Command) {})
}

func (f *fakeCommands) ReleaseCommand(_ context.Context, id string) (domain.Command, error) {
	if f.down != nil {
		return domain.Command{}, f.down
	}
	return f.set(id, func(c *domain.Command) {
		if c.Status == domain.CommandPending {
			c.Status = domain.CommandQueued
		}
	})
}

func (f *fakeCommands) RejectCommand(_ context.Context, id, why string) (domain.Command, error) {
	if f.down != nil {
		return domain.Command{}, f.down
	}
	return f.set(id, func(c *domain.Command) { c.Status, c.Error = domain.CommandRejected, why })
}

func (f *fakeCommands) CancelCommand(_ context.Context, _, id, by string) (domain.Command, error) {
	return f.set(id, func(c *domain.Command) {
		if c.Status == domain.CommandQueued {
			c.Status, c.Error = domain.CommandCanceled, by
		}
		c.CancelRequested = true
	})
}

func (f *fakeCommands) AbandonedCommands(context.Context, int) ([]domain.Command, error) {
	return f.list(func(c domain.Command) bool { return c.TurnID == "canceled" && !c.Status.Over() && !c.CancelRequested }), nil
}

func (f *fakeCommands) LapseCommand(_ context.Context, id string) (domain.Command, error) {
	return f.set(id, func(c *domain.Command) {
		if delete(f.overdue, id); c.Status == domain.CommandQueued {
			c.Status = domain.CommandExpired
		}
	})
}

func (f *fakeCommands) ProjectCommands(context.Context, string) ([]domain.Command, error) {
	return f.list(func(c domain.Command) bool { return !c.Status.Over() }), nil
}

func (f *fakeCommands) EndProjectCommands(context.Context, string) error {
	for _, c := range f.list(func(c domain.Command) bool { return !c.Status.Over() }) {
		_, _ = f.set(c.ID, func(c *domain.Command) { c.Status = domain.CommandUnknown })
	}
	return nil
}

func (f *fakeCommands) MarkCommandLaunched(_ context.Context, id string) error {
	_, err := f.set(id, func(c *domain.Command) { c.Launched = true })
	return err
}

func (f *fakeCommands) MarkCommandTold(_ context.Context, id string) error {
	_, err := f.set(id, func(*domain.Command) { f.told[id] = true })
	return err
}

func (f *fakeCommands) UnstartedCommands(context.Context, time.Duration, int) ([]domain.Command, error) {
	return f.list(func(c domain.Command) bool {
		return !c.Launched && !c.Status.Over() && c.Status != domain.CommandPending
	}), nil
}

func (f *fakeCommands) OverdueCommands(context.Context, time.Duration, int) ([]string, error) {
	return ids(f.list(func(c domain.Command) bool { return f.overdue[c.ID] })), nil
}

func (f *fakeCommands) UntoldCommands(context.Context, time.Duration, int) ([]string, error) {
	return ids(f.list(func(c domain.Command) bool { return c.Status.Over() && !f.told[c.ID] })), nil
}

func (f *fakeCommands) OpenCommands(_ context.Context, _ time.Duration, after string, limit int) ([]domain.Command, error) {
	list := f.list(func(c domain.Command) bool { return c.Launched && !c.Status.Over() && c.ID > after })
	return list[:min(limit, len(list))], nil
}

func commandOrder(id string) domain.CommandOrder {
	return domain.CommandOrder{ID: id, ProjectID: "p", AgentID: "a", Command: "uname", UserID: "ada"}
}

func TestACommandIsOrdered(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	c, err := e.StartCommand(ctx, commandOrder("c"))
	if err != nil || c.Timeout != domain.DefaultCommandTimeout || c.Wait != domain.DefaultCommandWait {
		t.Errorf("ordered %+v, %v", c, err)
	}
	asking := commandOrder("asks")
	asking.Pending = true
	if _, err := e.StartCommand(ctx, asking); err != nil {
		t.Fatal(err)
	}
	e.Launched()
	if started := f.temporal.startedIDs(); !slices.Equal(started, []string{"command/c"}) {
		t.Errorf("started %v", started)
	}
	if _, err := e.ReleaseCommand(ctx, "asks"); err != nil {
		t.Fatal(err)
	}
	e.Launched()
	if started := f.temporal.startedIDs(); !slices.Equal(started, []string{"command/c", "command/asks"}) {
		t.Errorf("started %v", started)
	}
	if got, err := e.RejectCommand(ctx, "asks", "no"); err != nil || got.Error != "no" {
		t.Errorf("rejected %+v, %v", got, err)
	}
	for name, broken := range map[string]func(*domain.CommandOrder){
		"id":           func(o *domain.CommandOrder) { o.ID = "" },
		"command":      func(o *domain.CommandOrder) { o.Command = " \n" },
		"timeout_secs": func(o *domain.CommandOrder) { o.Timeout = time.Hour },
		"wait_secs":    func(o *domain.CommandOrder) { o.Wait = 25 * time.Hour },
		"env":          func(o *domain.CommandOrder) { o.Env = map[string]string{"A-B": ""} },
	} {
		o := commandOrder("broken")
		broken(&o)
		_, err := e.StartCommand(ctx, o)
		var invalid *domain.Error
		if !errors.As(err, &invalid) || invalid.Code != domain.CodeInvalid || invalid.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []domain.CommandOrder{{Command: strings.Repeat("x", domain.MaxCommandBytes+1)}, {Command: "a\x00b"}, {Command: "\xff"}} {
		o.ID = "x"
		if _, err := e.StartCommand(ctx, o); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%.10q: %v", o.Command, err)
		}
	}
}

// What was stored is started by the sweeper where Temporal was away, or its process has died; one
// that can never be started is not tried for ever.
func TestCommandsAreSwept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	f.temporal.down = errors.New("connection refused")
	for _, id := range []string{"good", "refused", "stuck"} {
		if _, err := e.StartCommand(ctx, commandOrder(id)); err != nil {
			t.Fatal(err)
		}
	}
	e.Launched()
	f.temporal.down = nil
	f.temporal.refuse = func(o sdkclient.StartWorkflowOptions) error {
		switch o.ID {
		case "command/refused":
			return serviceerror.NewInvalidArgument("too long")
		case "command/stuck":
			return serviceerror.NewUnavailable("not now")
		}
		return nil
	}
	if err := e.SweepCommands(ctx); err == nil {
		t.Error("a sweep that passed something over must say so")
	}
	if started := f.temporal.startedIDs(); !slices.Equal(started, []string{"command/good"}) {
		t.Errorf("started %v", started)
	}
	if left, _ := f.commands.UnstartedCommands(ctx, 0, 10); !slices.Equal(ids(left), []string{"stuck"}) {
		t.Errorf("to be started still: %v", ids(left))
	}
	f.temporal.refuse = nil

	// What nobody settles in its time, and what nobody told of.
	f.commands.overdue["refused"] = true
	_, _ = f.commands.set("good", func(c *domain.Command) { c.Status = domain.CommandDone })
	if err := e.SweepCommands(ctx); err != nil {
		t.Fatal(err)
	}
	if got, _ := e.AwaitCommand(ctx, "refused"); got.Status != domain.CommandExpired {
		t.Errorf("overdue it is %s", got.Status)
	}
	if !slices.Equal(f.temporal.signals, []string{"command/good command.finished"}) || !f.commands.told["good"] || !f.commands.told["refused"] {
		t.Errorf("signals %v, told %v", f.temporal.signals, f.commands.told)
	}
	if err := e.SweepCommands(ctx); err != nil || len(f.temporal.signals) != 1 {
		t.Errorf("told again: %v, %v", f.temporal.signals, err)
	}
}

func TestTheEndOfACommandIsTold(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	if _, err := e.StartCommand(ctx, commandOrder("c")); err != nil {
		t.Fatal(err)
	}
	e.Launched()
	if c, err := e.CancelCommand(ctx, "p", "c", domain.Actor{Name: "Ada"}); err != nil || c.Status != domain.CommandCanceled || c.Error != "Ada" {
		t.Errorf("canceled %+v, %v", c, err)
	}
	if !slices.Equal(f.temporal.signals, []string{"command/c command.finished"}) {
		t.Errorf("signals %v", f.temporal.signals)
	}
	f.temporal.down = errors.New("connection refused")
	if err := e.CommandFinished(ctx, "c"); err == nil {
		t.Error("an end that nobody could be told of is no error")
	}
}

// Where an operator has stopped a workflow its command is canceled; where one is merely gone, the
// command goes on.
func TestCommandsAreReconciled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	for _, id := range []string{"gone", "runs", "stopped", "asked"} {
		if _, err := e.StartCommand(ctx, commandOrder(id)); err != nil {
			t.Fatal(err)
		}
		e.Launched()
		_ = f.commands.MarkCommandLaunched(ctx, id)
	}
	f.temporal.states["command/stopped"] = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	f.temporal.states["command/asked"] = enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
	_, _ = f.commands.set("asked", func(c *domain.Command) { c.CancelRequested = true }) // its agent was told, and says how it ends
	delete(f.temporal.states, "command/gone")
	if err := e.Reconcile(ctx); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]domain.CommandStatus{"gone": domain.CommandQueued, "runs": domain.CommandQueued, "asked": domain.CommandQueued, "stopped": domain.CommandCanceled} {
		if got, _ := e.AwaitCommand(ctx, id); got.Status != want {
			t.Errorf("%s is %s, want %s", id, got.Status, want)
		}
	}
}

// A sweep whose first few rows fail one after the other leaves the rest for the next: then the fault
// is not theirs. One that succeeds between them shows that it is.
func TestASweepEndsWhereAllFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		good string // starts all the same
		want int    // are tried
	}{{"", 3}, {"command/c2", 6}} {
		ctx := context.Background()
		e, f := newEngine(t)
		f.temporal.down = errors.New("connection refused")
		for i := range 7 {
			if _, err := e.StartCommand(ctx, commandOrder(fmt.Sprint("c", i))); err != nil {
				t.Fatal(err)
			}
		}
		e.Launched()
		f.temporal.down = nil
		tries := 0
		f.temporal.refuse = func(o sdkclient.StartWorkflowOptions) error {
			if tries++; o.ID == c.good {
				return nil
			}
			return serviceerror.NewUnavailable("not now")
		}
		if err := e.SweepCommands(ctx); err == nil || tries != c.want {
			t.Errorf("with %q good %d were tried, want %d: %v", c.good, tries, c.want, err)
		}
	}
}
