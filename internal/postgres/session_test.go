package postgres_test

import (
	"context"
	"crypto/sha256"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada := signUp(t, s, "ada")
	secret, other := sha256.Sum256([]byte("secret")), sha256.Sum256([]byte("other"))
	id, err := s.CreateSession(ctx, ada.ID, secret[:], time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	over, err := s.CreateSession(ctx, ada.ID, other[:], -time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if who, err := s.SessionActor(ctx, id, ada.ID); err != nil || who.UserID != ada.ID || !who.Admin() {
		t.Errorf("in her session: %+v, %v", who, err)
	}
	if same, user, err := s.RenewSession(ctx, secret[:], time.Hour, time.Hour); err != nil || same != id || user != ada.ID {
		t.Errorf("renewed: %q of %q, %v", same, user, err)
	}
	_, err = s.SessionActor(ctx, over, ada.ID)
	wantCode(t, "a session that is over", err, domain.CodeUnauthorized)
	_, err = s.SessionActor(ctx, id, domain.OwnerID)
	wantCode(t, "another person's session", err, domain.CodeUnauthorized)
	_, _, err = s.RenewSession(ctx, other[:], time.Hour, time.Hour)
	wantCode(t, "renewing one that is over", err, domain.CodeUnauthorized)

	following, stop := context.WithCancel(ctx)
	heard, ended := make(chan struct{}, 8), make(chan struct{})
	go func() {
		defer close(ended)
		s.FollowAccess(following, func() { heard <- struct{}{} })
	}()
	for waiting := true; waiting; { // until the follower listens
		if err := s.EndSession(ctx, id, nil); err != nil {
			t.Fatal(err)
		}
		select {
		case <-heard:
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
	stop()
	<-ended
	_, err = s.SessionActor(ctx, id, ada.ID)
	wantCode(t, "an ended session", err, domain.CodeUnauthorized)
	_, _, err = s.RenewSession(ctx, secret[:], time.Hour, time.Hour)
	wantCode(t, "renewing an ended session", err, domain.CodeUnauthorized)
}

func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	for i := 1; i <= 3; i++ {
		count, left, err := s.CountAttempt(ctx, "account", time.Minute)
		if err != nil || count != i || left <= 0 || left > time.Minute {
			t.Fatalf("attempt %d: %d, %s, %v", i, count, left, err)
		}
	}
	if count, _, err := s.CountAttempt(ctx, "account", 0); err != nil || count != 1 {
		t.Errorf("in the next window: %d, %v", count, err)
	}
	for range 2 {
		if _, _, err := s.CountAttempt(ctx, "address", time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.ForgetAttempts(ctx, "account", "address"); err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string]int{"account": 1, "address": 2} {
		if count, _, err := s.CountAttempt(ctx, subject, time.Minute); err != nil || count != want {
			t.Errorf("%s afterwards: %d, %v", subject, count, err)
		}
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	first := person("ada")
	first.Later = true
	_, err := s.CreateUser(ctx, first)
	wantCode(t, "the first without the setup token", err, domain.CodeForbidden)
	here := domain.Identity{Issuer: "https://login.example.com", Subject: "1"}
	ada, err := s.CreateUser(ctx, domain.NewUser{Name: "ada", Provider: "oidc", Identity: here})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := s.UserByIdentity(ctx, here); err != nil || id != ada.ID {
		t.Errorf("by her identity: %q, %v", id, err)
	}
	_, err = s.CreateUser(ctx, domain.NewUser{Name: "mallory", Provider: "oidc", Identity: here})
	wantCode(t, "a taken identity", err, domain.CodeConflict)
	grace := signUp(t, s, "grace")
	wantCode(t, "linking another person's identity", s.LinkIdentity(ctx, here, grace.ID), domain.CodeConflict)
	there := domain.Identity{Issuer: here.Issuer, Subject: "2"}
	for range 2 {
		if err := s.LinkIdentity(ctx, there, grace.ID); err != nil {
			t.Errorf("linking her own: %v", err)
		}
	}
	_, err = s.UserByIdentity(ctx, domain.Identity{Issuer: "https://evil.example.com", Subject: "1"})
	wantCode(t, "the subject of another issuer", err, domain.CodeNotFound)
}

// What changes on one server is heard on the others.
func TestAccessChangesAreHeardElsewhere(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	pool := testkit.Postgres(t)
	here, there := postgres.NewStore(pool), postgres.NewStore(pool)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	heard := make(chan struct{}, 64)
	all.Go(func() { _ = here.Serve(ctx) }) // until ctx ends
	all.Go(func() { _ = there.Serve(ctx) })
	all.Go(func() { there.FollowAccess(ctx, func() { heard <- struct{}{} }) })
	deadline := time.After(time.Minute)
	for times := 0; times < 6; { // the first may be the connection's own
		if err := here.EndSession(ctx, "none", nil); err != nil {
			t.Fatal(err)
		}
		select {
		case <-heard:
			times++
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("heard of %d changes", times)
		}
	}
}
