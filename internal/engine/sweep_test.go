package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A row that can't be started holds no other up: it is ended where Temporal will never take
// it, and passed over where it may.
func TestOneBadRowHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e, f := newEngine(t)
	f.temporal.down = errors.New("connection refused")
	start := func() domain.Turn {
		turn, err := e.StartTurn(ctx, domain.TurnRequest{UserID: "owner", Query: "q"})
		if err != nil {
			t.Fatal(err)
		}
		return turn
	}
	refused, stuck, good := start(), start(), start()
	run, err := e.AddRepository(ctx, domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/r"})
	if err != nil {
		t.Fatal(err)
	}
	f.temporal.down = nil
	f.temporal.refuse = func(o sdkclient.StartWorkflowOptions) error {
		switch o.ID {
		case "turn/" + refused.ID:
			return serviceerror.NewInvalidArgument("too long")
		case "turn/" + stuck.ID:
			return serviceerror.NewUnavailable("not now")
		}
		return nil
	}
	if err := e.Sweep(ctx); err == nil {
		t.Error("a sweep that passed something over must say so")
	}
	if turn, _ := e.Turn(ctx, refused.ID); turn.Status != domain.TurnFailed || turn.Error == "" || strings.Contains(turn.Error, "too long") {
		t.Errorf("the turn that Temporal refuses is %s: %q", turn.Status, turn.Error)
	}
	if turn, _ := e.Turn(ctx, stuck.ID); turn.Status.Final() {
		t.Errorf("the turn that may be started later is %s", turn.Status)
	}
	ids := f.temporal.startedIDs()
	for _, want := range []string{"turn/" + good.ID, "ingest/" + run.ID} {
		if !slices.Contains(ids, want) {
			t.Errorf("%s was not started; started are %v", want, ids)
		}
	}
}

// Temporal may refuse the labels of a workflow: the work is done without them.
func TestWorkComesBeforeItsLabels(t *testing.T) {
	t.Parallel()
	e, f := newEngine(t)
	f.temporal.refuse = func(o sdkclient.StartWorkflowOptions) error {
		if o.TypedSearchAttributes.Size() > 0 {
			return serviceerror.NewInvalidArgument("no such attribute")
		}
		return nil
	}
	turn, err := e.StartTurn(context.Background(), domain.TurnRequest{UserID: "owner", Query: "q"})
	if ids := f.temporal.startedIDs(); err != nil || !slices.Contains(ids, "turn/"+turn.ID) {
		t.Errorf("started are %v, error %v", ids, err)
	}
}

// However many and long the repositories of a question are, their names fit the attribute.
func TestRepositoryNamesFitTheirAttribute(t *testing.T) {
	t.Parallel()
	e, f := newEngine(t)
	for _, name := range []string{"a", strings.Repeat("<", 300), strings.Repeat("𝅲", 300), "team/" + strings.Repeat("x", 100)} {
		if _, err := e.StartTurn(context.Background(), domain.TurnRequest{
			UserID: "owner", Query: "q", Repositories: slices.Repeat([]string{name}, 1000),
		}); err != nil {
			t.Fatal(err)
		}
		options := f.temporal.started[len(f.temporal.started)-1]
		names, ok := options.TypedSearchAttributes.GetKeywordList(temporal.NewSearchAttributeKeyKeywordList("HarvestRepositories"))
		text, err := json.Marshal(names)
		if !ok || err != nil || len(names) == 0 || len(text) > 2048 {
			t.Errorf("%.10s…: %d names of %d bytes", name, len(names), len(text))
		}
	}
}
