package engine_test

import (
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// reset resets the workflow of a command to its beginning, as an operator does.
func (p played) reset(id string) {
	p.t.Helper()
	workflowID := workflows.CommandWorkflowID(id)
	var first int64
	for deadline := time.Now().Add(patience); first == 0; time.Sleep(20 * time.Millisecond) {
		for _, e := range p.history(p.t, workflowID) {
			if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
				first = e.GetEventId()
				break
			}
		}
		if time.Now().After(deadline) {
			p.t.Fatal("its workflow does no task")
		}
	}
	_, err := p.client.ResetWorkflowExecution(p.t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: p.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID},
		Reason: "it is stuck", RequestId: domain.NewID(), WorkflowTaskFinishEventId: first,
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// reconciles compares rows and workflows until a command is as it must become: rows are looked at
// once they are some seconds old.
func (p played) reconciles(id string, is func(domain.Command) bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		if err := p.Reconcile(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
		c, err := p.store.CommandByID(p.t.Context(), id)
		if err != nil || time.Now().After(deadline) {
			p.t.Fatalf("it does not follow its workflow: %+v, %v", c, err)
		}
		if is(c) {
			return
		}
	}
}

// What an operator of Temporal does with the workflow of a command that seems stuck: terminated, the
// command is canceled as by a person; reset, it goes on.
func TestAnOperatorHandlesCommands(t *testing.T) {
	t.Parallel()
	p := newPlayed(t)
	again := p.order(10 * time.Minute)
	p.deliver(10 * time.Minute)
	p.runs(again.ID)
	p.reset(again.ID)
	sent := p.order(10 * time.Minute)
	p.deliver(10 * time.Minute)
	queued := p.order(10 * time.Minute)
	for _, id := range []string{sent.ID, queued.ID} {
		p.runs(id)
		if err := p.client.TerminateWorkflow(t.Context(), workflows.CommandWorkflowID(id), "", "it is stuck"); err != nil {
			t.Fatal(err)
		}
	}
	p.reconciles(queued.ID, func(c domain.Command) bool { return c.Status == domain.CommandCanceled })
	p.reconciles(sent.ID, func(c domain.Command) bool { return c.CancelRequested && !c.Status.Over() })
	if err := p.CommandFinished(t.Context(), queued.ID); err != nil { // as the sweeper does
		t.Fatal(err)
	}
	p.post(sent.ID, domain.CommandCanceled)
	if c, err := p.store.CommandByID(t.Context(), again.ID); err != nil || c.CancelRequested || c.Status.Over() {
		t.Errorf("one that was reset is %+v, %v", c, err)
	}
	p.post(again.ID, domain.CommandDone)
	p.ends(again.ID, domain.CommandDone, "reset-by-an-operator")
	p.ends(sent.ID, domain.CommandCanceled, "terminated-by-an-operator")
}
