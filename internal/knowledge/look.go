package knowledge

import (
	"context"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
)

// Lookout keeps which repositories were looked at when, and what was seen.
type Lookout interface {
	// DueLook takes the repository that was looked at longest ago, where that is longer ago
	// than local (of a local path) or remote, and gives it with the time; not_found for none.
	DueLook(ctx context.Context, local, remote time.Duration) (domain.Repository, time.Time, error)
	// NoteSeen records the commits of refs, by tag, as they were at a time, "" of those that
	// are gone; what was noted later than that stays.
	NoteSeen(ctx context.Context, repo string, at time.Time, commits map[string]string) error
}

// Look asks at which commits the refs are that the versions of a repository were read at. A
// version that was read at another commit is stale from then on, and so is one whose ref is
// gone: it is noted to be at no commit. Nothing is fetched or read.
//
// Errors: as Sync.
func (r *Reader) Look(ctx context.Context, l Lookout, repo domain.Repository, at time.Time) error {
	want := gitrepo.Wanted{IfThere: true}
	for _, v := range repo.Versions {
		if v.Commit != "" {
			want.Refs = append(want.Refs, v.Tag)
		}
	}
	if len(want.Refs) == 0 {
		return nil
	}
	addr, err := gitrepo.ParseAddress(repo.URL)
	if err != nil {
		return fmt.Errorf("address of %s: %w", repo.Name, err)
	}
	credentials, err := r.credentials(ctx, repo)
	if err != nil {
		return err
	}
	refs, err := r.cfg.Git.Tips(ctx, gitrepo.Request{Address: addr, Credentials: credentials, Want: want})
	if err != nil {
		return fmt.Errorf("look at %s: %w", repo.Name, err)
	}
	seen := make(map[string]string, len(want.Refs))
	for _, tag := range want.Refs {
		seen[tag] = ""
	}
	for _, ref := range refs {
		seen[ref.Name] = ref.Commit
	}
	return l.NoteSeen(ctx, repo.Name, at, seen)
}
