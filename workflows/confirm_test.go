package workflows_test

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// asking is a call that waits for a day, of a workflow that starts now.
func asking(id string) workflows.CallRef {
	return workflows.CallRef{ID: id, Name: "drop", Asks: true, Limit: time.Second, Expires: time.Now().Add(24 * time.Hour)}
}

// decide tells the turn of a decision after a while.
func decide(env *testsuite.TestWorkflowEnvironment, after time.Duration, callID string) {
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(workflows.ActionDecided.Name, workflows.DecidedCall{CallID: callID})
	}, after)
}

func applied(workflows.ToolInput, int) (workflows.Applied, error) { return workflows.Applied{}, nil }

// Automatic calls run while others wait; each of these goes on by its own decision.
func TestCallsWaitForTheirDecision(t *testing.T) {
	t.Parallel()
	f := &turnFakes{
		generate: calls(asking("a"), workflows.CallRef{ID: "l", Local: true, Limit: time.Second}, asking("b")),
		local:    func(workflows.ToolInput) error { return nil }, apply: applied,
	}
	f.play(t, workflows.TurnInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() {
			if f.count("local") != 1 || f.count("apply a")+f.count("apply b") != 0 {
				t.Errorf("before any decision: %v", f.calls)
			}
		}, time.Hour)
		decide(env, 2*time.Hour, "b")
		env.RegisterDelayedCallback(func() {
			if f.count("apply a") != 0 || f.count("apply b") != 1 || f.count("generate") != 1 {
				t.Errorf("after the first decision: %v", f.calls)
			}
		}, 3*time.Hour)
		decide(env, 4*time.Hour, "a")
	})
	if f.count("apply a") != 1 || f.count("apply b") != 1 || f.finish(t).Status != domain.TurnDone {
		t.Errorf("calls %v", f.calls)
	}
}

// A call that nobody decides on is looked at once it has expired, and again where the clock of
// the store is behind.
func TestCallsExpire(t *testing.T) {
	t.Parallel()
	f := &turnFakes{generate: calls(asking("a")), apply: func(_ workflows.ToolInput, n int) (workflows.Applied, error) {
		return workflows.Applied{Pending: n < 3, Error: true}, nil
	}}
	f.play(t, workflows.TurnInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() {
			if n := f.count("apply a"); n != 0 {
				t.Errorf("looked at %d times before it expired", n)
			}
		}, 23*time.Hour)
	})
	if n := f.count("apply a"); n != 3 {
		t.Errorf("looked at %d times", n)
	}
}

// A short call is run inside the workflow task once it is approved, and apart from it where
// that fails; every other is run apart.
func TestShortCallsAreAppliedLocally(t *testing.T) {
	t.Parallel()
	short := func(id string) workflows.CallRef {
		call := asking(id)
		call.Local = true
		return call
	}
	f := &turnFakes{generate: calls(short("a"), short("b"), asking("c")), apply: func(in workflows.ToolInput, n int) (workflows.Applied, error) {
		if in.CallID == "b" && n == 1 {
			return workflows.Applied{}, errors.New("the database is away")
		}
		return workflows.Applied{}, nil
	}}
	f.play(t, workflows.TurnInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		for _, id := range []string{"a", "b", "c"} {
			decide(env, time.Hour, id)
		}
	})
	for id, want := range map[string][2]int{"a": {1, 1}, "b": {1, 2}, "c": {0, 1}} {
		if got := [2]int{f.count("locally " + id), f.count("apply " + id)}; got != want {
			t.Errorf("call %s was applied %d times locally, and %d times in all; want %v", id, got[0], got[1], want)
		}
	}
	if f.finish(t).Status != domain.TurnDone {
		t.Errorf("calls %v", f.calls)
	}
}

// A hint without a decision changes nothing.
func TestAFalseAlarm(t *testing.T) {
	t.Parallel()
	f := &turnFakes{generate: calls(asking("a")), apply: func(_ workflows.ToolInput, n int) (workflows.Applied, error) {
		return workflows.Applied{Pending: n == 1}, nil
	}}
	f.play(t, workflows.TurnInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		decide(env, time.Hour, "other")
		decide(env, time.Hour, "a")
		decide(env, 2*time.Hour, "a")
	})
	if n := f.count("apply a"); n != 2 {
		t.Errorf("looked at %d times", n)
	}
}

// A cancel ends the wait, and nothing is run.
func TestACancelEndsTheWait(t *testing.T) {
	t.Parallel()
	f := &turnFakes{generate: calls(asking("a"), asking("b")), apply: applied}
	f.play(t, workflows.TurnInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	})
	if end := f.finish(t); end.Status != domain.TurnCanceled || f.count("apply a")+f.count("apply b") != 0 {
		t.Errorf("end %+v after %v", end, f.calls)
	}
}

// An action that can't be run is ended all the same.
func TestAnActionThatCantBeRun(t *testing.T) {
	t.Parallel()
	f := &turnFakes{generate: calls(asking("a")), apply: func(workflows.ToolInput, int) (workflows.Applied, error) {
		return workflows.Applied{}, refuse(domain.CodeInternal)
	}}
	f.play(t, workflows.TurnInput{}, func(env *testsuite.TestWorkflowEnvironment) { decide(env, time.Hour, "a") })
	if len(f.closed) != 1 || f.closed[0].CallID != "a" || f.finish(t).Status != domain.TurnDone {
		t.Errorf("closed %+v", f.closed)
	}
}
