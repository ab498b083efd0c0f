package activities_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// oneAnswer is a model that says the same whatever it is asked.
type oneAnswer struct {
	kind, text string
	cost       float64
}

func (m oneAnswer) Stream(context.Context, domain.ProviderSelection, domain.ModelRequest, domain.ModelSink) (domain.ModelResponse, error) {
	return domain.ModelResponse{Message: domain.TextMessage(domain.RoleAssistant, m.text), Provider: domain.ProviderUsed{Kind: m.kind}}, nil
}

func (oneAnswer) RetryDelay(domain.ProviderSelection, error, int) (time.Duration, bool) {
	return 0, false
}

func (m oneAnswer) Quote(domain.ProviderSelection, domain.ModelRequest) domain.Usage {
	return domain.Usage{InputTokens: 100, OutputTokens: 600, Cost: m.cost}
}

// shelf keeps one afterword.
type shelf struct {
	due      bool
	left     float64 // of the day
	reserved []float64
	kept     []domain.Afterword
}

func (s *shelf) AfterwordDue(_ context.Context, id string) (domain.Turn, bool, error) {
	return domain.Turn{ID: id, Query: "Where?", Answer: "Here.", Usage: domain.Usage{InputTokens: 1000, Cost: 2}}, s.due, nil
}

func (s *shelf) ReserveAfterword(_ context.Context, _ string, cost, dayLimit float64) error {
	if cost > s.left {
		return domain.Errorf(domain.CodeBudgetExhausted, "the day's budget of %v is used up", dayLimit)
	}
	s.reserved = append(s.reserved, cost)
	return nil
}

func (s *shelf) CommitAfterword(_ context.Context, a domain.Afterword) error {
	s.kept = append(s.kept, a)
	return nil
}

func TestAfterword(t *testing.T) {
	t.Parallel()
	said := "Sure!\nTitle: \"Where it is\"\nnext: One?\nNext: Two?\nNext:\nNext: Three?\nNext: Four?\nNext: Five?\nTitle: Another\n"
	marked := "**Title:** <b>Where</b> `it`\u202e is\n- Next: **One?**\n2. Next: one\nNext: where\nNext: [Two](http://example.com)?\nNext: " + strings.Repeat("x", 201) + "\n"
	whole := []domain.Afterword{{TurnID: "t", Title: "Where it is", Suggestions: []string{"One?", "Two?", "Three?", "Four?"}}}
	none := []domain.Afterword{{TurnID: "t"}}
	for name, c := range map[string]struct {
		model    oneAnswer
		budgets  activities.Budgets
		due      bool
		want     []domain.Afterword
		reserved []float64
	}{
		"of a model":          {oneAnswer{"anthropic", said, 1}, activities.Budgets{}, true, whole, nil},
		"with marks":          {oneAnswer{"anthropic", marked, 1}, activities.Budgets{}, true, []domain.Afterword{{TurnID: "t", Title: "Where it is", Suggestions: []string{"One?", "Two?"}}}, nil},
		"offline":             {oneAnswer{"offline", said, 0}, activities.Budgets{}, true, none, nil},
		"not due":             {oneAnswer{"anthropic", said, 1}, activities.Budgets{}, false, nil, nil},
		"within the budgets":  {oneAnswer{"anthropic", said, 1}, activities.Budgets{PerTurn: 3, PerDay: 10, TurnTokens: 1700}, true, whole, []float64{1}},
		"over the turn's":     {oneAnswer{"anthropic", said, 1}, activities.Budgets{PerTurn: 2.5}, true, none, nil},
		"over its tokens":     {oneAnswer{"anthropic", said, 1}, activities.Budgets{TurnTokens: 1699}, true, none, nil},
		"over the day's":      {oneAnswer{"anthropic", said, 5}, activities.Budgets{PerDay: 10}, true, none, nil},
		"free, and overdrawn": {oneAnswer{"anthropic", said, 0}, activities.Budgets{PerTurn: 1}, true, whole, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &shelf{due: c.due, left: 3}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			workflows.WriteAfterword.Register(env, (&activities.Afterword{Store: store, Models: c.model, Budgets: c.budgets}).Write)
			if _, err := env.ExecuteActivity(workflows.WriteAfterword.Name, workflows.TurnRef{TurnID: "t"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, store.kept); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.reserved, store.reserved); diff != "" {
				t.Errorf("reserved (-want +got):\n%s", diff)
			}
		})
	}
}
