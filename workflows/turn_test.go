package workflows_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// turnFakes stand for the activities of a turn, and remember what they were asked.
type turnFakes struct {
	mu       sync.Mutex
	calls    []string
	finished []workflows.FinishInput
	abandon  []workflows.AbandonInput

	begin    func(n int) (workflows.TurnBegun, error)
	generate func(in workflows.GenerateInput, n int) (workflows.Generated, error)
	compact  func(in workflows.CompactInput) (workflows.Compacted, error)
	local    func(in workflows.ToolInput) error
	run      func(ctx context.Context, in workflows.ToolInput) error
	apply    func(in workflows.ToolInput, n int) (workflows.Applied, error)
	closed   []workflows.AbandonInput
}

// note counts a call.
func (f *turnFakes) note(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, name)
	n := 0
	for _, c := range f.calls {
		if c == name {
			n++
		}
	}
	return n
}

func (f *turnFakes) count(name string) (n int) {
	for _, c := range f.calls {
		if c == name {
			n++
		}
	}
	return n
}

// play runs a turn; change may prepare the environment.
func (f *turnFakes) play(t *testing.T, in workflows.TurnInput, change func(*testsuite.TestWorkflowEnvironment)) workflows.TurnResult {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	workflows.TurnQuery.Register(env, workflows.RunTurnQuery)
	workflows.BeginTurn.Register(env, func(context.Context, workflows.TurnRef) (workflows.TurnBegun, error) {
		n := f.note("begin")
		if f.begin != nil {
			return f.begin(n)
		}
		return workflows.TurnBegun{Intent: domain.IntentResearch}, nil
	})
	workflows.GenerateModel.Register(env, func(_ context.Context, in workflows.GenerateInput) (workflows.Generated, error) {
		return f.generate(in, f.note("generate"))
	})
	workflows.CompactTurn.Register(env, func(_ context.Context, in workflows.CompactInput) (workflows.Compacted, error) {
		f.note("compact")
		return f.compact(in)
	})
	workflows.LocalTool.Register(env, func(_ context.Context, in workflows.ToolInput) (workflows.ToolRan, error) {
		f.note("local")
		return workflows.ToolRan{}, f.local(in)
	})
	workflows.RunTool.Register(env, func(ctx context.Context, in workflows.ToolInput) (workflows.ToolRan, error) {
		f.note("run")
		return workflows.ToolRan{}, f.run(ctx, in)
	})
	workflows.ApplyAction.Register(env, func(ctx context.Context, in workflows.ToolInput) (workflows.Applied, error) {
		if activity.GetInfo(ctx).IsLocalActivity {
			f.note("locally " + in.CallID)
		}
		return f.apply(in, f.note("apply "+in.CallID))
	})
	workflows.CloseAction.Register(env, func(_ context.Context, in workflows.AbandonInput) (workflows.ToolRan, error) {
		f.closed = append(f.closed, in)
		return workflows.ToolRan{Error: true}, nil
	})
	workflows.AbandonTool.Register(env, func(_ context.Context, in workflows.AbandonInput) (workflows.ToolRan, error) {
		f.abandon = append(f.abandon, in)
		return workflows.ToolRan{Error: true}, nil
	})
	workflows.FinishTurn.Register(env, func(_ context.Context, in workflows.FinishInput) (workflows.TurnResult, error) {
		f.finished = append(f.finished, in)
		return workflows.TurnResult{Status: in.Status, Reason: in.Reason}, nil
	})
	if change != nil {
		change(env)
	}
	in.TurnID = "t1"
	env.ExecuteWorkflow(workflows.TurnQuery.Name, in)
	if err := env.GetWorkflowError(); err != nil {
		t.Fatalf("the workflow failed: %v", err)
	}
	var result workflows.TurnResult
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	return result
}

// finish gives the one end of the turn.
func (f *turnFakes) finish(t *testing.T) workflows.FinishInput {
	t.Helper()
	if len(f.finished) != 1 {
		t.Fatalf("the turn was ended %d times", len(f.finished))
	}
	return f.finished[0]
}

func answered(workflows.GenerateInput, int) (workflows.Generated, error) {
	return workflows.Generated{Reason: domain.EndAnswered}, nil
}

// calls leads to these tool calls in the first round and to an answer in the second.
func calls(list ...workflows.CallRef) func(workflows.GenerateInput, int) (workflows.Generated, error) {
	return func(in workflows.GenerateInput, n int) (workflows.Generated, error) {
		if in.Round == 0 {
			return workflows.Generated{Calls: list}, nil
		}
		return answered(in, n)
	}
}

func refuse(code domain.Code) error {
	return temporal.NewNonRetryableApplicationError("no: "+string(code), string(code), nil)
}

