package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// stamp seals by marking what it was given.
type stamp struct{}

func (stamp) Scrubber(context.Context, string) (domain.Scrubber, error) { return asIs{}, nil }

func (stamp) SealOffer(projectID string, value domain.SecretValue, by domain.Author) (domain.SealedSecret, error) {
	return domain.SealedSecret{ProjectID: projectID, Slot: by.Key(), Key: "k1", Body: []byte("sealed " + value.Reveal())}, value.Check()
}

func (s stamp) GenerateOffer(projectID string, by domain.Author) (domain.SealedSecret, error) {
	return s.SealOffer(projectID, domain.NewSecretValue("a random value"), by)
}

// Pin knows the secret S, of which version 2 is the newest.
func (stamp) Pin(_ context.Context, _ string, ref domain.SecretRef) (domain.SecretRef, error) {
	switch {
	case ref.Name != "S":
		return ref, domain.NotFound("there is no secret %s", ref.Name)
	case ref.Version != 0 && ref.Version != 2:
		return ref, domain.Errorf(domain.CodeConflict, "the secret %s has changed", ref.Name)
	}
	return domain.SecretRef{Name: "S", Version: 2}, nil
}

func (stamp) Hide(texts []string) domain.Scrubber { return hiding{texts: texts} }

// hiding takes texts out as they are.
type hiding struct {
	domain.Scrubber
	texts []string
}

func (h hiding) Scrub(text string) string {
	for _, hidden := range h.texts {
		text = strings.ReplaceAll(text, hidden, "[secret]")
	}
	return text
}

// asIs takes nothing out.
type asIs struct{ domain.Scrubber }

func (asIs) Scrub(text string) string { return text }

// A value that comes with an approval is sealed for its call before it is stored; nothing that
// takes none gets one.
func TestValuesOfDecisions(t *testing.T) {
	t.Parallel()
	given := domain.NewSecretValue("correct horse")
	for name, c := range map[string]struct {
		tool, project string
		decision      domain.Decision
		sealed        string
		code          domain.Code
	}{
		"given":       {domain.ToolSaveSecret, "p", domain.Decision{Status: domain.ActionApproved, Value: given}, "sealed correct horse", ""},
		"generated":   {domain.ToolSaveSecret, "p", domain.Decision{Status: domain.ActionApproved, Generate: true}, "sealed a random value", ""},
		"unfit":       {domain.ToolSaveSecret, "p", domain.Decision{Status: domain.ActionApproved, Value: domain.NewSecretValue("horse")}, "", domain.CodeInvalid},
		"rejected":    {domain.ToolSaveSecret, "p", domain.Decision{Status: domain.ActionRejected, Value: given}, "", domain.CodeInvalid},
		"other tools": {"drop", "p", domain.Decision{Status: domain.ActionApproved, Generate: true}, "", domain.CodeInvalid},
		"no project":  {domain.ToolSaveSecret, "", domain.Decision{Status: domain.ActionApproved, Value: given}, "", domain.CodeUnprocessable},
	} {
		e, f := newEngine(t)
		e.Secrets = stamp{}
		f.actions.rows["a1"] = domain.Action{ID: "a1", TurnID: "t1", CallID: "c1", Requester: "ada", ProjectID: c.project, Name: c.tool}
		c.decision.ActionID = "a1"
		_, err := e.DecideActions(context.Background(), ada, []domain.Decision{c.decision})
		if code := domain.CodeOf(err); err == nil && c.code != "" || err != nil && code != c.code {
			t.Errorf("%s: %v, want code %q", name, err, c.code)
		}
		if err != nil {
			if len(f.actions.decided) > 0 {
				t.Errorf("%s is refused, and recorded", name)
			}
			continue
		}
		d := f.actions.decided[0]
		if d.Offer == nil || string(d.Offer.Body) != c.sealed || d.Offer.Slot != "t1/c1" || d.Offer.ProjectID != "p" || !d.Value.Empty() || d.Generate {
			t.Errorf("%s is recorded as %+v", name, d)
		}
	}
}

// The value that an approval brings is in no reason that comes with it, nor in that of another
// decision of the same request, nor in what a client reports.
func TestReasonsHoldNoValueThatIsGiven(t *testing.T) {
	t.Parallel()
	e, f := newEngine(t)
	e.Secrets = stamp{}
	for _, id := range []string{"1", "2", "3"} {
		f.actions.rows["a"+id] = domain.Action{ID: "a" + id, TurnID: "t1", CallID: "c" + id, Requester: "ada", ProjectID: "p", Name: domain.ToolSaveSecret}
	}
	_, err := e.DecideActions(context.Background(), ada, []domain.Decision{
		{ActionID: "a1", Status: domain.ActionRejected, Reason: "it is correct horse already"},
		{ActionID: "a2", Status: domain.ActionApproved, Reason: "correct horse it is", Value: domain.NewSecretValue("correct horse")},
		{ActionID: "a3", Status: domain.ActionApplied, Reason: "saved correct horse", Reported: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"it is [secret] already", "[secret] it is", "saved [secret]"} {
		if got := f.actions.decided[i].Reason; got != want {
			t.Errorf("the reason of decision %d is stored as %q", i+1, got)
		}
	}
}
