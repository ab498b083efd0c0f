package knowledge_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/knowledgetest"
)

// seen is a lookout that keeps what it is told.
type seen map[string]string

func (s seen) DueLook(context.Context, time.Duration, time.Duration) (domain.Repository, time.Time, error) {
	return domain.Repository{}, time.Time{}, domain.NotFound("none")
}

func (s seen) NoteSeen(_ context.Context, _ string, _ time.Time, commits map[string]string) error {
	for tag, commit := range commits {
		s[tag] = commit
	}
	return nil
}

func TestLookSeesThatARefHasMoved(t *testing.T) {
	t.Parallel()
	c := newCheckout(t, map[string]string{"a.go": "package a\n"})
	c.commit()
	c.git("tag", "v1")
	old := c.git("rev-parse", "HEAD")
	c.write(map[string]string{"b.go": "package a\n"})
	c.commit()
	repo := domain.Repository{Name: "r", URL: c.dir, Versions: []domain.VersionDetail{
		{Tag: "main", Commit: old}, {Tag: "v1", Commit: old}, {Tag: "gone", Commit: old}, {Tag: old, Commit: old},
		{Tag: "heads/main", Commit: old}, {Tag: "HEAD", Commit: old}, {Tag: domain.WorktreeVersion},
	}}
	got := seen{}
	if err := newReader(t, knowledgetest.NewMemory(), knowledgeOptions{}).Look(t.Context(), got, repo, time.Now()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seen{"main": c.git("rev-parse", "HEAD"), "heads/main": c.git("rev-parse", "HEAD"), "HEAD": c.git("rev-parse", "HEAD"), "v1": old, old: old, "gone": ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	repo.URL, got = c.dir+"/nowhere", seen{}
	if err := newReader(t, knowledgetest.NewMemory(), knowledgeOptions{}).Look(t.Context(), got, repo, time.Now()); domain.CodeOf(err) != domain.CodeNotFound || len(got) > 0 {
		t.Errorf("a folder that is gone: %v, %v", err, got)
	}
}