func TestAStepThatFailsAtOnceGoesOnApart(t *testing.T) {
	t.Parallel()
	f := &turnFakes{generate: answered, begin: func(n int) (workflows.TurnBegun, error) {
		if n <= 6 {
			return workflows.TurnBegun{}, errors.New("the database is away")
		}
		return workflows.TurnBegun{Intent: domain.IntentResearch}, nil
	}}
	if got := f.play(t, workflows.TurnInput{}, nil); got.Reason != domain.EndAnswered || f.count("begin") != 7 {
		t.Errorf("result %+v after %d tries", got, f.count("begin"))
	}
}

func TestFailuresEndTheTurnWithTheirReason(t *testing.T) {
	t.Parallel()
	fails := func(workflows.GenerateInput, int) (workflows.Generated, error) {
		return workflows.Generated{}, refuse(domain.CodeUpstream)
	}
	f := &turnFakes{generate: fails}
	f.play(t, workflows.TurnInput{}, nil)
	want := workflows.FinishInput{TurnID: "t1", Status: domain.TurnFailed, Reason: domain.EndFailed, Code: domain.CodeUpstream, Error: "no: upstream"}
	if got := f.finish(t); got != want {
		t.Errorf("end = %+v, want %+v", got, want)
	}
}

func TestATurnThatSomebodyElseEnds(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*turnFakes{
		"before it begins": {begin: func(int) (workflows.TurnBegun, error) { return workflows.TurnBegun{Ended: true}, nil }},
		"in a round": {generate: func(workflows.GenerateInput, int) (workflows.Generated, error) {
			return workflows.Generated{Ended: true}, nil
		}},
	} {
		f.play(t, workflows.TurnInput{}, nil)
		if len(f.finished) != 0 {
			t.Errorf("%s: it was ended again: %+v", name, f.finished)
		}
	}
}

func TestSynthesisAfterTheLastRound(t *testing.T) {
	t.Parallel()
	f := &turnFakes{generate: func(in workflows.GenerateInput, _ int) (workflows.Generated, error) {
		if in.Synthesis != (in.Round == 3) {
			return workflows.Generated{}, refuse(domain.CodeInternal)
		}
		if in.Synthesis {
			return workflows.Generated{Reason: domain.EndSynthesized}, nil
		}
		return workflows.Generated{}, nil
	}}
	got := f.play(t, workflows.TurnInput{Limits: workflows.TurnLimits{MaxIterations: 3}}, nil)
	if got.Reason != domain.EndSynthesized || f.count("generate") != 4 {
		t.Errorf("result %+v after %d rounds", got, f.count("generate"))
	}
}

func TestCompactionIsBounded(t *testing.T) {
	t.Parallel()
	f := &turnFakes{
		generate: func(workflows.GenerateInput, int) (workflows.Generated, error) {
			return workflows.Generated{}, refuse(domain.CodeTooLarge)
		},
		compact: func(in workflows.CompactInput) (workflows.Compacted, error) {
			return workflows.Compacted{Done: in.Force}, nil
		},
	}
	f.play(t, workflows.TurnInput{}, nil)
	if got := f.finish(t); got.Code != domain.CodeTooLarge || got.Error != "no: too_large" || f.count("compact") > 4 {
		t.Errorf("end %+v after %d compactions", got, f.count("compact"))
	}
}

func TestToolsThatCanNotBeRun(t *testing.T) {
	t.Parallel()
	f := &turnFakes{
		generate: calls(workflows.CallRef{ID: "a", Name: "peek", Local: true, Limit: time.Second}, workflows.CallRef{ID: "b", Name: "dig", Limit: time.Second}),
		local:    func(workflows.ToolInput) error { return errors.New("the database is away") },
		run: func(_ context.Context, in workflows.ToolInput) error {
			if in.CallID == "b" {
				return refuse(domain.CodeUnavailable)
			}
			return nil
		},
	}
	if got := f.play(t, workflows.TurnInput{}, nil); got.Reason != domain.EndAnswered {
		t.Errorf("result %+v", got)
	}
	want := []workflows.AbandonInput{{TurnID: "t1", CallID: "b", Reason: "no: unavailable"}}
	if !slices.Equal(f.abandon, want) {
		t.Errorf("abandoned %+v, want %+v", f.abandon, want)
	}
	if f.count("local") != 2 || f.count("run") != 2 {
		t.Errorf("%d local tries, %d others; want the local call to go on apart", f.count("local"), f.count("run"))
	}
}

func TestCancelReachesToolsAndEndsTheTurn(t *testing.T) {
	t.Parallel()
	running := make(chan struct{})
	f := &turnFakes{
		generate: calls(workflows.CallRef{ID: "a", Name: "dig", Limit: time.Minute}),
		run: func(ctx context.Context, _ workflows.ToolInput) error {
			close(running)
			<-ctx.Done()
			return ctx.Err()
		},
	}
	got := f.play(t, workflows.TurnInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		go func() {
			<-running
			env.CancelWorkflow()
		}()
	})
	if end := f.finish(t); end.Status != domain.TurnCanceled || end.Reason != domain.EndCanceled || got.Status != domain.TurnCanceled {
		t.Errorf("end %+v, result %+v", end, got)
	}
}
