package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// oneAnswer is a model that says the same whatever it is asked.
type oneAnswer struct{ kind, text string }

func (m oneAnswer) Stream(context.Context, domain.ProviderSelection, domain.ModelRequest, domain.ModelSink) (domain.ModelResponse, error) {
	return domain.ModelResponse{Message: domain.TextMessage(domain.RoleAssistant, m.text), Provider: domain.ProviderUsed{Kind: m.kind}}, nil
}

func (oneAnswer) RetryDelay(domain.ProviderSelection, error, int) (time.Duration, bool) {
	return 0, false
}

func (oneAnswer) Quote(domain.ProviderSelection, domain.ModelRequest) domain.Usage {
	return domain.Usage{}
}

// shelf keeps one afterword.
type shelf struct {
	due  bool
	kept []domain.Afterword
}

func (s *shelf) AfterwordDue(_ context.Context, id string) (domain.Turn, bool, error) {
	return domain.Turn{ID: id, Query: "Where?", Answer: "Here."}, s.due, nil
}

func (s *shelf) CommitAfterword(_ context.Context, a domain.Afterword) error {
	s.kept = append(s.kept, a)
	return nil
}

func TestAfterword(t *testing.T) {
	t.Parallel()
	said := "Sure!\nTitle: \"Where it is\"\nnext: One?\nNext: Two?\nNext:\nNext: Three?\nNext: Four?\nNext: Five?\nTitle: Another\n"
	for name, c := range map[string]struct {
		kind string
		due  bool
		want []domain.Afterword
	}{
		"of a model": {"anthropic", true, []domain.Afterword{{TurnID: "t", Title: "Where it is", Suggestions: []string{"One?", "Two?", "Three?", "Four?"}}}},
		"offline":    {"offline", true, []domain.Afterword{{TurnID: "t"}}},
		"not due":    {"anthropic", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &shelf{due: c.due}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			workflows.WriteAfterword.Register(env, (&activities.Afterword{Store: store, Models: oneAnswer{c.kind, said}}).Write)
			if _, err := env.ExecuteActivity(workflows.WriteAfterword.Name, workflows.TurnRef{TurnID: "t"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, store.kept); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}
