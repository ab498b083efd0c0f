package workflows_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// commandFakes play the store of one command: what it looks like is what the test last set.
type commandFakes struct {
	seen  workflows.CommandSeen
	steps []string
	fail  int // steps that fail before one succeeds
	lapse func() workflows.CommandSeen
}

func (f *commandFakes) step(name string, set func() workflows.CommandSeen) func(context.Context, workflows.CommandInput) (workflows.CommandSeen, error) {
	return func(context.Context, workflows.CommandInput) (workflows.CommandSeen, error) {
		if f.fail > 0 {
			f.fail--
			return workflows.CommandSeen{}, errors.New("the database is away")
		}
		f.steps = append(f.steps, name)
		if set != nil {
			f.seen = set()
		}
		return f.seen, nil
	}
}

// play runs the workflow to its end and gives how it ended, and how long it took.
func (f *commandFakes) play(t *testing.T, prepare func(env *testsuite.TestWorkflowEnvironment)) (workflows.CommandResult, time.Duration) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	workflows.LookAtCommand.Register(env, f.step("look", nil))
	workflows.LapseCommand.Register(env, f.step("lapse", f.lapse))
	workflows.CancelCommand.Register(env, f.step("cancel", nil))
	workflows.CommandRun.Register(env, workflows.RunCommand)
	begun := env.Now()
	if prepare != nil {
		prepare(env)
	}
	env.ExecuteWorkflow(workflows.CommandRun.Name, workflows.CommandInput{CommandID: "c"})
	if !env.IsWorkflowCompleted() || env.GetWorkflowError() != nil {
		t.Fatalf("the workflow ended with %v", env.GetWorkflowError())
	}
	var result workflows.CommandResult
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	return result, env.Now().Sub(begun)
}

func (f *commandFakes) did(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(f.steps, want) {
		t.Errorf("steps %v, want %v", f.steps, want)
	}
}

func finished(env *testsuite.TestWorkflowEnvironment) {
	env.SignalWorkflow(workflows.CommandFinished.Name, struct{}{})
}

func queued(left time.Duration) workflows.CommandSeen {
	return workflows.CommandSeen{Status: domain.CommandQueued, Left: left}
}

func over(status domain.CommandStatus) workflows.CommandSeen {
	return workflows.CommandSeen{Status: status, Over: true}
}

func TestACommandIsToldOfItsEnd(t *testing.T) {
	t.Parallel()
	f := &commandFakes{seen: queued(time.Minute)}
	result, took := f.play(t, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { finished(env) }, 10*time.Second) // a false alarm
		env.RegisterDelayedCallback(func() {
			f.seen = over(domain.CommandDone)
			finished(env)
			finished(env)
		}, 30*time.Second)
	})
	f.did(t, "look", "look", "look")
	if result.Status != domain.CommandDone || took > 31*time.Second {
		t.Errorf("ended with %+v after %s", result, took)
	}
}

func TestACommandThatIsOverAtOnce(t *testing.T) {
	t.Parallel()
	f := &commandFakes{seen: over(domain.CommandDone)}
	f.play(t, nil)
	f.did(t, "look")
	f = &commandFakes{seen: workflows.CommandSeen{Over: true}} // it was removed
	if result, _ := f.play(t, nil); result.Status != "" {
		t.Errorf("ended with %+v", result)
	}
}

// Time settles what nobody tells of, and a time that was put off meanwhile is waited for.
func TestACommandLapses(t *testing.T) {
	t.Parallel()
	n := 0
	f := &commandFakes{seen: queued(time.Minute), lapse: func() workflows.CommandSeen {
		if n++; n == 1 { // it was delivered
			return workflows.CommandSeen{Status: domain.CommandDelivered, Left: time.Hour}
		}
		return over(domain.CommandUnknown)
	}}
	result, took := f.play(t, nil)
	f.did(t, "look", "lapse", "lapse")
	if result.Status != domain.CommandUnknown || took < time.Hour || took > 2*time.Hour {
		t.Errorf("ended with %+v after %s", result, took)
	}
}

// A store whose clock is behind the server's is asked again, not all the time.
func TestACommandThatIsNotDueYet(t *testing.T) {
	t.Parallel()
	n := 0
	f := &commandFakes{seen: queued(-time.Minute), lapse: func() workflows.CommandSeen {
		if n++; n < 5 {
			return queued(0)
		}
		return over(domain.CommandExpired)
	}}
	if _, took := f.play(t, nil); took < 5*time.Second {
		t.Errorf("asked %d times within %s", n, took)
	}
}

// An operator's cancel is one of the command; where its agent can't, the command goes on.
func TestACommandsWorkflowIsCanceled(t *testing.T) {
	t.Parallel()
	f := &commandFakes{seen: queued(time.Minute)}
	result, _ := f.play(t, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(env.CancelWorkflow, 10*time.Second)
		env.RegisterDelayedCallback(func() {
			f.seen = over(domain.CommandCanceled)
			finished(env)
		}, 20*time.Second)
	})
	f.did(t, "look", "cancel", "look")
	if result.Status != domain.CommandCanceled {
		t.Errorf("ended with %+v", result)
	}
}

func TestACommandOutlastsTheDatabase(t *testing.T) {
	t.Parallel()
	f := &commandFakes{seen: over(domain.CommandDone), fail: 20}
	f.play(t, nil)
	f.did(t, "look")
}
