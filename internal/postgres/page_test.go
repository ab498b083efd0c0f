package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A place that a list does not have is told, and not taken for its end.
func TestListsKnowTheirPlaces(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	_, project, _ := shared(t, h.store)
	m, other := h.join(project, "m1", whole...), h.join(project, "m2", whole...)
	mine, theirs := m.order(), other.order()
	action := m.propose(domain.NewID(), time.Hour)
	if err := h.store.Audit(ctx, domain.AuditEntry{UserID: "ada", Method: "GET", Route: "/x", Path: "/x", Outcome: domain.OutcomeDone, Status: 200}); err != nil {
		t.Fatal(err)
	}
	noted, err := h.store.AuditEntries(ctx, domain.AuditFilter{Limit: 1})
	if err != nil || len(noted) != 1 {
		t.Fatalf("%v, %v", noted, err)
	}
	for what, list := range map[string]struct {
		read  func(before string) error
		place string
	}{
		"commands": {func(before string) error {
			_, err := h.store.Commands(ctx, project.ID, m.ID, domain.Page{Before: before})
			return err
		}, mine.ID},
		"actions": {func(before string) error {
			_, err := h.store.Actions(ctx, domain.ActionQuery{ProjectID: project.ID, Before: before})
			return err
		}, action.ID},
		"audit": {func(before string) error {
			_, err := h.store.AuditEntries(ctx, domain.AuditFilter{Limit: 1, Before: before})
			return err
		}, noted[0].ID},
	} {
		for _, place := range []string{"", list.place} {
			if err := list.read(place); err != nil {
				t.Errorf("%s from %q: %v", what, place, err)
			}
		}
		for _, place := range []string{"zz", "0", theirs.ID, domain.NewID()} {
			err := list.read(place)
			wantCode(t, what+" from "+place, err, domain.CodeInvalid)
			if err != nil && !strings.Contains(err.Error(), "names no entry of this list") {
				t.Errorf("%s from %q: %v", what, place, err)
			}
		}
	}
}
