package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/workflows"
)

// oneAction keeps one approved action, and counts how often it is claimed.
type oneAction struct {
	mu        sync.Mutex
	action    domain.Action
	attempt   int
	barred    domain.Bar
	resumable []string
	ends      []domain.ActionEnd
}

func (s *oneAction) ClaimAction(_ context.Context, turnID, callID string, resumable []string) (domain.ActionClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempt++
	s.resumable, s.action.Status = resumable, domain.ActionApplying
	return domain.ActionClaim{
		Action: s.action, Claimed: true, Barred: s.barred, Scope: domain.Scope{TurnID: turnID, CallID: callID, UserID: "ada", ActionID: s.action.ID},
		Call: domain.ToolCall{TurnID: turnID, ID: callID, Name: s.action.Name, Input: s.action.Input, Asks: true, Status: domain.CallRunning, Attempt: s.attempt},
	}, nil
}

func (s *oneAction) CloseAction(context.Context, string, string) (domain.ActionClaim, error) {
	return domain.ActionClaim{}, errors.New("closed")
}

func (s *oneAction) CommitAction(_ context.Context, end domain.ActionEnd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, end)
	return nil
}

// fragile is a tool whose first run is cut off, without a result.
type fragile struct {
	resumable bool
	runs      *int
}

func (f fragile) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: "fragile", InputSchema: json.RawMessage(`{"type":"object","properties":{"env":{"type":"object"}}}`)},
		Policy:   domain.PolicyAlways, Timeout: time.Minute, MaxResult: 1000, Resumable: f.resumable, SecretEnv: "env",
	}
}

func (f fragile) Run(context.Context, domain.Scope, json.RawMessage) (domain.ToolResult, error) {
	if *f.runs++; *f.runs == 1 {
		return domain.ToolResult{}, domain.Errorf(domain.CodeUnavailable, "the worker is stopping")
	}
	return domain.ToolResult{Text: "it has ended"}, nil
}

// apply runs the action once, as an activity.
func (s *oneAction) apply(t *testing.T, box *tools.Registry) (workflows.Applied, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	a := &activities.Action{Store: s, Tools: box}
	env.RegisterActivity(a.Apply)
	value, err := env.ExecuteActivity(a.Apply, workflows.ToolInput{TurnID: "t", CallID: "c"})
	var out workflows.Applied
	if err == nil {
		err = value.Get(&out)
	}
	return out, err
}

// A run of a resumable tool that was cut off settles nothing: the next attempt runs it again. Of
// any other tool it is unknown what it did.
func TestACutOffActionIsRunAgain(t *testing.T) {
	t.Parallel()
	for _, input := range []string{`{}`, `{"env":{"TOKEN":"secret://TOKEN@1"}}`} {
		s, runs := &oneAction{}, 0
		s.action = domain.Action{ID: "a1", Name: "fragile", Input: json.RawMessage(input), Hash: domain.ActionHash("fragile", json.RawMessage(input))}
		box := tools.NewRegistry(fragile{true, &runs})
		if input != `{}` {
			runs, s.attempt = 1, 1 // begun before; its secret is gone meanwhile, which its run does not need any more
		} else if _, err := s.apply(t, box); err == nil || len(s.ends) != 0 || !slices.Equal(s.resumable, []string{"fragile"}) {
			t.Errorf("cut off: %v, %+v, %v", err, s.ends, s.resumable)
		}
		applied, err := s.apply(t, box)
		if err != nil || applied.Error || len(s.ends) != 1 || s.ends[0].Action.Status != domain.ActionApplied || s.ends[0].Call.Result.Text != "it has ended" {
			t.Errorf("run again with %s: %+v, %v, %+v", input, applied, err, s.ends)
		}
	}
	s, runs := &oneAction{}, 0
	s.action = domain.Action{ID: "a1", Name: "fragile", Input: json.RawMessage(`{}`), Hash: domain.ActionHash("fragile", json.RawMessage(`{}`))}
	if _, err := s.apply(t, tools.NewRegistry(fragile{false, &runs})); err != nil || len(s.ends) != 1 || s.ends[0].Action.Status != domain.ActionUnknown || len(s.resumable) != 0 {
		t.Errorf("another tool's: %v, %+v, %v", err, s.ends, s.resumable)
	}
}

// An approved action of who may do nothing any more is not begun; what was begun goes on.
func TestAnActionOfWhoIsOutIsNotBegun(t *testing.T) {
	t.Parallel()
	for begun, want := range map[int]domain.ActionStatus{0: domain.ActionFailed, 1: domain.ActionApplied} {
		runs := 1
		s := &oneAction{barred: domain.BarOutside, attempt: begun}
		s.action = domain.Action{ID: "a1", Name: "fragile", RequesterName: "Eve", Input: json.RawMessage(`{}`), Hash: domain.ActionHash("fragile", json.RawMessage(`{}`))}
		applied, err := s.apply(t, tools.NewRegistry(fragile{true, &runs}))
		if err != nil || len(s.ends) != 1 || s.ends[0].Action.Status != want || applied.Error != (begun == 0) || (runs > 1) != (begun == 1) {
			t.Fatalf("begun %d times: %+v, %v, %+v", begun, applied, err, s.ends)
		}
		if text := s.ends[0].Call.Result.Text; begun == 0 && !strings.Contains(text, "Eve, who asked for it, may not see the project any more") {
			t.Errorf("it is told %q", text)
		}
	}
}
