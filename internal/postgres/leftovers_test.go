package postgres_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Of each kind that has served the old rows go, and the young ones stay.
func TestHousekeepingRemovesWhatHasServed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	ada, err := h.store.CreateUser(ctx, person("ada"))
	if err != nil {
		t.Fatal(err)
	}
	for i, life := range []time.Duration{-time.Second, time.Hour} {
		secret := sha256.Sum256([]byte{byte(i)})
		if _, err := h.store.CreateSession(ctx, ada.ID, secret[:], life); err != nil {
			t.Fatal(err)
		}
	}
	for _, rows := range []struct{ insert, age string }{
		{`insert into audit (id, at, user_id, user_name, key_id, method, route, path, project_id, outcome, status, address, request_id)
values ($1, now() - $2::interval, '', '', '', 'GET', '/', '/', '', 'denied', 401, '', '')`, "366 days"},
		{`insert into performed (user_id, hash, at) values ($1, 'h', now() - $2::interval)`, "32 days"},
		{`insert into sign_in_attempts (subject, began_at, count) values ($1, now() - $2::interval, 1)`, "25 hours"},
		{`insert into presence (id, project_id, user_id, name, conv_id, seen_at) values ($1, 'p', 'u', 'n', '', now() - $2::interval)`, "61 minutes"},
		{`insert into budgets (user_id, day, spent) values ($1, now() - $2::interval, 1)`, "33 days"},
	} {
		h.exec(rows.insert, "old", rows.age)
		h.exec(rows.insert, "young", "1 minute")
	}
	left := func() (rows [6]int) {
		for i, table := range []string{"audit", "performed", "sign_in_attempts", "presence", "budgets", "sessions"} {
			rows[i] = h.count(table)
		}
		return rows
	}
	if done := h.keep(domain.Retention{}); done.Audit != 0 || done.Leftovers != 5 || left() != [6]int{2, 1, 1, 1, 1, 1} {
		t.Errorf("with the audit kept for ever: removed %+v, left %v", done, left())
	}
	if done := h.keep(domain.Retention{Audit: 365 * day}); done.Audit != 1 || left() != [6]int{1, 1, 1, 1, 1, 1} {
		t.Errorf("removed %+v, left %v", done, left())
	}
	if n := h.count("audit where id = 'young'"); n != 1 {
		t.Error("the young entry is gone")
	}
	if done := h.keep(domain.Retention{Audit: 365 * day}); done.Any() {
		t.Errorf("at the second time: %+v", done)
	}
}
