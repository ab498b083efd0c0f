package postgres_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The key of a device is fetched once, however many ask for it at the same moment.
func TestTheKeyOfADeviceIsFetchedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada := signUp(t, s, "ada")
	d := domain.NewDevice{Name: "laptop", Scopes: []domain.KeyScope{domain.ScopeRead}, Address: "192.0.2.1"}
	if err := s.CreateDevice(ctx, "BCDF-GHJK", []byte("hash"), d, time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, text, err := s.RedeemDevice(ctx, []byte("hash")); text != "" || err != nil {
		t.Errorf("before any decision: %q, %v", text, err)
	}
	if err := s.DecideDevice(ctx, domain.DeviceDecision{UserCode: "BCDF-GHJK", UserID: ada.ID, Granted: true}); err != nil {
		t.Fatal(err)
	}
	var made atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			key, text, err := s.RedeemDevice(ctx, []byte("hash"))
			if err == nil && text != "" && key.ExpiresAt == nil {
				made.Add(1)
			} else if domain.CodeOf(err) != domain.CodeNotFound {
				t.Errorf("the others get %q, %v", text, err)
			}
		})
	}
	all.Wait()
	if keys, err := s.Keys(ctx, ada.ID); made.Load() != 1 || len(keys) != 1 || err != nil {
		t.Errorf("%d fetched a key, and there are %v, %v", made.Load(), keys, err)
	}
}

func TestADeviceWaitsNoLongerThanItsLife(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	ada := signUp(t, s, "ada")
	if err := s.CreateDevice(ctx, "BCDF-GHJK", []byte("hash"), domain.NewDevice{Name: "laptop", Scopes: []domain.KeyScope{domain.ScopeRead}}, -time.Second); err != nil {
		t.Fatal(err)
	}
	_, seen := s.Device(ctx, "BCDF-GHJK")
	_, _, fetched := s.RedeemDevice(ctx, []byte("hash"))
	for what, err := range map[string]error{
		"seen": seen, "fetched": fetched,
		"decided": s.DecideDevice(ctx, domain.DeviceDecision{UserCode: "BCDF-GHJK", UserID: ada.ID, Granted: true}),
	} {
		if domain.CodeOf(err) != domain.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
}
