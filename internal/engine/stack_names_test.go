package engine_test

import (
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// Repositories and refs are named in the languages of people: they are read, watched and
// removed like all others.
func TestNamesBeyondASCIIOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.reader.versions = []domain.VersionRef{{Tag: "zweig-ü", Commit: "c1"}}
	name := "ünï/日本-" + domain.NewID()
	run, err := s.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", Name: name, URL: "https://git.example.com/team/app", Watch: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if run, _ = s.end(t, run.ID); run.Status != domain.IngestDone {
		t.Fatalf("the run %+v", run)
	}
	schedule := s.client.ScheduleClient().GetHandle(t.Context(), workflows.WatchScheduleID(name))
	if _, err := schedule.Describe(t.Context()); err != nil {
		t.Errorf("the watch has no schedule: %v", err)
	}
	if err := s.DeleteRepository(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := schedule.Describe(t.Context()); err == nil {
		t.Error("the watch is still there")
	}
}
