package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/flow"
)

// ActionDecided tells a turn that somebody has decided on a call that asks. The decision
// itself is a row: the signal is only a hint to look at it, and does no harm when repeated.
var ActionDecided = flow.Signal[DecidedCall]{Name: "action.decided"}

// DecidedCall names the call that was decided on.
type DecidedCall struct {
	CallID string `json:"call_id"`
}

// Applied is what came of an action as far as the loop needs it.
type Applied struct {
	Error   bool `json:"error,omitempty"`
	Pending bool `json:"pending,omitempty"` // nobody has decided yet
}

// patience is how much longer than its expiry a call is waited for that the store's clock
// does not yet hold expired.
const patience = 2 * time.Second

// outcomePatience is how much longer than its run an action may take to store its outcome.
const outcomePatience = time.Minute

// listen begins to hear decisions, once a turn.
func (t *turn) listen(ctx workflow.Context) {
	if t.decided != nil {
		return
	}
	t.decided = map[string]bool{}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var told DecidedCall
			ActionDecided.Channel(ctx).Receive(ctx, &told)
			t.decided[told.CallID] = true
		}
	})
}

// confirm waits for the decision on a call, across restarts and deploys, and then runs it or
// tells the model why not. Only a cancellation, or a store that can't be reached, is an error.
func (t *turn) confirm(ctx workflow.Context, call CallRef, room workflow.Semaphore) error {
	for until := call.Expires; ; until = workflow.Now(ctx).Add(patience) {
		wait := max(until.Sub(workflow.Now(ctx)), time.Second)
		timer := workflow.AwaitOptions{Timeout: wait, TimerOptions: workflow.TimerOptions{Summary: "Wait for a decision on " + call.Name}}
		if _, err := workflow.AwaitWithOptions(ctx, timer, func() bool { return t.decided[call.ID] }); err != nil {
			return err
		}
		delete(t.decided, call.ID)
		pending, err := t.apply(ctx, call, room)
		if err != nil || !pending {
			return err
		}
	}
}

// apply runs what was approved, or settles what was not. What is short is run inside the workflow
// task: where that is cut off, the next attempt finds the action begun, as it does elsewhere.
func (t *turn) apply(ctx workflow.Context, call CallRef, room workflow.Semaphore) (pending bool, err error) {
	if err := room.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer room.Release(1)
	in := ToolInput{TurnID: t.in.TurnID, CallID: call.ID}
	if call.Local {
		applied, err := ApplyAction.ExecuteLocal(localAction(ctx, call.Limit, call.Name), in).Result(ctx)
		if err == nil || temporal.IsCanceledError(err) {
			return applied.Pending, err
		}
	}
	applied, err := ApplyAction.Execute(remoteTool(ctx, t.in.Queues, call.Limit+outcomePatience, call.Name), in).Result(ctx)
	if err == nil || temporal.IsCanceledError(err) {
		return applied.Pending, err
	}
	_, text := failureReason(err)
	_, err = step(ctx, CloseAction, AbandonInput{TurnID: in.TurnID, CallID: in.CallID, Reason: text}, "Give up "+call.Name)
	return false, err
}
