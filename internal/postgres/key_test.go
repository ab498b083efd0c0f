package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestKeysActAsTheirPerson(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada := signUp(t, s, "ada")
	grace := signUp(t, s, "grace")
	made, text, err := s.CreateKey(ctx, domain.NewAPIKey{UserID: grace.ID, Name: "laptop", Scopes: []domain.KeyScope{domain.ScopeRead, domain.ScopeAsk}})
	if err != nil || !strings.HasPrefix(text, made.Prefix) || len(text) < 3*len(made.Prefix) || made.LastUsedAt != nil {
		t.Fatalf("made: %+v, %d characters, %v", made, len(text), err)
	}
	want := domain.Actor{UserID: grace.ID, Name: "grace", Role: domain.UserRegular, Groups: []string{"everyone"}, KeyID: made.ID, Scopes: made.Scopes}
	if who, err := s.KeyActor(ctx, text); err != nil || !cmp.Equal(who, want) {
		t.Errorf("by her key: %+v, %v", who, err)
	}
	if err := s.SetRole(ctx, grace.ID, domain.UserAdmin); err != nil {
		t.Fatal(err)
	}
	if who, err := s.KeyActor(ctx, text); err != nil || !who.Admin() {
		t.Errorf("after a change of her role: %+v, %v", who, err)
	}
	if keys, err := s.Keys(ctx, grace.ID); err != nil || len(keys) != 1 || keys[0].LastUsedAt == nil {
		t.Errorf("her keys: %+v, %v", keys, err)
	}
	past := time.Now().Add(-time.Second)
	_, expired, err := s.CreateKey(ctx, domain.NewAPIKey{UserID: grace.ID, Name: "old", Scopes: domain.KeyScopes(), ExpiresAt: &past})
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]string{"an expired one": expired, "a prefix": text[:len(text)-1], "a longer one": text + "a", "none": "", "upper case": strings.ToUpper(text)} {
		_, err := s.KeyActor(ctx, wrong)
		wantCode(t, name, err, domain.CodeUnauthorized)
	}
	wantCode(t, "another person's key", s.DeleteKey(ctx, ada.ID, made.ID), domain.CodeNotFound)
	if err := s.DeleteKey(ctx, grace.ID, made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.KeyActor(ctx, text)
	wantCode(t, "a removed one", err, domain.CodeUnauthorized)
}
