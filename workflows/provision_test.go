package workflows_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// provisionFakes play the store and the LXD server of one provision.
type provisionFakes struct {
	steps []string
	begun workflows.BeginProvisionResult
	fails map[string]int    // steps that fail, and how often; what LXD refuses is final
	away  map[string]int    // steps that find no database, and how often
	at    map[string]func() // is called in a step
	ended []workflows.FinishProvisionInput
	stop  bool // somebody asks to stop before the end is stored
}

func refusedByLXD(step string) error {
	return temporal.NewNonRetryableApplicationError("LXD could not "+step, string(domain.CodeUpstream), nil)
}

func (f *provisionFakes) did(step string) error {
	f.steps = append(f.steps, step)
	if f.at[step] != nil {
		f.at[step]()
	}
	if f.away[step] > 0 {
		f.away[step]--
		return temporal.NewApplicationError("the database can't be reached", string(domain.CodeUnavailable))
	}
	if f.fails[step] > 0 {
		f.fails[step]--
		return refusedByLXD(step)
	}
	return nil
}

func (f *provisionFakes) step(name string) func(context.Context, workflows.ProvisionStep) (struct{}, error) {
	return func(context.Context, workflows.ProvisionStep) (struct{}, error) { return struct{}{}, f.did(name) }
}

func (f *provisionFakes) finish(_ context.Context, in workflows.FinishProvisionInput) (workflows.ProvisionResult, error) {
	f.ended = append(f.ended, in)
	switch {
	case in.Code == "" && f.stop:
		return workflows.ProvisionResult{Status: domain.ProvisionRunning}, f.did("finish")
	case in.Code == "":
		return workflows.ProvisionResult{Status: domain.ProvisionDone}, f.did("finish")
	case in.Code == domain.CodeCanceled:
		return workflows.ProvisionResult{Status: domain.ProvisionCanceled}, f.did("finish")
	}
	return workflows.ProvisionResult{Status: domain.ProvisionFailed}, f.did("finish")
}

// play runs the workflow, and gives how it ended and how long it took.
func (f *provisionFakes) play(t *testing.T, prepare func(env *testsuite.TestWorkflowEnvironment)) (workflows.ProvisionResult, error, time.Duration) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	workflows.BeginProvision.Register(env, func(context.Context, workflows.ProvisionInput) (workflows.BeginProvisionResult, error) {
		return f.begun, f.did("begin")
	})
	workflows.EnsureNetwork.Register(env, f.step("network"))
	workflows.MakeToken.Register(env, f.step("token"))
	workflows.CreateContainer.Register(env, f.step("create"))
	workflows.StartContainer.Register(env, f.step("start"))
	workflows.AwaitContainer.Register(env, f.step("wait"))
	workflows.InstallAgent.Register(env, f.step("install"))
	workflows.RetryInstall.Register(env, f.step("again"))
	workflows.RemoveContainer.Register(env, func(context.Context, workflows.ProvisionInput) (struct{}, error) {
		return struct{}{}, f.did("remove")
	})
	workflows.FinishProvision.Register(env, f.finish)
	workflows.ProvisionAgent.Register(env, workflows.RunProvisionAgent)
	begun := env.Now()
	if prepare != nil {
		prepare(env)
	}
	env.ExecuteWorkflow(workflows.ProvisionAgent.Name, workflows.ProvisionInput{ProvisionID: "p", ProjectID: "x", Instance: "web-p"})
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow does not end")
	}
	var result workflows.ProvisionResult
	err := env.GetWorkflowError()
	if err == nil {
		err = env.GetWorkflowResult(&result)
	}
	return result, err, env.Now().Sub(begun)
}

var going = workflows.BeginProvisionResult{Go: true, Status: domain.ProvisionRunning}

// phases are the steps of a provision that goes well.
var phases = []string{"network", "token", "create", "start", "wait", "install"}

func (f *provisionFakes) expect(t *testing.T, code domain.Code, steps ...string) {
	t.Helper()
	if !slices.Equal(f.steps, steps) {
		t.Errorf("steps %v, want %v", f.steps, steps)
	}
	if len(f.ended) == 0 || f.ended[len(f.ended)-1].Code != code || f.ended[len(f.ended)-1].ProvisionID != "p" {
		t.Errorf("ended %+v, want %q", f.ended, code)
	}
}

func TestAProvisionGoesThroughItsPhases(t *testing.T) {
	t.Parallel()
	f := &provisionFakes{begun: going}
	result, err, _ := f.play(t, nil)
	if err != nil || result.Status != domain.ProvisionDone {
		t.Errorf("ended as %+v, %v", result, err)
	}
	f.expect(t, "", slices.Concat([]string{"begin"}, phases, []string{"finish"})...)
}

