package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	sdkclient "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/workflow"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/harvest-engine/harvest/internal/embedded"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func TestKilledPostgresComesBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := start(t, testkit.DataDir(t), withoutTemporal)
	dsn, pid := s.DSN(), s.PIDs()["postgres"]
	if err := execute(ctx, dsn, "create table kept (id int)"); err != nil {
		t.Fatal(err)
	}
	kill(t, pid)
	eventually(t, "the database answers again", func(ctx context.Context) error {
		if s.PIDs()["postgres"] == pid {
			return errors.New("it was not started again")
		}
		return execute(ctx, dsn, "select * from kept")
	})
}

func TestKilledParentTakesItsChildrenAlong(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), testkit.DataDir(t)
	parent, told := startParent(t, dir)
	if err := execute(ctx, told.DSN, "create table kept (id int)"); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed

	s := start(t, dir, nil) // at once: the old children may be ending still
	for name, pid := range told.PIDs {
		if embedded.ProcessLives(pid) {
			t.Errorf("%s of the killed parent runs on", name)
		}
	}
	if err := execute(ctx, s.DSN(), "select * from kept"); err != nil {
		t.Error(err)
	}
}

// Everything is killed at once, the children before the parent can restart them.
func TestAllKilledAtOnce(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), testkit.DataDir(t)
	parent, told := startParent(t, dir)
	if err := execute(ctx, told.DSN, "create table kept (id int)"); err != nil {
		t.Fatal(err)
	}
	_ = parent.Process.Kill()
	for _, pid := range told.PIDs {
		kill(t, pid)
	}
	_ = parent.Wait() // killed
	s := start(t, dir, withoutTemporal)
	if err := execute(ctx, s.DSN(), "select * from kept"); err != nil {
		t.Error(err)
	}
}

func TestScratchServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	parent, told := startParent(t, scratchParent)
	if err := execute(context.Background(), told.DSN, "select 1"); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed
	eventually(t, "the server ends", func(ctx context.Context) error {
		if execute(ctx, told.DSN, "select 1") == nil {
			return errors.New("it answers still")
		}
		return nil
	})
}

// waiting is a workflow that ends when it is told to.
func waiting(ctx workflow.Context) (string, error) {
	var word string
	workflow.GetSignalChannel(ctx, "end").Receive(ctx, &word)
	return word, nil
}

func TestWorkflowsOutliveTheirServers(t *testing.T) {
	t.Parallel()
	s := start(t, testkit.DataDir(t), nil)
	client, err := sdkclient.Dial(sdkclient.Options{HostPort: s.TemporalAddress(), Namespace: "default", Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	w := sdkworker.New(client, "crash", sdkworker.Options{WorkerStopTimeout: time.Second})
	w.RegisterWorkflow(waiting)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()

	for _, victims := range [][]string{{"temporal"}, {"postgres"}, {"postgres", "temporal"}} {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		run, err := client.ExecuteWorkflow(ctx, sdkclient.StartWorkflowOptions{TaskQueue: "crash"}, waiting)
		if err != nil {
			t.Fatalf("before killing %v: %v", victims, err)
		}
		before := s.PIDs()
		for _, name := range victims {
			kill(t, before[name])
		}
		eventually(t, fmt.Sprintf("a signal after killing %v", victims), func(ctx context.Context) error {
			for _, name := range victims {
				if s.PIDs()[name] == before[name] {
					return errors.New(name + " was not started again")
				}
			}
			return client.SignalWorkflow(ctx, run.GetID(), "", "end", "well")
		})
		var word string
		if err := run.Get(ctx, &word); err != nil || word != "well" {
			t.Errorf("after killing %v the workflow gives %q, %v", victims, word, err)
		}
		description, err := client.DescribeWorkflowExecution(ctx, run.GetID(), "")
		if err != nil || description.WorkflowExecutionInfo.Status != enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
			t.Errorf("after killing %v its state is %v, %v", victims, description.GetWorkflowExecutionInfo().GetStatus(), err)
		}
		cancel()
	}
}

// quiet is a logger that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

var _ sdklog.Logger = quiet{}
