package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Who is disabled is out at once, by session and by key, and nobody signs in as them.
func TestADisabledPersonIsOut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada := signUp(t, s, "ada")
	grace := signUp(t, s, "grace")
	_, key, err := s.CreateKey(ctx, domain.NewAPIKey{UserID: grace.ID, Name: "k", Scopes: domain.KeyScopes()})
	if err != nil {
		t.Fatal(err)
	}
	session, err := s.CreateSession(ctx, grace.ID, []byte("hash"), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetDisabled(ctx, ada.ID, true); domain.CodeOf(err) != domain.CodeConflict {
		t.Errorf("the last admin: %v", err)
	}
	if err := s.SetDisabled(ctx, domain.OwnerID, true); domain.CodeOf(err) != domain.CodeConflict {
		t.Errorf("the owner: %v", err)
	}
	if err := s.SetDisabled(ctx, "nobody", true); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("nobody: %v", err)
	}
	if err := s.SetDisabled(ctx, grace.ID, true); err != nil {
		t.Fatal(err)
	}
	_, byKey := s.KeyActor(ctx, key)
	_, bySession := s.SessionActor(ctx, session, grace.ID)
	_, _, renewed := s.RenewSession(ctx, []byte("hash"), time.Hour, time.Hour)
	for what, err := range map[string]error{"a key": byKey, "a session": bySession, "its renewal": renewed} {
		if domain.CodeOf(err) != domain.CodeUnauthorized {
			t.Errorf("by %s: %v", what, err)
		}
	}
	if _, err := s.CreateSession(ctx, grace.ID, []byte("other"), time.Hour); domain.CodeOf(err) != domain.CodeForbidden {
		t.Errorf("a new session: %v", err)
	}
	if err := s.SetRole(ctx, grace.ID, domain.UserAdmin); err != nil {
		t.Fatal(err)
	}
	if err := s.SetRole(ctx, ada.ID, domain.UserRegular); domain.CodeOf(err) != domain.CodeConflict {
		t.Errorf("the last admin who can sign in was demoted: %v", err)
	}
	if err := s.SetDisabled(ctx, grace.ID, false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.KeyActor(ctx, key); err != nil {
		t.Errorf("by the key, enabled again: %v", err)
	}
	if err := s.SetDisabled(ctx, ada.ID, true); err != nil {
		t.Errorf("with another admin: %v", err)
	}
}
