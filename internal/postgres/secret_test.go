package postgres_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// newAsking gives a project's turn that waits for the value of a secret: action a1 of call c1.
func newAsking(t *testing.T) (p paused, project string) {
	t.Helper()
	ctx := context.Background()
	pool := testkit.Postgres(t)
	p = paused{t, postgres.NewStore(pool), pool, domain.Turn{}}
	made, err := p.CreateProject(ctx, domain.Project{Name: "engine", GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	talk, err := p.CreateConversation(ctx, domain.Conversation{CreatedBy: "ada", ProjectID: made.ID})
	if err != nil {
		t.Fatal(err)
	}
	req := request()
	req.ProjectID, req.ConversationID = made.ID, talk.ID
	p.turn = create(t, p.Store, req)
	begin(t, p.Store, p.turn.ID)
	input := json.RawMessage(`{"name":"KEY"}`)
	action := domain.Action{
		ID: "a1", TurnID: p.turn.ID, CallID: "c1", ConversationID: talk.ID, ProjectID: made.ID, Requester: "ada", Name: domain.ToolSaveSecret,
		Input: input, Description: "Saving the secret KEY", Hash: domain.ActionHash(domain.ToolSaveSecret, input), Nonce: "nonce-c1", ExpiresAt: time.Now().Add(time.Hour),
	}
	_, err = p.CommitModelCall(ctx, domain.ModelCommit{
		CallWrite: domain.CallWrite{Claim: claim(t, p.Store, p.turn.ID, "m0"), Events: []domain.NewEvent{action.Event()}}, Outcome: json.RawMessage(`{}`),
		Message: &domain.Message{Role: domain.RoleAssistant}, Actions: []domain.Action{action},
		Tools: []domain.ToolCall{{ID: "c1", Name: domain.ToolSaveSecret, Input: input, Asks: true, Status: domain.CallPending, Timeout: time.Second}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, made.ID
}

// offered is a right approval with a value.
func (p paused) offered(project, body string) domain.Decision {
	d := p.decision("a1", domain.ActionApproved)
	d.Offer = &domain.SealedSecret{ProjectID: project, Slot: p.turn.ID + "/c1", Key: "k1", Body: []byte(body)}
	return d
}

func (p paused) offers(want int) {
	p.Helper()
	var n int
	if err := p.pool.QueryRow(context.Background(), "select count(*) from secret_offers").Scan(&n); err != nil || n != want {
		p.Errorf("%d values are kept for calls, want %d (%v)", n, want, err)
	}
}

// Saving a secret without a value is not approved without one; the value is taken once.
func TestAnApprovalBringsTheValue(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, project := newAsking(t)
	if a := p.action("a1", domain.ActionPending); !a.NeedsValue {
		t.Errorf("%+v", a)
	}
	wantCode(t, "without a value", p.decide(ada, p.decision("a1", domain.ActionApproved)), domain.CodeUnprocessable)
	p.action("a1", domain.ActionPending)
	wrong := p.offered(project, "sealed")
	wrong.Nonce = "another"
	wantCode(t, "with a wrong nonce", p.decide(ada, wrong), domain.CodeForbidden)
	p.offers(0)
	if err := p.decide(ada, p.offered(project, "sealed")); err != nil {
		t.Fatal(err)
	}
	p.offers(1)
	by := domain.Author{UserID: "ada", TurnID: p.turn.ID, CallID: "c1"}
	write := domain.SecretWrite{ProjectID: project, Name: "KEY", By: by, Offered: true}
	seal := func(offered *domain.SealedSecret, at domain.SealedSecret) (domain.SealedSecret, error) {
		at.Key, at.Body = offered.Key, append([]byte("anew "), offered.Body...)
		return at, nil
	}
	for range 2 { // a call that is repeated saves once
		if s, err := p.SaveSecret(ctx, write, seal); err != nil || s.Version != 1 || s.Author != "ada" {
			t.Errorf("%+v, %v", s, err)
		}
	}
	p.offers(0)
	write.By.CallID = "c2"
	_, err := p.SaveSecret(ctx, write, seal)
	wantCode(t, "a call that was given nothing", err, domain.CodeNotFound)
}

// What is not run leaves no value behind.
func TestValuesGoWithTheirCalls(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	by := func(p paused) domain.Author { return domain.Author{UserID: "ada", TurnID: p.turn.ID, CallID: "c1"} }
	for name, end := range map[string]func(p paused, project string) error{
		"rejected": func(p paused, _ string) error { return p.decide(ada, p.decision("a1", domain.ActionRejected)) },
		"settled": func(p paused, project string) error {
			if err := p.decide(ada, p.offered(project, "sealed")); err != nil {
				return err
			}
			return p.commit(p.claim("c1"), domain.ActionFailed)
		},
		"canceled": func(p paused, _ string) error {
			finish(t, p.Store, domain.TurnEnd{TurnID: p.turn.ID, Status: domain.TurnCanceled, Reason: domain.EndCanceled})
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, project := newAsking(t)
			offer := *p.offered(project, "given before").Offer
			if err := p.OfferSecret(ctx, by(p), offer); err != nil {
				t.Fatal(err)
			}
			p.offers(1)
			if err := end(p, project); err != nil {
				t.Fatal(err)
			}
			p.offers(0)
			if name == "canceled" {
				wantCode(t, "a value for a turn that has ended", p.OfferSecret(ctx, by(p), offer), domain.CodeSuperseded)
			}
		})
	}
}

// An approval is no approval to overwrite what somebody saved since it was asked for.
func TestAnApprovalOverwritesNothingNewer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, project := newAsking(t)
	seal := func(_ *domain.SealedSecret, at domain.SealedSecret) (domain.SealedSecret, error) {
		at.Key, at.Body = "k1", []byte("sealed")
		return at, nil
	}
	write := domain.SecretWrite{ProjectID: project, Name: "KEY", By: domain.Author{UserID: "bob"}}
	if _, err := p.SaveSecret(ctx, write, seal); err != nil {
		t.Fatal(err)
	}
	if err := p.decide(ada, p.offered(project, "sealed")); err != nil {
		t.Fatal(err)
	}
	write.By, write.Offered = domain.Author{UserID: "ada", TurnID: p.turn.ID, CallID: "c1"}, true
	_, err := p.SaveSecret(ctx, write, seal)
	wantCode(t, "over a newer value", err, domain.CodeConflict)
	write.Name = "OTHER"
	if s, err := p.SaveSecret(ctx, write, seal); err != nil || s.Version != 1 {
		t.Errorf("another secret: %+v, %v", s, err)
	}
	if s, err := p.Secret(ctx, project, "KEY"); err != nil || s.Version != 1 || s.Author != "bob" {
		t.Errorf("%+v, %v", s, err)
	}
}
