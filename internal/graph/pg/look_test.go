package pg_test

import (
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func TestLooksAreTakenOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := pg.New(testkit.Postgres(t))
	for name, url := range map[string]string{"here": "/srv/here", "there": "https://git.example.com/there.git"} {
		if _, err := store.SaveRepository(ctx, domain.Repository{Name: name, URL: url}); err != nil {
			t.Fatal(err)
		}
	}
	due := func(local, remote time.Duration, want string) {
		t.Helper()
		repo, _, err := store.DueLook(ctx, local, remote)
		if repo.Name != want || (err == nil) != (want != "") || want == "" && domain.CodeOf(err) != domain.CodeNotFound {
			t.Errorf("due is %q (%v), want %q", repo.Name, err, want)
		}
	}
	due(time.Hour, time.Hour, "")
	due(0, time.Hour, "here")
	due(time.Hour, 0, "there")
	due(time.Hour, time.Hour, "")
}

func TestWhatWasSeenLaterStays(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pool := testkit.Postgres(t)
	store := pg.New(pool)
	if _, err := store.SaveRepository(ctx, domain.Repository{Name: "r", URL: "/srv/r"}); err != nil {
		t.Fatal(err)
	}
	_, at, err := store.DueLook(ctx, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := func(want string) {
		t.Helper()
		var got string
		if err := pool.QueryRow(ctx, `select commit from repository_refs where tag = 'main'`).Scan(&got); err != nil || got != want {
			t.Errorf("main is at %q (%v), want %q", got, err, want)
		}
	}
	note := func(at time.Time, commit string) {
		t.Helper()
		if err := store.NoteSeen(ctx, "r", at, map[string]string{"main": commit}); err != nil {
			t.Fatal(err)
		}
	}
	note(at, "first")
	seen("first")
	if err := store.NoteRef(ctx, "r", "main", "read"); err != nil {
		t.Fatal(err)
	}
	note(at, "older")
	seen("read")
	note(at.Add(time.Hour), "newer")
	seen("newer")
	if err := store.NoteSeen(ctx, "gone", at, map[string]string{"main": "x"}); err != nil {
		t.Errorf("a repository that is gone: %v", err)
	}
}
