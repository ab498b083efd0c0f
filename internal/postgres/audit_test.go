package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestAuditEntriesAreFiltered(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	entries := []domain.AuditEntry{
		{UserID: "u1", UserName: "ada", Method: "DELETE", Route: "/projects/:pid", Path: "/projects/p1", ProjectID: "p1", Outcome: domain.OutcomeDone, Status: 200},
		{UserID: "u2", UserName: "grace", KeyID: "k", Method: "GET", Route: "/projects/:pid", Path: "/projects/p1", ProjectID: "p1", Outcome: domain.OutcomeDenied, Status: 404},
		{Method: "GET", Route: "/admin/users", Path: "/admin/users", Outcome: domain.OutcomeDenied, Status: 401, Address: "192.0.2.1", RequestID: "r"},
	}
	for _, e := range entries {
		if err := s.Audit(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		filter domain.AuditFilter
		want   int
	}{
		"all": {domain.AuditFilter{}, 3}, "a person": {domain.AuditFilter{UserID: "u1"}, 1}, "a method": {domain.AuditFilter{Method: "GET"}, 2},
		"a route": {domain.AuditFilter{Route: "/admin/users"}, 1}, "a project": {domain.AuditFilter{ProjectID: "p1"}, 2},
		"an outcome": {domain.AuditFilter{Outcome: domain.OutcomeDenied}, 2}, "none since": {domain.AuditFilter{Since: time.Now().Add(time.Hour)}, 0},
		"all until": {domain.AuditFilter{Until: time.Now().Add(time.Hour)}, 3}, "both": {domain.AuditFilter{ProjectID: "p1", Outcome: domain.OutcomeDenied}, 1},
	} {
		c.filter.Limit = 10
		if got, err := s.AuditEntries(ctx, c.filter); err != nil || len(got) != c.want {
			t.Errorf("%s: %d entries, want %d, %v", name, len(got), c.want, err)
		}
	}
	first, err := s.AuditEntries(ctx, domain.AuditFilter{Limit: 2})
	if err != nil || len(first) != 2 || first[0].Address != "192.0.2.1" || first[1].KeyID != "k" || first[0].At.IsZero() {
		t.Fatalf("the first page: %+v, %v", first, err)
	}
	next, err := s.AuditEntries(ctx, domain.AuditFilter{Limit: 2, Before: first[1].ID})
	if err != nil || len(next) != 1 || next[0].UserName != "ada" {
		t.Errorf("the next page: %+v, %v", next, err)
	}
}