// A database that is away for longer than any local step may take is waited for, at the beginning
// and at the end: what was made stays.
func TestAProvisionWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	f := &provisionFakes{begun: going, away: map[string]int{"begin": 200, "finish": 200}}
	result, err, took := f.play(t, nil)
	if err != nil || result.Status != domain.ProvisionDone || took < 10*time.Minute {
		t.Errorf("ended as %+v after %s, %v", result, took, err)
	}
	f.steps = slices.Compact(f.steps)
	f.expect(t, "", slices.Concat([]string{"begin"}, phases, []string{"finish"})...)
}

// Whichever phase LXD refuses, what was made is removed, and then the provision is told to have
// failed, with what LXD said.
func TestAProvisionThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	for i, phase := range phases[:5] {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			f := &provisionFakes{begun: going, fails: map[string]int{phase: 1}}
			if _, err, _ := f.play(t, nil); err == nil || !strings.Contains(err.Error(), "LXD could not "+phase) {
				t.Errorf("the workflow ended with %v", err)
			}
			f.expect(t, domain.CodeUpstream, slices.Concat([]string{"begin"}, phases[:i+1], []string{"remove", "finish"})...)
			if message := f.ended[0].Message; message != "LXD could not "+phase {
				t.Errorf("told is %q", message)
			}
		})
	}
}

// The script is tried four times, with pauses: a container that runs may have no network yet.
func TestAnInstallationIsTriedAgain(t *testing.T) {
	t.Parallel()
	before := slices.Concat([]string{"begin"}, phases[:5])
	f := &provisionFakes{begun: going, fails: map[string]int{"install": 3}}
	result, err, took := f.play(t, nil)
	if err != nil || result.Status != domain.ProvisionDone || took < 30*time.Second {
		t.Errorf("ended after %s as %+v, %v", took, result, err)
	}
	f.expect(t, "", append(before, "install", "again", "install", "again", "install", "again", "install", "finish")...)

	f = &provisionFakes{begun: going, fails: map[string]int{"install": 4}}
	if _, err, _ := f.play(t, nil); err == nil {
		t.Error("the workflow ended well")
	}
	f.expect(t, domain.CodeUpstream, append(before, "install", "again", "install", "again", "install", "again", "install", "remove", "finish")...)
}

// Whenever somebody stops it, what was made is removed.
func TestACanceledProvisionLeavesNothing(t *testing.T) {
	t.Parallel()
	for i, phase := range phases {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			f := &provisionFakes{begun: going, at: map[string]func(){}, fails: map[string]int{"install": 1}}
			_, err, took := f.play(t, func(env *testsuite.TestWorkflowEnvironment) { f.at[phase] = env.CancelWorkflow })
			if !temporal.IsCanceledError(err) || took > 5*time.Second {
				t.Errorf("the workflow ended after %s with %v", took, err)
			}
			steps := slices.DeleteFunc(slices.Clone(f.steps), func(step string) bool { return step == "again" })
			if want := slices.Concat([]string{"begin"}, phases[:i+1], []string{"remove", "finish"}); !slices.Equal(steps, want) {
				t.Errorf("steps %v, want %v", steps, want)
			}
			if end := f.ended[0]; end.Code != domain.CodeCanceled || !strings.Contains(end.Message, "removed again") {
				t.Errorf("ended %+v", end)
			}
		})
	}
}

func TestAProvisionThatIsNotToBegin(t *testing.T) {
	t.Parallel()
	f := &provisionFakes{begun: workflows.BeginProvisionResult{Status: domain.ProvisionQueued}}
	if _, err, _ := f.play(t, nil); !temporal.IsCanceledError(err) {
		t.Errorf("one that was canceled ended with %v", err)
	}
	f.expect(t, domain.CodeCanceled, "begin", "finish")

	f = &provisionFakes{begun: workflows.BeginProvisionResult{Status: domain.ProvisionFailed}}
	if result, err, _ := f.play(t, nil); err != nil || result.Status != domain.ProvisionFailed {
		t.Errorf("one that has ended is %+v, %v", result, err)
	}
	if want := []string{"begin"}; !slices.Equal(f.steps, want) {
		t.Errorf("steps %v, want %v", f.steps, want)
	}
}

// Who asks to stop in the last moment is heard: what was made is removed.
func TestAProvisionIsCanceledAsItEnds(t *testing.T) {
	t.Parallel()
	f := &provisionFakes{begun: going, stop: true}
	if _, err, _ := f.play(t, nil); !temporal.IsCanceledError(err) {
		t.Errorf("the workflow ended with %v", err)
	}
	f.expect(t, domain.CodeCanceled, slices.Concat([]string{"begin"}, phases, []string{"finish", "remove", "finish"})...)
}

// A container that can't be removed is left to the reaper: the provision ends all the same.
func TestAProvisionEndsThoughNothingIsRemoved(t *testing.T) {
	t.Parallel()
	f := &provisionFakes{begun: going, fails: map[string]int{"create": 1, "remove": 1}}
	if _, err, _ := f.play(t, nil); err == nil || !strings.Contains(err.Error(), "LXD could not create") {
		t.Errorf("the workflow ended with %v", err)
	}
	f.expect(t, domain.CodeUpstream, "begin", "network", "token", "create", "remove", "finish")
}
